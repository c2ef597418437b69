"""Exercises that are checked at once: the first wrong token, cell or number is named.

A course is a module of :data:`EXERCISES`, a mapping of keys to :class:`Exercise`; those of this
project are in :mod:`fuseloom_workbench.notebook.course`.  What is right is computed when it is
asked for, from the same engine that the notebook uses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.fusion.pog import PartialOrderGraph
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.orders import best_orders
from fuseloom.dataflow.samml.graph import StreamKind
from fuseloom.dataflow.sim.conformance.judge import judge
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.sim.tokens import format_token, parse_token
from fuseloom.display import shown, tag
from fuseloom.errors import DataError, FuseloomError, OrderError
from fuseloom.program.types import Program
from fuseloom.wording import agreeing
from fuseloom_workbench.notebook import course

LONGEST = 60
"""Characters of an answer that are repeated."""
Judge = Callable[[Any], str]
"""Says what is wrong with an answer; an empty text where nothing is."""


@dataclass(frozen=True)
class Exercise:
    """One exercise.

    Attributes
    ----------
    asks : str
        What is asked for, in a sentence.
    wrong : callable
        See :data:`Judge`.
    hint : str
        What helps, told on request (:func:`hint`).
    """

    asks: str
    wrong: Judge
    hint: str = ""


NOT_TRIED = "there is no answer yet"
"""Said of the notebook's own ``...``: a statement, and no verdict."""


@dataclass(frozen=True)
class Checked:
    """An answer with its verdict.

    Attributes
    ----------
    problem : str
        What is wrong first; empty if the answer is right.
    """

    key: str
    problem: str
    hint: str = ""

    @property
    def tried(self) -> bool:
        """False while the answer is still as the notebook has it."""
        return self.problem != NOT_TRIED

    @property
    def ok(self) -> bool:
        """True if the answer is right."""
        return not self.problem

    def __str__(self) -> str:
        more = f' (for a hint: hint("{self.key}"))' if self.hint and self.tried else ""
        return self._line() if self.ok else self._line() + more

    __repr__ = __str__

    def _line(self) -> str:
        """The verdict without the hint."""
        sign = "✓" if self.ok else "✕" if self.tried else "·"
        return f"{sign} {self.key}: {self.problem or 'right'}"

    def _repr_html_(self) -> str:
        if not self.tried:
            return shown(tag("p", self._line(), class_="quiet"))
        line = tag("p", self._line(), class_="good" if self.ok else "bad")
        if self.ok or not self.hint:
            return shown(line)
        return shown(line, tag("details", tag("summary", "Hint"), tag("p", self.hint)))


@dataclass(frozen=True)
class Hint:
    """The hint to an exercise, for whoever asks."""

    text: str

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return shown(tag("p", self.text, class_="quiet"))


def check(key: str, answer: Any) -> Checked:
    """Check an answer.

    Parameters
    ----------
    key : str
        Of the exercise, as ``1.2``.

    Raises
    ------
    DataError
        If there is no such exercise.

    Examples
    --------
    >>> check("1.1", ...)
    · 1.1: there is no answer yet
    >>> check("1.1", 5)
    ✕ 1.1: 5 elements are too many (for a hint: hint("1.1"))
    """
    exercise = _exercise(key)
    if _nothing(answer):
        return Checked(key, NOT_TRIED, exercise.hint)
    try:
        problem = exercise.wrong(answer)
    except FuseloomError as reason:
        problem = str(reason)
    return Checked(key, problem, exercise.hint)


def hint(key: str) -> Hint:
    """Tell what helps with an exercise.

    Raises
    ------
    DataError
        If there is no such exercise.

    Examples
    --------
    >>> hint("1.1")
    count the numbers that are not 0
    """
    return Hint(_exercise(key).hint)


def _exercise(key: str) -> Exercise:
    number, _, _ = key.partition(".")
    known = _of_notebook(int(number)) if number.isdecimal() else {}
    if key not in known:
        raise DataError(f"no exercise is called {key!r}", hint=f"known: {', '.join(exercises())}")
    return known[key]


def _nothing(answer: Any) -> bool:
    """Return whether an answer is still as the notebook has it: ``...``, or only these."""
    if isinstance(answer, Mapping):
        return bool(answer) and all(one is ... for one in answer.values())
    return answer is None or answer is ...


def exercises() -> dict[str, Exercise]:
    """All exercises of the course, in the order of their numbers."""
    numbers = range(len(course.MODULES))
    return {key: one for number in numbers for key, one in _of_notebook(number).items()}


def _of_notebook(number: int) -> dict[str, Exercise]:
    """Those of one notebook; others may need more than is installed."""
    if not 0 <= number < len(course.MODULES):
        return {}
    found = import_module(f"{course.__name__}.{course.MODULES[number]}").EXERCISES
    return dict(sorted(found.items(), key=lambda item: int(item[0].partition(".")[2])))


def number(want: Callable[[], float], unit: str = "", tolerance: float = 0.0) -> Judge:
    """A number, exact or within a share of it."""

    def wrong(answer: Any) -> str:
        if isinstance(answer, bool) or not _is_number(answer):
            return _no_number(answer)
        right = want()
        if math.isclose(float(answer), right, rel_tol=tolerance, abs_tol=0.0):
            return ""
        high, low = ("many", "few") if unit.endswith("s") else ("large", "small")
        side = high if float(answer) > right else low
        noun = agreeing(_short(answer), unit.removesuffix("s"), unit)
        verb = "are" if unit.endswith("s") and unit == noun != "times" else "is"
        return f"{_short(answer)}{noun and ' ' + noun} {verb} too {side}"

    return wrong


def _no_number(answer: Any) -> str:
    """Tell that an answer is no number; of a text, that its quotation marks are why."""
    try:
        float(answer)
    except (TypeError, ValueError, OverflowError):
        return f"{_short(answer)} is no number"
    quoted = isinstance(answer, str) and len(answer) < LONGEST // 2
    why = " as a text: leave out the quotation marks" if quoted else ""
    return f"{_short(answer)} is no number{why}"


def tokens(want: Callable[[], str], kind: StreamKind = StreamKind.CRD) -> Judge:
    """A stream, as text with spaces, or as a list of tokens."""

    def wrong(answer: Any) -> str:
        if isinstance(answer, str):
            given: list[Any] = answer.split()
        elif isinstance(answer, Sequence):
            given = list(answer)
        else:
            return f"{_short(answer)} is no stream: write the tokens with spaces between them"
        mine = [format_token(parse_token(t, kind) if isinstance(t, str) else t) for t in given]
        return _first_difference(mine, want().split(), "token")

    return wrong


def sequence(want: Callable[[], Sequence[Any]], what: str = "entry") -> Judge:
    """A list of numbers or names, in order."""

    def wrong(answer: Any) -> str:
        if isinstance(answer, str) or not isinstance(answer, Iterable):
            return f"{_short(answer)} is no list"
        return _first_difference([_plain(x) for x in answer], list(want()), what)

    return wrong


def names(want: Callable[[], Iterable[str]]) -> Judge:
    """A set of names, in any order."""

    def wrong(answer: Any) -> str:
        if isinstance(answer, str):
            answer = answer.replace(",", " ").split()
        if not isinstance(answer, Iterable):
            return f"{_short(answer)} is no set of names"
        given, right = [str(x) for x in answer], set(want())
        for name in given:
            if name not in right:
                return f"{_short(name)} is not among them"
        missing = len(right - set(given))
        return f"{missing} more {'is' if missing == 1 else 'are'} missing" if missing else ""

    return wrong


def cells(want: Callable[[], Mapping[tuple[str, str], str]]) -> Judge:
    """Cells of a fusion table: (column, row) to text."""

    def wrong(answer: Any) -> str:
        if not isinstance(answer, Mapping):
            return f"{_short(answer)} is no table: give a dict of (column, row) to text"
        for place, text in want().items():
            where = f"cell {place[0]}, row {place[1]}"
            if place not in answer:
                return f"{where} is missing"
            if answer[place] is ...:
                return f"{where} has no answer yet"
            given = str(answer[place])
            if _bare(given) != _bare(text):
                return f"{where} is not {_short(given)}"
        extra = next((place for place in answer if place not in want()), None)
        return "" if extra is None else f"cell {_short(extra)} was not asked for"

    return wrong


def order(want: Callable[[], PartialOrderGraph]) -> Judge:
    """An order of indices that keeps every constraint; of one that does not, the first is named.

    Examples
    --------
    >>> import fuseloom as fl
    >>> program = fl.parse("A: 4x4 dcsr\\nx: 4 dense\\ny[i] = A[i,j] * x[j]")
    >>> order(lambda: fl.fuse(program)[0].pog)("j, i")
    'order j→i rejected: i must stay outside j, because A is stored (i, j)'
    """

    def wrong(answer: Any) -> str:
        if isinstance(answer, str):
            answer = answer.replace("→", " ").replace(",", " ").split()
        if not isinstance(answer, Sequence):
            return f"{_short(answer)} is no order: write the indices, outermost first"
        try:
            want().check([str(x) for x in answer])
        except OrderError as reason:
            return reason.message
        return ""

    return wrong


def schedule(
    given: Callable[[], tuple[Program, Mapping[str, Any]]],
    at_most: Callable[[], float],
    measure: str = "cycles",
    machine: str = "default",
    orders: Literal["first", "best"] = "first",
) -> Judge:
    """A schedule, as text, whose run is right and takes no more than so much.

    Parameters
    ----------
    given : callable
        Gives the program and its data.
    measure : str
        ``cycles``, ``bytes`` or ``flops``.
    machine : str
        The preset that it runs on.
    orders : {"first", "best"}
        What a region gets whose order the schedule leaves open: the first order that can be
        built, or the best one by the estimate.  It has to be what the notebook runs.
    """

    def wrong(answer: Any) -> str:
        if not isinstance(answer, str):
            return f"{_short(answer)} is no schedule: write it as text"
        program, data = given()
        made = compile_program(program, answer)
        if orders == "best":
            made = best_orders(made, data).compilation
        run = simulate(made, data, Machine.preset(machine))
        if not run.check().ok:
            return str(run.check())
        taken = run.cycles if measure == "cycles" else getattr(run.work, measure)
        most, unit = at_most(), "FLOPs" if measure == "flops" else measure
        return "" if taken <= most else f"takes {taken:,} {unit}, more than {most:,}"

    return wrong


def primitive_of(op: str) -> Judge:
    """A generator that is to do what a primitive does, on every vector that has it."""

    def wrong(answer: Any) -> str:
        if not callable(answer):
            return f"{_short(answer)} is no function"
        return judge(op, answer).problem

    return wrong


def _first_difference(given: Sequence[Any], right: Sequence[Any], what: str) -> str:
    for k, (mine, theirs) in enumerate(zip(given, right, strict=False), start=1):
        if mine != theirs:
            return f"{what} {k} is not {_short(mine)}"
    if len(given) < len(right):
        return f"{what} {len(given) + 1} is missing"
    if len(given) > len(right):
        return f"{what} {len(right) + 1}, {_short(given[len(right)])}, is one too many"
    return ""


def _bare(cell: str) -> str:
    """The text of a cell without what may be written in several ways."""
    return cell.replace("→", "->").replace(" ", "")


def _plain(one: Any) -> Any:
    return one.item() if hasattr(one, "item") and getattr(one, "ndim", 1) == 0 else one


def _is_number(answer: Any) -> bool:
    try:
        return math.isfinite(float(answer)) and not isinstance(answer, str)
    except (TypeError, ValueError, OverflowError):
        return False


def _short(answer: Any) -> str:
    text = answer if isinstance(answer, str) else repr(_plain(answer))
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
