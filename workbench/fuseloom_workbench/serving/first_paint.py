"""The first paint of a page: its name, before its scripts are there.

Panel names its scripts, several megabytes, in the head of a page, and a browser paints nothing
before it has run those.  Here they come first in the body, behind the page's name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import panel.io.server

FIRST = "fuseloom-first"
"""The id of what is painted first; it goes when the page is drawn."""
STYLE = (
    "position: fixed; top: 10px; left: 16px; z-index: 1; color: #6b7785; pointer-events: none; "
    "font: 700 14px/20px Roboto, system-ui, sans-serif"
)
GOES = (
    "<script>(function wait() { if (window.Bokeh?.index?.roots?.[0]?.is_idle) "
    f"document.getElementById('{FIRST}')?.remove(); else setTimeout(wait, 50) }})()</script>"
)
_SCRIPT = re.compile(r"<script\b.*?</script>\s*", re.DOTALL)
_HEAD = re.compile(r"(<head\b.*?)(</head>\s*<body[^>]*>)", re.DOTALL)
_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)


def paint_early() -> None:
    """Let every page of this process be painted before its scripts are there."""
    make = panel.io.server.server_html_page_for_session
    if make.__module__ != __name__:
        panel.io.server.server_html_page_for_session = painting(make)


def painting(make: Callable[..., str]) -> Callable[..., str]:
    """The same function, whose pages show their names first."""

    def made(*arguments: Any, **more: Any) -> str:
        return named_first(make(*arguments, **more))

    return made


def named_first(page: str) -> str:
    """A page whose body begins with its name, and then has the scripts of its head, in their order.

    Examples
    --------
    >>> page = "<head><title>A</title><script>1</script></head><body><p></body>"
    >>> made = named_first(page)
    >>> made.index("</head>") < made.index(">A …<") < made.index("<script>1") < made.index("<p>")
    True
    """
    found = _HEAD.search(page)
    if found is None:
        return page
    head, body = found.groups()
    scripts = "".join(_SCRIPT.findall(head))
    title = _TITLE.search(head)
    name = title[1].strip() if title else "Fuseloom"
    first = f'<div id="{FIRST}" role="status" style="{STYLE}">{name} …</div>{GOES}\n'
    before, after = page[: found.start()], page[found.end() :]
    return f"{before}{_SCRIPT.sub('', head)}{body}{first}{scripts}{after}"
