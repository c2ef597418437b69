"""Actions of a graph's nodes: how many of each kind, and the energy of one.

Runs and estimates give the same counts, of tokens, values and fibers; what follows from them is
here, once (``docs/spec/energy.md`` §1, §2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fuseloom.dataflow.dram import Dram, Ideal
from fuseloom.dataflow.machine.energy import Energy
from fuseloom.dataflow.machine.machine import Machine
from fuseloom.dataflow.machine.ports import ported_reads
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Graph, Node
from fuseloom.dataflow.samml.tile_values import axes_of_streams, node_bytes, node_flops, tile_of
from fuseloom.dataflow.samml.traits import Arithmetic
from fuseloom.program.functions import FUNCTIONS, Integers, Op
from fuseloom.results.energy import PICO, ActionKind, EnergyUse

_OF_NAME: Mapping[str, ActionKind] = {
    "add": ActionKind.ADD,
    "sub": ActionKind.ADD,
    "scalaradd": ActionKind.ADD,
    "mul": ActionKind.MULTIPLY,
    "elemmul": ActionKind.MULTIPLY,
    "scalarmul": ActionKind.MULTIPLY,
    "div": ActionKind.DIVIDE,
    "scalardiv": ActionKind.DIVIDE,
    "max": ActionKind.COMPARE,
}
_IN_TABLE = frozenset(op.value for op in FUNCTIONS)


@dataclass(frozen=True)
class Action:
    """An action that a node does so often.

    Attributes
    ----------
    kind : ActionKind
    count : float
        Operations, words or bits.
    picojoules : float
        Energy of each.
    parameters : tuple of str
        Fields of the machine's energy that ``picojoules`` follows from.
    sram_bytes : float
        Size of the SRAM that is accessed; 0 where it is none.
    """

    kind: ActionKind
    count: float
    picojoules: float
    parameters: tuple[str, ...] = ()
    sram_bytes: float = 0.0

    @property
    def joules(self) -> float:
        """Energy of all of them."""
        return PICO * self.count * self.picojoules


@dataclass(frozen=True)
class NodeCounts:
    """Counts of one node: values taken from each input, values made, fibers written."""

    taken: tuple[float, ...]
    made: float
    fibers: float

    @classmethod
    def of(cls, node: Node, values: Any, fibers: float = 0) -> NodeCounts:
        """Those of a node, by the values that each stream carries."""
        made = max((values[s] for s in node.outputs if s is not None), default=0)
        return cls(tuple(values[s] for s in node.inputs), made, fibers)


@dataclass(frozen=True)
class RegionCounts:
    """Counts of a region: what its energy follows from.

    Attributes
    ----------
    tokens, values : sequence or mapping of int to float
        By stream: tokens put into it, and how many of them are values.
    fibers : mapping of int to float
        By node: fibers that it writes, where it does.
    copied : float
        Bytes moved to copy tensors into another mode order.
    moved : float or None
        Bytes that the memory moved; None: what the nodes ask for.
    activates : float or None
        Rows that a DRAM activated; None: each row of what is moved once.
    """

    tokens: Any
    values: Any
    fibers: Any = field(default_factory=dict)
    copied: float = 0.0
    moved: float | None = None
    activates: float | None = None

    def of(self, node: Node) -> NodeCounts:
        """The counts of one node."""
        return NodeCounts.of(node, self.values, self.fibers.get(node.id, 0))


@dataclass(frozen=True)
class RegionActions:
    """Actions of a region.

    Attributes
    ----------
    nodes : tuple of tuple of Action
        Of every node, in the order of the graph.
    copies : tuple of Action
        Of copying tensors into another mode order.
    """

    nodes: tuple[tuple[Action, ...], ...]
    copies: tuple[Action, ...]

    def of_nodes(self) -> tuple[float, ...]:
        """Joules of every node."""
        return tuple(sum(action.joules for action in node) for node in self.nodes)

    def use(self, seconds: float) -> EnergyUse:
        """Joules by kind of action, over a time."""
        found: dict[str, float] = {}
        for actions in (*self.nodes, self.copies):
            for action in actions:
                name = action.kind.value
                found[name] = found.get(name, 0.0) + action.joules
        kinds = (kind.value for kind in ActionKind)
        return EnergyUse({kind: found[kind] for kind in kinds if found.get(kind)}, seconds)


def region_actions(graph: Graph, counts: RegionCounts, machine: Machine) -> RegionActions:
    """The actions of a region's nodes.

    Parameters
    ----------
    graph : Graph
        The graph that ran, with or without ports of the memory; the channels of ports that it
        lacks on a machine that has them count for the nodes that they serve.
    """
    words = words_of_streams(graph)
    asked = [_bytes(node, counts) for node in graph.nodes]
    total = sum(asked)
    moved = total if counts.moved is None else counts.moved
    activates = _activates(moved, counts, machine)
    ported = not any(primitive(node.op).memory.port for node in graph.nodes)
    nodes = []
    for node, own in zip(graph.nodes, asked, strict=True):
        actions = [*_operations(node, counts, machine), *_buffered(node, counts, words, machine)]
        if ported and isinstance(machine.memory, Dram | Ideal):
            actions += _ported_channels(node, graph, counts, words, machine)
        else:
            actions += (
                _passed(s, counts, words, machine, machine.capacity_of(graph.streams[s]))
                for s in node.outputs
                if s is not None
            )
        share = own / total if total else 0.0
        actions += _moved(share * moved, share * activates, machine)
        nodes.append(tuple(action for action in actions if action.count))
    copied = counts.copied
    copies = _moved(copied, _activates(copied, RegionCounts((), ()), machine), machine)
    return RegionActions(tuple(nodes), tuple(action for action in copies if action.count))


def function_kind(name: str) -> ActionKind:
    """The operation that computes a function of numbers.

    What keeps or makes integers is computed without rounding, as a comparison is; all else of one
    operand is a special function.

    Examples
    --------
    >>> [function_kind(name).value for name in ("sub", "relu", "exp", "scalardiv")]
    ['add', 'compare', 'special', 'divide']
    """
    if name in _OF_NAME or name not in _IN_TABLE:
        return _OF_NAME.get(name, ActionKind.SPECIAL)
    rounds = FUNCTIONS[Op(name)].integers is Integers.NEITHER
    return ActionKind.SPECIAL if rounds else ActionKind.COMPARE


def words_of_streams(graph: Graph) -> tuple[int, ...]:
    """Words of a value token of each stream: one, or the numbers of a tile."""
    edge = next((int(node.params["block"]) for node in graph.nodes if "tile" in node.params), 1)
    return tuple(edge ** len(axes) for axes in axes_of_streams(graph))


def _bytes(node: Node, counts: RegionCounts) -> float:
    own = counts.of(node)
    return node_bytes(node, own.taken, own.made, own.fibers)


def _operations(node: Node, counts: RegionCounts, machine: Machine) -> Iterator[Action]:
    """Operations on values, and on coordinates and references."""
    own, energy, entry = counts.of(node), machine.energy, primitive(node.op)
    if flops := node_flops(node, own.taken, own.made):
        spec, kind = tile_of(node), function_kind(str(node.params.get("fn", "add")))
        if spec is not None and spec.contracts and entry.arithmetic is Arithmetic.BINARY:
            products = entry.flops(own.taken, own.made) * spec.points
            yield _operation(kind, products, energy)
            kind, flops = ActionKind.ADD, flops - products
        yield _operation(kind, flops, energy)
    yield _operation(ActionKind.INTEGER, entry.integers(own.taken, own.made), energy)


def _operation(kind: ActionKind, count: float, energy: Energy) -> Action:
    return Action(kind, count, energy.operation(kind), (kind.value,))


def _buffered(
    node: Node, counts: RegionCounts, words: Sequence[int], machine: Machine
) -> Iterator[Action]:
    """Words written to and read from a buffer; an entry is a token of each output."""
    own = counts.of(node)
    entries = primitive(node.op).buffered(own.taken, own.made)
    size = sum(words[s] for s in node.outputs if s is not None)
    held = machine.energy.buffer_bytes
    yield Action(
        ActionKind.BUFFER,
        entries * size,
        machine.energy.sram(held),
        ("sram_word", "buffer_bytes"),
        held,
    )


def _passed(
    stream: int, counts: RegionCounts, words: Sequence[int], machine: Machine, depth: int | None
) -> Action:
    """Words that are put into a channel of that depth and taken from it."""
    through = counts.tokens[stream] + counts.values[stream] * (words[stream] - 1)
    energy = machine.energy
    return Action(
        ActionKind.CHANNEL,
        through,
        energy.of_token(depth, words[stream]),
        ("sram_word", "unbounded_depth") if depth is None else ("sram_word",),
        energy.channel_bytes(depth, words[stream]),
    )


def _ported_channels(
    node: Node, graph: Graph, counts: RegionCounts, words: Sequence[int], machine: Machine
) -> Iterator[Action]:
    """Channels of a node's outputs, and those between it and its ports of the memory."""
    reads = ported_reads(node)
    put = [s for s in node.outputs if s is not None]
    slots = machine.port_slots
    behind = any(read.behind for read in reads)
    for s in put:
        own = machine.capacity_of(graph.streams[s])
        yield _passed(s, counts, words, machine, slots if behind else own)
        if behind:
            yield _passed(s, counts, words, machine, own)
    if behind and None in node.outputs:  # a reference that only the port takes
        beside = graph.streams[put[0]]
        yield _passed(beside.id, counts, words, machine, machine.capacity_of(beside))
    ahead = sum(not read.behind for read in reads) + bool(primitive(node.op).memory.writes)
    for _ in range(ahead):
        yield _passed(node.inputs[0], counts, words, machine, slots)


def _activates(moved: float, counts: RegionCounts, machine: Machine) -> float:
    if not isinstance(machine.memory, Dram):
        return 0.0
    return moved / machine.memory.row_bytes if counts.activates is None else counts.activates


def _moved(moved: float, activates: float, machine: Machine) -> list[Action]:
    """Bits from and to the memory, and rows activated for them."""
    bit = machine.energy.of_bit(machine.memory)
    actions = [Action(ActionKind.MEMORY, 8 * moved, bit, ("memory_bit",))]
    if isinstance(machine.memory, Dram):
        row = machine.energy.of_row(machine.memory)
        actions.append(Action(ActionKind.ACTIVATE, activates, row, ("row_bit",)))
    return actions
