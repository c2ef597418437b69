"""A user's requirements on a solution, as further constraints."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from fuseloom.errors import ParseError


class PinKind(Enum):
    """A kind of requirement; the value is its keyword."""

    LOOPS = "loops"  # of a contraction, outermost first
    LAYOUT = "layout"  # of a given tensor's levels, by the indices of its reference
    OUTERMOST = "outermost"  # one index, of every contraction that has it


@dataclass(frozen=True)
class Pin:
    """One thing asked for.

    Attributes
    ----------
    kind : PinKind
    subject : str
        The contraction, by what it makes, or the tensor; empty for an outermost loop.
    order : tuple of str
        Indices.

    Examples
    --------
    >>> print(Pin.parse("loops X: r, j, p"))
    loops X: r,j,p
    >>> Pin.parse("outermost r").order
    ('r',)
    """

    kind: PinKind
    subject: str
    order: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Pin:
        """Read ``loops X: i,j``, ``layout A: k,i`` or ``outermost i``.

        Raises
        ------
        ParseError
            If it is neither.
        """
        match = re.fullmatch(r"\s*(loops|layout)\s+(\w+)\s*:\s*([\w\s,]+)", text)
        if match:
            order = tuple(x.strip() for x in match[3].split(","))
            return cls(PinKind(match[1]), match[2], order)
        match = re.fullmatch(r"\s*outermost\s+(\w+)\s*", text)
        if match:
            return cls(PinKind.OUTERMOST, "", (match[1],))
        raise ParseError(
            f"{text[:60]!r} asks for nothing known",
            hint="write 'loops X: i,j,k', 'layout A: k,i' or 'outermost i'",
        )

    def __str__(self) -> str:
        subject = f" {self.subject}:" if self.subject else ""
        return f"{self.kind.value}{subject} {','.join(self.order)}"
