"""Names that tell uses of one thing apart: ``A`` is the first, then ``A'``, ``A''``, ``A'3``."""

from __future__ import annotations

import re
from collections.abc import Container

LETTERS = "ijklmnopqrstuvwxyzabcdefgh"
"""Names of indices, the first best."""
_MOST = 2
"""As many primes are written; more are told by their number."""
_PRIMES = re.compile(r"'+\d*$")


def bare(name: str) -> str:
    """Return a name without its primes.

    >>> bare("A"), bare("A''"), bare("A'12")
    ('A', 'A', 'A')
    """
    return _PRIMES.sub("", name)


def primes(name: str) -> int:
    """Return how many primes a name stands for.

    >>> primes("A"), primes("A''"), primes("A'12")
    (0, 2, 12)
    """
    written = name[len(bare(name)) :]
    return int(written.lstrip("'") or written.count("'"))


def primed(name: str, count: int) -> str:
    """Return a name without primes with as many as told.

    >>> [primed("A", count) for count in range(5)]
    ['A', "A'", "A''", "A'3", "A'4"]
    """
    return name + ("'" * count if count <= _MOST else f"'{count}")


def unused(name: str, taken: Container[str]) -> str:
    """Return a name with as few more primes as make it new.

    A name that is new stays as it was written.

    >>> unused("A", {"A", "A'"}), unused("A'", {"A'"}), unused("A'''", ())
    ("A''", "A''", "A'''")
    """
    stem, count = bare(name), primes(name)
    while name in taken:
        count += 1
        name = primed(stem, count)
    return name


def numbered(name: str, taken: Container[str], between: str = "_", first: int = 1) -> str:
    """Return a name with the first number that makes it new.

    A name that is new stays as it was written.

    >>> numbered("x", {"x", "x_1"}), numbered("y", {"y"}, ".", first=2), numbered("z", ())
    ('x_2', 'y.2', 'z')
    """
    found, number = name, first
    while found in taken:
        found, number = f"{name}{between}{number}", number + 1
    return found
