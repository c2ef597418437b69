"""The parts of the site from outside its folder: notebooks, and pages that lie at the root.

Notebooks become pages of text and code; those that ``python docs/build.py notebooks`` has run, with
all that they showed.  Links of the pages to files at the root lead to the pages that include these.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from executed import kept, styled_once
from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, Text
from sphinx.application import Sphinx

DOCS = Path(__file__).parent
ROOT = DOCS.parent
INSIDE = {
    "../CONTRIBUTING.md": "contributing.md",
    "../CHANGELOG.md": "changelog.md",
    "../README.md": "index.md",
}
"""Files at the root, and the pages that have their text."""


class LoomLexer(RegexLexer):
    """Programs and schedules of the language (``language.md``)."""

    name = "Loom"
    aliases = ("loom",)
    _formats = ("dense", "compressed", "csr", "csc", "dcsr", "dcsc", "csf", "coo", "scalar")
    _directives = ("program", "option", "output", "fuse", "order", "parallel", "block", "locate",
                   "repeat", "global", "materialise", "permute", "store", "sequence", "strict",
                   "nonzero", "by", "on", "off", "to", "singleton", "where",
                   "possible")  # fmt: skip
    tokens = {  # noqa: RUF012 -- how Pygments declares
        "root": [
            (r"#.*$", Comment.Single),
            (words(_directives, suffix=r"\b"), Keyword),
            (words(_formats, suffix=r"\b"), Keyword.Type),
            (r"[A-Za-z_]\w*'*", Name),
            (r"\d+(?:x\d+)*(?:\.\d+)?(?:e-?\d+)?", Number),
            (r"[=+\-*/:]|\.\.", Operator),
            (r"[\[\](),;.]", Punctuation),
            (r"\s+", Text),
        ]
    }


def as_page(notebook: dict[str, Any], name: str, shown: Sequence[str] | None = None) -> str:
    """A notebook as Markdown: its text, its code as blocks, and what each block showed, if known.

    Examples
    --------
    >>> one = {"cells": [{"cell_type": "code", "source": ["1 + 1"]}]}
    >>> as_page(one, "n").splitlines()[2:5]
    ['```python', '1 + 1', '```']
    >>> as_page(one, "n", ["two"]).splitlines()[6]
    'two'
    """
    outputs = iter(shown or ())
    parts = [
        f"<!-- from notebooks/{name}.ipynb -->",
        *(_cell(cell, outputs) for cell in notebook["cells"]),
    ]
    state = "before it is run" if shown is None else "run without answers to its exercises"
    note = f"*`notebooks/{name}.ipynb`, {state}.*"
    return styled_once("\n\n".join([parts[0], *parts[1:2], note, *parts[2:]]) + "\n")


def _cell(cell: dict[str, Any], outputs: Iterator[str]) -> str:
    text = re.sub(r"\]\((\w+)\.ipynb(?=[#)])", r"](\1.md", "".join(cell["source"]))
    text = text.replace("](../docs/", "](../")
    if cell["cell_type"] != "code":
        return text
    showed = next(outputs, "")
    return f"```python\n{text}\n```" + (f"\n\n{showed}" if showed else "")


def make_notebook_pages(app: Sphinx) -> None:
    """Write ``docs/notebooks/*.md`` (not in the repository) and throw away those of none."""
    folder = DOCS / "notebooks"
    folder.mkdir(exist_ok=True)
    made = {}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        shown = kept(path.stem, notebook)
        made[folder / f"{path.stem}.md"] = as_page(notebook, path.stem, shown)
    for old in folder.glob("*.md"):
        if old not in made:
            old.unlink()
    for page, text in made.items():
        if not page.is_file() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def lead_inside(app: Sphinx, page: str, source: list[str]) -> None:
    """Put in the files at the root that a page is of, and lead links to them to those pages."""
    text = re.sub(
        r"^\[(\w+\.md)\]\(\.\./\1\)$", partial(_put_in, app), source[0], flags=re.MULTILINE
    )
    up = "../" * page.count("/")
    for outside, inside in INSIDE.items():
        text = re.sub(rf"\]\({re.escape(up + outside)}(?=[#)])", f"]({up}{inside}", text)
    if page == "language":  # whose blocks are all of one language, which GitHub does not know
        text = re.sub(r"^```\n(.*?)^```$", r"```loom\n\1```", text, flags=re.DOTALL | re.MULTILINE)
    source[0] = text


def _put_in(app: Sphinx, line: re.Match[str]) -> str:
    """The text of a file at the root, with its links as they are seen from ``docs``."""
    path = ROOT / line[1]
    app.env.note_dependency(str(path))
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"\[docs/(\w+)\.md\](?!\()", r"[\1](docs/\1.md)", text)
    text = re.sub(r"(\]\(|^\[.+\]: )(?!\w+:|#|docs/)", r"\1../", text, flags=re.MULTILINE)
    return re.sub(r"(\]\(|^\[.+\]: )docs/", r"\1", text, flags=re.MULTILINE)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_lexer("loom", LoomLexer)
    app.connect("builder-inited", make_notebook_pages)
    app.connect("source-read", lead_inside)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
