"""Numbers with their nouns, in the singular where there is one of them."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf

from fuseloom.errors import printable, shortened

MANY = 1e15
"""The size from which on a float is told by its first digits and a power of ten."""


def counted(number: float, noun: str, plural: str | None = None, *, spec: str = "") -> str:
    """Return a number with thousands separators and its noun.

    Parameters
    ----------
    number : float
        A number that is no integer is rounded to one, unless `spec` says otherwise.
    noun : str
        The noun in the singular; adjectives may precede it.
    plural : str, optional
        By default the noun with an ``s``.
    spec : str, optional
        The format of the number.

    Examples
    --------
    >>> counted(1, "order"), counted(1234, "order"), counted(2, "index", "indices")
    ('1 order', '1,234 orders', '2 indices')
    >>> counted(0.9996, "cycle"), counted(1.5, "byte", spec="g"), counted(1e70, "cycle")
    ('1 cycle', '1.5 bytes', '1e+70 cycles')
    """
    text = format(number, spec) if spec else grouped(number)
    return f"{text} {agreeing(text, noun, plural or f'{noun}s')}"


def grouped(number: float) -> str:
    """Return a number as an integer with thousands separators; a huge float by its first digits.

    Examples
    --------
    >>> grouped(1234), grouped(1234.5), grouped(6.18e67), grouped(float("inf"))
    ('1,234', '1,234', '6.18e+67', 'inf')
    """
    if isinstance(number, int):
        return format(number, ",d")
    return format(number, ",.0f" if abs(number) < MANY or isinf(number) else ".3g")


def agreeing(number: float | str, singular: str, plural: str) -> str:
    """Return the word that agrees with a number.

    Examples
    --------
    >>> agreeing(1, "is", "are"), agreeing(0, "is", "are"), agreeing(-1, "is", "are")
    ('is', 'are', 'are')
    """
    return singular if str(number).lstrip("+") == "1" else plural


def closest(words: Sequence[str], names: Sequence[str]) -> str | None:
    """Return the name that is most like one of the words, if any resembles one.

    Examples
    --------
    >>> closest(["simluate"], ["compile", "simulate"])
    'simulate'
    """
    from difflib import get_close_matches

    for word in words:
        if match := get_close_matches(word, names, n=1, cutoff=0.6):
            return match[0]
    return None


LONGEST_REPR = 200
"""Characters of an object's description."""


def described(thing: object, text: str) -> str:
    """Return a description of an object on one short line, for its ``__repr__``.

    Examples
    --------
    >>> described(object(), "gcn: 2 regions")
    '<object gcn: 2 regions>'
    """
    return f"<{type(thing).__name__} {shortened(printable(text), LONGEST_REPR)}>"


def duration(seconds: float) -> str:
    """Return a time with three digits and its unit.

    Examples
    --------
    >>> duration(0.0123456), duration(4.2e-6), duration(65.0)
    ('12.3 ms', '4.2 µs', '65 s')
    """
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:,.3g} {unit}"
    return f"{seconds * 1e9:,.3g} ns"
