"""The one family of errors a user can cause.

Every message names the thing at fault, the rule, and the way out.
"""

from __future__ import annotations


class FuseloomError(Exception):
    """Root of every error that a user can cause.

    Parameters
    ----------
    message : str
        What is wrong, on one line.
    hint : str, optional
        What to do about it, on one line.
    line, column : int, optional
        1-based place in the user's text.
    source : str, optional
        Name of the text or file the place refers to.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        line: int | None = None,
        column: int | None = None,
        source: str | None = None,
    ) -> None:
        self.message = message
        self.hint = hint
        self.line = line
        self.column = column
        self.source = source
        super().__init__(self._text())

    def to_dict(self) -> dict[str, str | int | None]:
        """Plain data: the kind of error, its whole text, and the parts of it."""
        return {
            "type": type(self).__name__,
            "text": str(self),
            "message": self.message,
            "hint": self.hint,
            "source": self.source,
            "line": self.line,
            "column": self.column,
        }

    def _text(self) -> str:
        place = ""
        if self.line is not None:
            place = f"line {self.line}, column {self.column or 1}: "
        if self.source:
            place = f"{self.source}: {place}"
        hint = f" (hint: {self.hint})" if self.hint else ""
        return f"{place}{self.message}{hint}"


class ParseError(FuseloomError):
    """Program or schedule text that does not follow the grammar."""


class ProgramError(FuseloomError):
    """A program that parses but has no meaning (unknown tensor, clashing sizes, ...)."""


class DataError(FuseloomError):
    """Tensor data that contradict their declaration."""


class ScheduleError(FuseloomError):
    """A schedule that names what is not there or asks for what cannot be."""


class OrderError(FuseloomError):
    """A dataflow order that breaks a constraint, or a partial order graph with a cycle."""


class LoweringError(FuseloomError):
    """A region that the machine's primitives cannot express."""


class GraphError(FuseloomError):
    """A dataflow graph that is not well formed."""


class SimulationError(FuseloomError):
    """A run that could not finish: a limit, or tokens that contradict each other."""


class RecordError(FuseloomError):
    """A record of a run that is malformed, or of a version that is not read."""


class DeadlockError(SimulationError):
    """Nodes wait for each other in a circle through full or empty channels.

    Attributes
    ----------
    full : tuple of int
        Ids of the full streams of the circle.
    """

    def __init__(
        self, message: str, *, hint: str | None = None, full: tuple[int, ...] = ()
    ) -> None:
        super().__init__(message, hint=hint)
        self.full = full
