"""Execution of a graph on coordinates: what every stream carries, without values and clocks.

A rule per primitive says what its outputs carry and how many cycles of its own work it takes, as
its golden model does it; nothing is guessed, so the counts are those of a run.  What a stream
carries depends only on what is in front of it: streams of different graphs, orders and schedules
that are made alike are made once.  Rules: ``docs/spec/estimate.md`` §3.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from fuseloom.dataflow.cost.exact.fiber_levels import (
    Bools,
    Ints,
    Profile,
    Standing,
    StreamContents,
)
from fuseloom.dataflow.cost.exact.samples import NO_SAMPLES, Sample, traversed
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Graph, Node
from fuseloom.dataflow.samml.registry import Registry
from fuseloom.dataflow.samml.traits import Stored
from fuseloom.errors import LoweringError


class TooLargeError(Exception):
    """An execution would take more than its budget."""


class Sources(Protocol):
    """A source of the tensors that scanners read."""

    def level(self, key: str, level: int) -> tuple[Ints, Ints]:
        """Segments and coordinates of a compressed level of a view."""
        ...

    def full(self, key: str, level: int) -> int:
        """Return the size of each fiber of a level if all levels down to it are full; else 0."""
        ...

    def nonzero(self, name: str, coords: Sequence[Ints]) -> Bools:
        """Which elements of a tensor are not zero, given their coordinates in each dimension."""
        ...

    def identity(self, key: str) -> Hashable:
        """Return a key that is equal for views with the same coordinates."""
        ...


@dataclass(frozen=True, eq=False)
class Executed:
    """The result of executing a node.

    Attributes
    ----------
    outputs : tuple of StreamContents
        In port order.
    work : Profile
        Steps of its own: cycles, where a step takes one.
    flushes : Profile or None
        Of what puts nothing before a fiber ends: how many fibers end.
    final : float
        Steps behind the final token.
    lead : Profile or None
        Steps before the first token that is put; None: the first step puts one.
    """

    outputs: tuple[StreamContents, ...]
    work: Profile
    flushes: Profile | None = None
    final: float = 0.0
    lead: Profile | None = None


@dataclass
class ElementBudget:
    """Elements that executions may make; a step that would make more is refused before."""

    elements: float
    made: float = 0.0

    def take(self, elements: float) -> None:
        self.made += elements
        if self.made > self.elements:
            raise TooLargeError


@dataclass(frozen=True, eq=False)
class ExecutionContext:
    """The context that rules read.

    Attributes
    ----------
    by : Standing or None
        How many coordinates each coordinate of the index that is traversed stands for.  None: all
        are left in.
    """

    sources: Sources
    budget: ElementBudget
    by: Standing | None = None


Inputs = tuple[StreamContents, ...]
Function = Callable[[Node, Inputs, ExecutionContext], Executed]
Holds = Callable[[Node, Inputs, Executed], "HeldOnChip"]
Stalls = Callable[[Node, Inputs, Executed, float], Profile]


@dataclass(frozen=True)
class HeldOnChip:
    """The most that a node holds on chip at once: coordinates or references, and values."""

    words: float = 0.0
    values: float = 0.0


@dataclass(frozen=True)
class ExecutionRule:
    """A rule that executes a primitive.

    Attributes
    ----------
    execute : callable
    steps : str
        What takes a step of its own, for people.
    ahead : bool
        Whether the stop behind a token of the first input waits for what follows that token.
    rows : bool
        Whether a fiber is flushed only when the next one has begun to come.
    heads : bool
        Whether every step looks at the next token of each input.
    free_stops : bool
        Whether stops take no cycle.
    shifts : bool
        Whether coordinates come out as others.
    in_turn : bool
        Whether it takes from its first input and one of the others at a time.
    aligns : bool
        Whether what the last input has lies under the coordinates of the first.
    holds : callable or None
        What it holds on chip; None: no more than the tokens that it has in its hands.
    stalls : callable or None
        Its work where it stands still for so many cycles whenever it asks the memory; None: it
        asks for nothing.
    """

    execute: Function
    steps: str
    ahead: bool = False
    rows: bool = False
    heads: bool = False
    free_stops: bool = False
    shifts: bool = False
    in_turn: bool = False
    aligns: bool = False
    holds: Holds | None = None
    stalls: Stalls | None = None


RULES: Registry[ExecutionRule] = Registry(
    "exact", "rule of execution", lambda entry: {entry.name} if entry.estimated else ()
)
"""Every primitive's rule, by its name."""


def rule(
    *names: str,
    steps: str,
    holds: Holds | None = None,
    stalls: Stalls | None = None,
    **traits: bool,
) -> Callable[[Function], Function]:
    """Register the :class:`ExecutionRule` of primitives: what takes a step, and its traits."""

    def register(function: Function) -> Function:
        for name in names:
            RULES.add(name, ExecutionRule(function, steps, holds=holds, stalls=stalls, **traits))
        return function

    return register


@dataclass
class Memo:
    """Executions of nodes by what made their inputs, the latest kept."""

    limit: float = 3e7
    held: float = 0.0
    known: OrderedDict[Hashable, tuple[int, Executed, float]] = field(default_factory=OrderedDict)
    numbers: int = 0

    def get(self, key: Hashable) -> tuple[int, Executed, float] | None:
        """The number of an execution, what it made, and what it took of a budget."""
        found = self.known.get(key)
        if found is not None:
            self.known.move_to_end(key)
        return found

    def put(self, key: Hashable, made: Executed, cost: float) -> int:
        """Keep an execution; its number stands for it in the keys of what reads it."""
        self.numbers += 1
        self.known[key] = self.numbers, made, cost
        self.held += _size(made)
        while self.held > self.limit and len(self.known) > 1:
            _, (_, old, _) = self.known.popitem(last=False)
            self.held -= _size(old)
        return self.numbers


def _size(made: Executed) -> float:
    """Numbers held; those of full levels are counted only."""
    return 100.0 + sum(
        len(c.fiber_tree.seg) + (0 if c.fiber_tree.stored is None else len(c.fiber_tree.stored))
        for c in made.outputs
    )


@dataclass(frozen=True, eq=False)
class Execution:
    """A graph executed.

    Attributes
    ----------
    streams : mapping
        Stream id to what it carries.
    nodes : mapping
        Node id to what it does.
    """

    graph: Graph
    streams: Mapping[int, StreamContents]
    nodes: Mapping[int, Executed]


def execute(
    graph: Graph,
    sources: Sources,
    memo: Memo,
    budget: ElementBudget,
    samples: Mapping[str, Sample] = NO_SAMPLES,
) -> Execution:
    """Execute a graph.

    Parameters
    ----------
    samples : mapping
        Index to the coordinates that its traversals leave in.

    Raises
    ------
    TooLargeError
        If it makes more elements than the budget has.
    LoweringError
        If a primitive has no rule.
    """
    streams: dict[int, StreamContents] = {}
    names: dict[int, Hashable] = {}
    nodes: dict[int, Executed] = {}
    for k in graph.topological():
        node = graph.nodes[k]
        sample = samples.get(traversed(graph, node) or "") if samples else None
        if node.op not in RULES:
            raise LoweringError(f"no rule of execution for the primitive {node.op!r}")
        key: Hashable = (
            node.op,
            len(node.outputs),
            _parameters(node, sources),
            None if sample is None else sample.key,
            tuple(names[s] for s in node.inputs),
        )
        found = memo.get(key)
        if found is None:
            before = budget.made
            context = ExecutionContext(sources, budget, None if sample is None else sample.standing)
            made = RULES[node.op].execute(node, tuple(streams[s] for s in node.inputs), context)
            number = memo.put(key, made, budget.made - before)
        else:  # whether a graph takes too much does not depend on what was executed before
            number, made, cost = found
            budget.take(cost)
        nodes[k] = made
        for port, stream in enumerate(node.outputs):
            if stream is not None:
                streams[stream] = made.outputs[port]
                names[stream] = (number, port)
    return Execution(graph, streams, nodes)


_IRRELEVANT = frozenset({"tensor", "tile", "block", "latency", "ii", "scalar"})
"""Parameters that change neither coordinates nor how many steps there are."""


def _parameters(node: Node, sources: Sources) -> Hashable:
    rest = tuple(sorted((k, v) for k, v in node.params.items() if k not in _IRRELEVANT))
    if not any(read.array is Stored.COORDINATES for read in primitive(node.op).memory.reads):
        return rest
    return (*rest, sources.identity(str(node.params["tensor"])))
