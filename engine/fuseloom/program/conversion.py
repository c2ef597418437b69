"""Programs made of other representations, each with a list of what it no longer says."""

from __future__ import annotations

from dataclasses import dataclass

from fuseloom.program.types import Program


@dataclass(frozen=True)
class Conversion:
    """A program made of another system's representation, and what was lost on the way.

    Attributes
    ----------
    program : Program
        What the other representation computes.
    losses : tuple of str
        What that representation says and the program does not, a sentence each; empty where
        nothing was lost.

    Examples
    --------
    >>> import fuseloom as fl
    >>> program = fl.parse("A: 8x4 dense\\ny[i] = sum[j] A[i,j]")
    >>> print(Conversion(program, ("The layout of A is left out.",)))
    program unnamed
    A: 8x4 dense
    y[i] = A[i,j]
    output y
    The layout of A is left out.
    """

    program: Program
    losses: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join((str(self.program).rstrip(), *self.losses))
