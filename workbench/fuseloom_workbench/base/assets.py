"""The JavaScript and CSS files of the components, as text."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

BASE = ("base/base.js", "base/help.js")
"""Scripts that every component's own stands behind."""


@cache
def asset(*names: str) -> str:
    """The files of those names in ``fuseloom_workbench``, one after another.

    A component's script is sent as one text, so helpers that several components share are put
    in front of it instead of being imported.
    """
    folder = files("fuseloom_workbench")
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)


def script(*names: str) -> str:
    """The script of a component, the last one; what it needs, and shared helpers, in front."""
    return asset(*BASE, *(f"{name}.js" for name in names))


def style(*names: str) -> str:
    """The style sheets of a component, after the shared ones."""
    shared = "base/tokens.css", "base/base.css", "base/help.css"
    return asset(*shared, *(f"{name}.css" for name in names))
