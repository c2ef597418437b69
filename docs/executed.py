"""Executed copies of the notebooks: ``python docs/build.py notebooks`` makes them, pages show them.

A copy holds what each cell of code showed, as Markdown, and the hash of the notebook that was run:
of one that has changed since, nothing is shown.  Copies lie in ``build/notebooks``, outside the
repository's files.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
NOTEBOOKS = ROOT / "notebooks"
COPIES = ROOT / "build" / "notebooks"
SECONDS = 300
"""Seconds that a cell may take."""
LIVE = "*A live component: it is shown where the notebook runs.*"
"""Shown instead of a component of the workbench, which needs a kernel."""
_STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)
_FENCE = "`" * 8


def key(notebook: Mapping[str, Any]) -> str:
    """The hash of a notebook's cells, whether it has been run or not.

    Examples
    --------
    >>> cell = {"cell_type": "code", "source": ["1 + 1"]}
    >>> key({"cells": [cell]}) == key({"cells": [{**cell, "outputs": [1]}]})
    True
    """
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in notebook["cells"]]
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()


def markdown(outputs: Iterable[Mapping[str, Any]]) -> str:
    """Return the outputs of a cell as Markdown: pictures and tables as HTML, other results as text.

    Examples
    --------
    >>> print(markdown([{"output_type": "stream", "text": "two lines\\nof text\\n"}]))
    ```output
    two lines
    of text
    ```
    >>> shown = {"output_type": "execute_result", "data": {"text/html": "<svg></svg>"}}
    >>> print(markdown([shown]).strip("`"))
    {raw} html
    <svg></svg>
    <BLANKLINE>
    """
    parts: list[str] = []
    for output in outputs:
        data = output.get("data", {})
        html = "".join(data.get("text/html", ""))
        if output["output_type"] == "error":
            raise ValueError("a cell of the notebook ended with an error")
        if output["output_type"] == "stream":
            parts.append(_block("".join(output["text"])))
        elif any("holoviews" in kind for kind in data) or "<script" in html:
            parts += [LIVE] if "text/plain" in data and LIVE not in parts else []
        elif html and not html.lstrip().startswith("<style>"):
            parts.append(f"{_FENCE}{{raw}} html\n{html}\n{_FENCE}")
        elif "text/plain" in data and not html:
            parts.append(_block("".join(data["text/plain"])))
    return "\n\n".join(parts)


def _block(text: str) -> str:
    fence = "```" if "```" not in text else _FENCE
    return f"{fence}output\n{text.rstrip()}\n{fence}"


def styled_once(page: str) -> str:
    """A page without the style sheets that an output above has brought already.

    Examples
    --------
    >>> styled_once("<style>a</style>1<style>a</style>2<style>b</style>3")
    '<style>a</style>12<style>b</style>3'
    """
    seen: set[str] = set()

    def first(found: re.Match[str]) -> str:
        new = found[0] not in seen
        seen.add(found[0])
        return found[0] if new else ""

    return _STYLE.sub(first, page)


def shown(notebook: Mapping[str, Any]) -> list[str]:
    """Return the outputs of each cell of code of an executed notebook, as Markdown."""
    code = (cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    return [markdown(cell.get("outputs", ())) for cell in code]


def keep(path: Path) -> Path:
    """Run a notebook, and keep what it showed.  Gives the path of the copy."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=SECONDS, resources=resources).execute()
    COPIES.mkdir(parents=True, exist_ok=True)
    copy = COPIES / f"{path.stem}.json"
    found = {"key": key(notebook), "shown": shown(notebook)}
    copy.write_text(json.dumps(found, indent=1), encoding="utf-8")
    return copy


def kept(name: str, notebook: Mapping[str, Any]) -> list[str] | None:
    """Return the kept outputs of a notebook; None if it was not run as it is now."""
    copy = COPIES / f"{name}.json"
    if not copy.is_file():
        return None
    found = json.loads(copy.read_text(encoding="utf-8"))
    return list(found["shown"]) if found["key"] == key(notebook) else None


def keep_all() -> list[str]:
    """Run the notebooks of which there is no copy as they are now.  Gives their names."""
    made = []
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        if kept(path.stem, json.loads(path.read_text(encoding="utf-8"))) is None:
            keep(path)
            made.append(path.stem)
            print(path.stem, flush=True)
    return made
