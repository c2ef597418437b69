"""Mends, on each page that was built, what a screen reader stumbles over in Sphinx and its theme.

A signature over several lines is a ``<dl>`` without terms, and the arrows that unfold the sidebar
have no names.  Outputs of notebooks may be wider than the page, and keys must be able to move them.
"""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

_LINES = re.compile(r'<dl>\n((?:<dd><em class="sig-param">.*</dd>\n)+)</dl>')
_FOLD = re.compile(r'(<a [^>]*reference internal"[^>]*>([^<]*)</a><details[^>]*>)<summary>')
_OUTPUT = re.compile(r'<div class="fuseloom">(?!<p )')
_FOCUSED = '<div class="fuseloom" tabindex="0" role="group" aria-label="output">'


def mended(page: str) -> str:
    """A page of HTML whose lists have terms, whose folds have names, and whose outputs have focus.

    Examples
    --------
    >>> mended('<dl>\\n<dd><em class="sig-param">x</em>,</dd>\\n</dl>')
    '<span class="sig-lines"><span><em class="sig-param">x</em>,</span></span>'
    >>> link = '<a class="reference internal" href="a.html">Guides</a><details>'
    >>> mended(link + "<summary>")[len(link):]
    '<summary aria-label="Pages below Guides">'
    >>> mended('<div class="fuseloom"><table>')
    '<div class="fuseloom" tabindex="0" role="group" aria-label="output"><table>'
    """
    page = _OUTPUT.sub(_FOCUSED, _LINES.sub(_as_spans, page))
    return _FOLD.sub(r'\1<summary aria-label="Pages below \2">', page)


def _as_spans(found: re.Match[str]) -> str:
    lines = found[1].replace("<dd>", "<span>").replace("</dd>\n", "</span>")
    return f'<span class="sig-lines">{lines}</span>'


def mend_pages(app: Sphinx, failed: Exception | None) -> None:
    """Rewrite the pages of a site that was built whole."""
    if failed is not None or app.builder.format != "html":
        return
    for path in Path(app.outdir).rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        better = mended(page)
        if better != page:
            path.write_text(better, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", mend_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
