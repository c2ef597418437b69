"""One style for all that is shown, for light and dark pages."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from fuseloom.display.markup import Content, Markup, tag

COLOURS = {
    "pane": ("#ffffff", "#171d24"),
    "sunk": ("#f6f8fa", "#12181e"),
    "line": ("#d9dfe6", "#2b343e"),
    "line2": ("#b9c3cd", "#46525f"),
    "ink": ("#16202b", "#e8edf2"),
    "ink2": ("#4a5765", "#b3bfcb"),
    "accent": ("#0b5cad", "#7db7f5"),
    "accent-bg": ("#e6f0fb", "#1a3048"),
    "good": ("#1b6b35", "#86d69a"),
    "good-bg": ("#e3f4e7", "#173322"),
    "warn": ("#7d4e00", "#f2c46b"),
    "warn-bg": ("#fdf1d8", "#372a10"),
    "bad": ("#ad2a1b", "#ff9d8c"),
    "bad-bg": ("#fdeae6", "#3d1d18"),
    "scan": ("#356ba8", "#93bff8"),
    "scan-f": ("#e8f1fc", "#1a2c42"),
    "repeat": ("#4a400d", "#f0d35e"),
    "repeat-f": ("#f6f3dc", "#2c2912"),
    "join": ("#5b55c9", "#a08cf2"),
    "join-f": ("#f0e9fb", "#2b2142"),
    "locate": ("#12756a", "#34b9b7"),
    "locate-f": ("#e0f3f3", "#10302f"),
    "values": ("#207c48", "#c0e89e"),
    "values-f": ("#e6f4e5", "#18301a"),
    "compute": ("#9a5c00", "#d98f3c"),
    "compute-f": ("#fdf0dc", "#362509"),
    "acc": ("#bc1c33", "#e07a68"),
    "acc-f": ("#fde9e2", "#3b1e14"),
    "write": ("#3d4346", "#d4e5f1"),
    "write-f": ("#eef0f3", "#232a32"),
}
"""Names of colours, light and dark: those of the workbench, whose contrasts are checked there."""

_FAMILIES = ("scan", "repeat", "join", "locate", "values", "compute", "acc", "write")


@cache
def style() -> str:
    """The style sheet: colours, then how elements of class ``fuseloom`` look."""
    colours = ";".join(f"--{name}:light-dark({a},{b})" for name, (a, b) in COLOURS.items())
    families = "".join(f".fuseloom .{x}{{--c:var(--{x});--f:var(--{x}-f)}}" for x in _FAMILIES)
    rules = files("fuseloom.display").joinpath("style.css").read_text("utf-8")
    return f".fuseloom{{{colours}}}\n{families}\n{rules}"


def shown(*content: Content) -> Markup:
    """Content with its style, as a notebook shows it."""
    return tag("div", tag("style", Markup(style())), content, class_="fuseloom")
