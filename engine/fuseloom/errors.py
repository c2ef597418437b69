"""The one family of errors a user can cause.

Every message names the thing at fault, the rule, and the way out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

LONGEST = 500
"""Characters of an error as people read it: a name may be of any length, a message may not."""


def shortened(text: str, most: int) -> str:
    """A text, or its beginning and its end."""
    if len(text) <= most:
        return text
    tail = (most - 1) // 3
    return f"{text[: most - 1 - tail]}…{text[len(text) - tail :]}"


def printable(text: str) -> str:
    """A text on one line, with an escape for what would end it or steer a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


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

    Attributes
    ----------
    rule : str
        One word for what was broken, the same for every error of a kind.

    Examples
    --------
    >>> import fuseloom as fl
    >>> try:
    ...     fl.parse("y[i] = A[i,j] * x[j]")
    ... except fl.FuseloomError as error:
    ...     print(error.rule, error.line)
    ...     print(error)
    program 1
    line 1, column 8: tensor A is neither declared nor assigned (hint: declare it, e.g. A: 8x8 csf)
    """

    rule: ClassVar[str] = "input"

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
        super().__init__(message)

    @property
    def place(self) -> dict[str, str | int | None] | None:
        """The place of the fault: source, line and column, as far as known; None without any."""
        if self.line is None and self.source is None:
            return None
        column = None if self.line is None else self.column or 1
        return {"source": self.source, "line": self.line, "column": column}

    @property
    def message(self) -> str:
        """A sentence that says what is wrong."""
        if self._tell is not None:
            self.message = self._tell()
        return self._message

    @message.setter
    def message(self, text: str) -> None:
        self._tell: Callable[[], str] | None = None
        self._message = shortened(printable(text), LONGEST * 3 // 5)

    def describe(self, tell: Callable[[], str]) -> None:
        """Have the message made when somebody reads it: what it says may take long to find out."""
        self._tell = tell

    @property
    def hint(self) -> str | None:
        """What to do about it; None if nothing is known."""
        if self._find is not None:
            self.hint = self._find()
        return self._hint

    @hint.setter
    def hint(self, text: str | None) -> None:
        self._find: Callable[[], str | None] | None = None
        self._hint = None if text is None else shortened(printable(text), LONGEST)

    def suggest(self, find: Callable[[], str | None]) -> None:
        """Have the hint found when somebody reads it, in place of the one there is."""
        self._find = find

    def locate(self, line: int, column: int, source: str | None) -> None:
        """Say where it is, if that is not known yet."""
        if self.place is None:
            self.line, self.column, self.source = line, column, source

    def __str__(self) -> str:
        return self._text()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __reduce__(self) -> str | tuple[Any, ...]:
        _ = self.message, self.hint  # how they are found does not travel
        return super().__reduce__()

    def to_dict(self) -> dict[str, Any]:
        """Plain data: what is wrong, where, against which rule, and the way out."""
        return {"error": self.message, "place": self.place, "rule": self.rule, "hint": self.hint}

    def _text(self) -> str:
        place = ""
        if self.line is not None:
            place = f"line {self.line}, column {self.column or 1}: "
        if self.source:
            place = f"{shortened(printable(self.source), LONGEST // 5)}: {place}"
        room = LONGEST - len(place) - len(self.message) - len(" (hint: )")
        hint = f" (hint: {shortened(self.hint, max(room, 1))})" if self.hint else ""
        return f"{place}{self.message}{hint}"


class ParseError(FuseloomError):
    """Program or schedule text that does not follow the grammar."""

    rule = "grammar"


class ProgramError(FuseloomError):
    """A program that parses but has no meaning (unknown tensor, clashing sizes, ...)."""

    rule = "program"


class DataError(FuseloomError):
    """Tensor data that contradict their declaration."""

    rule = "data"


class ScheduleError(FuseloomError):
    """A schedule that names what is not there or asks for what cannot be."""

    rule = "schedule"


class OrderError(FuseloomError):
    """A dataflow order that breaks a constraint, or a partial order graph with a cycle."""

    rule = "order"


class LoweringError(FuseloomError):
    """A region that the machine's primitives cannot express."""

    rule = "lowering"


class InternalError(LoweringError):
    """A fault of Fuseloom itself: the region under this order might be built without it."""

    rule = "internal"


class GraphError(FuseloomError):
    """A dataflow graph that is not well formed."""

    rule = "graph"


class SimulationError(FuseloomError):
    """A run that could not finish: a limit, or tokens that contradict each other."""

    rule = "simulation"


class RecordError(FuseloomError):
    """A record of a run that is malformed, or of a version that is not read."""

    rule = "record"


class StoreError(FuseloomError):
    """A store of runs that cannot be used: of another program or version, damaged, full, ..."""

    rule = "store"


class LimitError(SimulationError):
    """A run that would use more than it may: tokens or memory, by its limits."""

    rule = "limit"


class AbandonedError(LimitError):
    """A run that takes more cycles than were asked for."""

    rule = "abandoned"


class DeadlockError(SimulationError):
    """Nodes wait for each other in a circle through full or empty channels.

    Attributes
    ----------
    full : tuple of int
        Ids of the full streams of the circle.
    """

    rule = "deadlock"

    def __init__(
        self, message: str, *, hint: str | None = None, full: tuple[int, ...] = ()
    ) -> None:
        super().__init__(message, hint=hint)
        self.full = full


class UsageError(FuseloomError):
    """A command line that cannot be read."""

    rule = "usage"


class CancelledError(FuseloomError):
    """A command that its user ended."""

    rule = "cancelled"
