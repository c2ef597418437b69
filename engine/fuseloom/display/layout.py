"""The layout of a graph's nodes by Graphviz."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


def laid_out(source: str) -> Any:
    """A graph in the DOT language, laid out by ``dot``: a ``pygraphviz.AGraph``.

    Raises
    ------
    ImportError, OSError, ValueError, RuntimeError
        If Graphviz is not there or cannot lay it out.
    """
    import pygraphviz

    _read_fonts()
    graph = pygraphviz.AGraph(string=source)
    graph.layout("dot")
    return graph


@cache
def _read_fonts() -> None:
    """Have the fonts read once, and nothing said about the system's lists of fonts.

    The library that comes with pygraphviz warns of words in these lists that are newer than itself;
    in a notebook that would stand in red above the first graph.
    """
    import pygraphviz

    with _silent():
        pygraphviz.AGraph(string="digraph { a }").layout("dot")


@contextmanager
def _silent() -> Iterator[None]:
    """Discard the standard error output of libraries that are not written in Python."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
