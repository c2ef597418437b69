"""Elements of HTML and SVG as text, with everything escaped that is not markup."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TypeAlias

Content: TypeAlias = "str | int | float | Iterable[Content] | None"
"""The contents of an element: text, which is escaped, numbers, markup, and lists of these."""


class Markup(str):
    """Text that is HTML or SVG already."""

    __slots__ = ()


def tag(name: str, /, *content: Content, **attributes: str | float | bool | None) -> Markup:
    """An element.

    Parameters
    ----------
    attributes
        ``class_`` stands for ``class``, ``stroke_width`` for ``stroke-width``.  ``None`` and
        ``False`` are left out, ``True`` has no value.

    Examples
    --------
    >>> tag("td", "a < b", class_="figure", hidden=False)
    '<td class="figure">a &lt; b</td>'
    """
    said = "".join(_attribute(key, value) for key, value in attributes.items())
    return Markup(f"<{name}{said}>{joined(content)}</{name}>")


def joined(content: Iterable[Content]) -> Markup:
    """Pieces one after the other.

    Examples
    --------
    >>> joined(["1 < 2, ", tag("b", 3), None, [" ", 4.5]])
    '1 &lt; 2, <b>3</b> 4.5'
    """
    return Markup("".join(_piece(one) for one in content))


def _piece(one: Content) -> str:
    match one:
        case None:
            return ""
        case Markup():
            return one
        case str():
            return escape(one, quote=False)
        case int() | float():
            return _number(one)
        case _:
            return joined(one)


def _attribute(key: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    if name == "viewbox":
        name = "viewBox"  # the one name of SVG that is used here and is not in small letters
    if value is True:
        return f" {name}"
    text = value if isinstance(value, str) else _number(value)
    return f' {name}="{escape(text)}"'


def _number(value: float | int) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
