"""The parts of pages that are made from the code: ``python docs/build.py``.

A page has a line ``<!-- made by docs/build.py from ... -->``; what stands behind it is made here.
"""

from __future__ import annotations

import re
from pathlib import Path

from measured import benchmarks

from fuseloom_workbench.base import glossary

DOCS = Path(__file__).parent
ROOT = DOCS.parent
_MADE = re.compile(r"(<!-- made by docs/build\.py from .+? -->\n).*\Z", re.DOTALL)

GROUPS = (
    ("Runs", glossary._RUNS),
    ("Work", glossary._WORK),
    ("Designs", glossary._DESIGN),
    ("Nodes", glossary._NODES),
    ("Memory", glossary._MEMORY),
    ("Searches", glossary._FOUND),
    ("Systems compared", glossary._COMPARED),
)


def numbers() -> str:
    """The quantities of the workbench, a table for each group."""
    parts = []
    for title, rows in GROUPS:
        lines = [f"## {title}", "", "| quantity, unit | what it is, how it comes about | source |"]
        lines.append("|---|---|---|")
        for _, name, unit, sentence, formula, source in rows:
            cells = (f"**{name}**<br>{unit}", f"{sentence}<br>*{formula}*", _sources(source))
            lines.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
        parts.append("\n".join(lines))
    return "\n" + "\n\n".join(parts) + "\n"


def _sources(text: str) -> str:
    return ", ".join(map(_source, text.split("; ")))


def _source(text: str) -> str:
    """A link, where the source is a page of these documents."""
    page, _, section = text.partition(" § ")
    if page.startswith("docs/") and page.endswith(".md"):
        name = page.removeprefix("docs/")
        return f"[{section or name}]({name}{'#' + slug(section) if section else ''})"
    return f"`{text}`" if "/" in text else text


def slug(heading: str) -> str:
    """Return the anchor of a heading in links, as GitHub and MyST define it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def page(name: str, made: str) -> str:
    """A page with its made part."""
    text = (DOCS / name).read_text(encoding="utf-8")
    return _MADE.sub(lambda match: match[1] + made, text)


MADE = {"numbers.md": numbers, "benchmarks.md": benchmarks}
"""Pages with parts that are made, and what makes them."""
