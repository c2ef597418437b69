"""A primitive that somebody wrote, judged by the reference vectors, token by token.

Each vector that has the primitive is run twice on the machine without quirks: with the generator
golden model of this project, and with theirs.  Every token of every stream must be the same, at the
same cycle.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.conformance.vectors import bind_vector, load_vectors, unsupported
from fuseloom.dataflow.sim.engines import Engine, run_graph
from fuseloom.dataflow.sim.golden.registry import GoldenModel, implementation, instead
from fuseloom.dataflow.sim.process import PUT, TAKE, Behaviour, Process
from fuseloom.dataflow.sim.reports import Limits
from fuseloom.dataflow.sim.token_rows import streams
from fuseloom.dataflow.sim.tokens import Token, format_token, same
from fuseloom.display import Drawing, Markup, shown, tag
from fuseloom.display.drawing import below
from fuseloom.errors import FuseloomError, SimulationError
from fuseloom.wording import counted

PRIMITIVES = Path(__file__).with_name("prims.json")
"""Vectors of single primitives on random streams."""
LIMITS = Limits(tokens=100_000)
"""The limits of a run: a generator that never ends gets an error."""
AROUND = 6
"""Tokens that are shown before the first one that differs."""

YOURS = "your generator"

Taken = list[tuple[Token, int]]


@dataclass(frozen=True)
class Judged:
    """The verdict on a primitive.

    Attributes
    ----------
    op : str
        The primitive.
    vectors, passed : int
        How many were run, until the first one that differs.
    problem : str
        What differs first, and where; empty if nothing does.
    picture : Drawing or None
        The streams around it.
    """

    op: str
    vectors: int
    passed: int
    problem: str = ""
    picture: Drawing | None = None

    @property
    def ok(self) -> bool:
        """True if every token is right."""
        return not self.problem

    def __str__(self) -> str:
        if self.ok:
            return (
                f"right: {self.op} gives every token of {counted(self.vectors, 'vector')} at "
                "its cycle"
            )
        lines = [f"not yet: {self.problem}"]
        return "\n".join(lines if self.picture is None else [*lines, str(self.picture)])

    def _repr_html_(self) -> str:
        head = str(self).splitlines()[0]
        line = tag("p", ("✓ " if self.ok else "✕ ") + head, class_="good" if self.ok else "bad")
        drawn = "" if self.picture is None else self.picture._repr_html_()
        return Markup(shown(line) + drawn)


def judge(op: str, generator: GoldenModel, path: str | Path = PRIMITIVES) -> Judged:
    """Compare a generator with the golden model of a primitive on every vector that has it.

    Parameters
    ----------
    op : str
        Name of the primitive in the catalogue, as ``scan``.
    generator : callable
        Takes a :class:`~fuseloom.dataflow.sim.process.Process` and yields its requests, as the
        golden models of :mod:`fuseloom.dataflow.sim.golden` do.

    Raises
    ------
    SimulationError
        If there is no such primitive, or no vector has it.

    Examples
    --------
    >>> from fuseloom.dataflow.sim.tokens import DONE
    >>> from fuseloom_workbench.notebook import judge
    >>> def repeat_signal(node):
    ...     while True:  # hands everything on, which is not what a repeat signal is
    ...         token = yield node.inputs[0].take
    ...         yield node.outputs[0].put(token)
    ...         if token is DONE:
    ...             return
    ...         node.clock += 1
    >>> judged = judge("repsig", repeat_signal)
    >>> judged.ok, judged.problem
    (False, "vector 10, crd output, token 1: yours is 1, the machine's R")
    """
    if not callable(generator):
        raise SimulationError(
            f"{generator!r} cannot be called",
            hint="give the function itself, without parentheses",
        )
    primitive(op)
    found = list(_cases(op, path))
    if not found:
        raise SimulationError(
            f"no vector has the primitive {op!r}", hint="see docs/spec/comal.md §6"
        )
    for passed, (bound, number) in enumerate(found):
        theirs, _ = _run(op, bound, implementation(op).generator)
        mine, trouble = _run(op, bound, generator)
        problem, picture = _compared(op, bound, theirs, mine)
        if trouble.startswith(YOURS):  # says more than the token that is missing then
            problem, picture = trouble, None
        problem = problem or trouble
        if problem:
            return Judged(op, len(found), passed, f"vector {number}, {problem}", picture)
    return Judged(op, len(found), len(found))


def _cases(op: str, path: str | Path) -> Iterator[tuple[BoundGraph, int]]:
    """Vectors with the primitive that run on the machine without quirks, with their numbers."""
    for number, vector in enumerate(load_vectors(path)):
        if unsupported(vector):
            continue
        bound, _ = bind_vector(vector)
        if not any(node.op == op for node in bound.graph.nodes):
            continue
        _, trouble = _run(op, bound, implementation(op).generator)
        if not trouble:  # else its streams make sense with the reference's quirks only
            yield bound, number


@dataclass
class _Seen:
    """The tokens that a primitive's nodes took and put, by stream, with their timestamps."""

    puts: dict[int, Taken] = field(default_factory=dict)
    takes: dict[int, Taken] = field(default_factory=dict)
    ends: list[int] = field(default_factory=list)

    def watched(self, generator: GoldenModel) -> GoldenModel:
        """The same generator, with all that it asks for noted."""

        def run(node: Process) -> Behaviour:
            behaviour = generator(node)
            if not isinstance(behaviour, Generator):
                raise SimulationError(f"{YOURS} gives no requests", hint="it has no yield")
            answer: Any = None
            while True:
                try:
                    request = behaviour.send(answer)
                except StopIteration:
                    self.ends.append(node.clock)
                    return
                kind, channel, token, at = request
                if kind == PUT:
                    stamp = max(node.clock + 1, at if isinstance(at, int) else 0)
                    self.puts.setdefault(channel.id, []).append((token, stamp))
                answer = yield request
                if kind == TAKE:
                    self.takes.setdefault(channel.id, []).append((answer, node.clock))

        return run


def _run(op: str, bound: BoundGraph, generator: GoldenModel) -> tuple[_Seen, str]:
    """Return the tokens of the primitive's nodes, and the problem that ended the run early."""
    seen = _Seen()
    try:
        with instead(op, seen.watched(generator)):
            run_graph(bound, Machine.default(), Engine.INTERPRETER, limits=LIMITS)
    except FuseloomError as problem:
        return seen, str(problem)
    except Exception as problem:  # of code that is being learnt with
        return seen, f"{YOURS} raised {type(problem).__name__}: {problem}"
    return seen, ""


def _compared(op: str, bound: BoundGraph, theirs: _Seen, mine: _Seen) -> tuple[str, Drawing | None]:
    """Return the first difference, and a picture of it."""
    for node in bound.graph.nodes:
        for stream in node.outputs if node.op == op else ():
            if stream is None:
                continue
            said = _differs(mine.puts.get(stream, []), theirs.puts.get(stream, []))
            if said is not None:
                place, what = said
                name = f"{bound.graph.streams[stream].kind.value} output"
                picture = _picture(bound, node.inputs, stream, mine, theirs, place)
                return f"{name}, token {place + 1}: {what}", picture
    for got, want in zip(mine.ends, theirs.ends, strict=False):
        if got != want:
            return f"it ends at cycle {got}, and should end at cycle {want}", None
    return "", None


def _differs(mine: Taken, theirs: Taken) -> tuple[int, str] | None:
    """The first token that is another one or comes at another time, and how."""
    for k, (got, want) in enumerate(zip(mine, theirs, strict=False)):
        if not same(got[0], want[0]):
            return k, f"yours is {format_token(got[0])}, the machine's {format_token(want[0])}"
        if got[1] != want[1]:
            token = format_token(got[0])
            return k, f"{token} comes at cycle {got[1]}, and should at cycle {want[1]}"
    if len(mine) < len(theirs):
        return len(mine), f"{format_token(theirs[len(mine)][0])} is missing"
    if len(mine) > len(theirs):
        return len(theirs), f"{format_token(mine[len(theirs)][0])} is one too many"
    return None


def _picture(
    bound: BoundGraph,
    inputs: tuple[int, ...],
    stream: int,
    mine: _Seen,
    theirs: _Seen,
    place: int,
) -> Drawing:
    """Draw the inputs, and both streams from a little before the place."""
    begin = max(0, place - AROUND)
    kind = bound.graph.streams[stream].kind
    rows = {
        f"{who}, from token {begin + 1}" if begin else who: [
            t for t, _ in seen.puts.get(stream, [])[begin : place + AROUND]
        ]
        for who, seen in (("yours", mine), ("the machine's", theirs))
    }
    wrong = {name: place - begin for name, tokens in rows.items() if place - begin < len(tokens)}
    given = {
        f"{bound.graph.streams[s].kind.value} input {k + 1}": [
            t for t, _ in theirs.takes.get(s, [])
        ]
        for k, s in enumerate(inputs)
    }
    return below(streams(given), streams(rows, kinds=dict.fromkeys(rows, kind), wrong=wrong))
