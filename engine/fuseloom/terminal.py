"""The width of the terminal in which a command prints its tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_WIDTH: ContextVar[int | None] = ContextVar("table_width", default=None)


def table_width() -> int | None:
    """Return the most characters of a table's line; None where nothing limits them."""
    return _WIDTH.get()


@contextmanager
def tables_within(width: int | None) -> Iterator[None]:
    """Lay out tables for a terminal of that many characters.

    Examples
    --------
    >>> with tables_within(80):
    ...     table_width()
    80
    """
    before = _WIDTH.set(width)
    try:
        yield
    finally:
        _WIDTH.reset(before)
