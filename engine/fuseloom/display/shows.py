"""Classes that a notebook shows by a function of another module.

The function's module imports the class, so the class names it in a text.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar


class Shows:
    """Has what a notebook shows.

    Examples
    --------
    >>> class Point(Shows, html="fuseloom.display.markup:joined"):
    ...     def __iter__(self):
    ...         return iter(["x < ", 3])
    >>> Point()._repr_html_()
    'x &lt; 3'
    """

    _html: ClassVar[str]

    def __init_subclass__(cls, html: str = "", **more: Any) -> None:
        super().__init_subclass__(**more)
        if html:
            cls._html = html

    def _repr_html_(self) -> str:
        module, _, function = self._html.partition(":")
        text: str = getattr(import_module(module), function)(self)
        return text
