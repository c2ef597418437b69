"""The numbers of a node, and the provenance of numbers: quantity, amount, formula and terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fuseloom.dataflow.cost.exact.execution import RULES
from fuseloom.dataflow.cost.mode import BASIS, EstimateMode
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Graph, Node
from fuseloom.errors import DataError
from fuseloom.program.formats import suggestion
from fuseloom.results.declarations import Record
from fuseloom.results.energy import ActionKind, EnergyTerm, EnergyUse

FRACTIONAL = frozenset({"J", "pJ", "J s", "rows"})
"""Units whose amounts are rarely integers."""


@dataclass(frozen=True)
class NodeEstimate:
    """Expected numbers of one node.

    Attributes
    ----------
    tokens : float
        Tokens on its busiest output (busiest input, for a writer).
    cycles : float
        Cycles of its own work.
    flops, bytes : float
        Arithmetic operations; bytes moved to and from memory.
    end : float or None
        Clock at which it is done, where the graph was executed.
    held : float
        Bytes that it holds on chip, at most at once; 0 where that is no more than a token.
    """

    node: int
    tokens: float
    cycles: float
    flops: float
    bytes: float
    end: float | None = None
    held: float = 0.0


@dataclass(frozen=True)
class Provenance(Record):
    """A number, and where it comes from.

    Attributes
    ----------
    what : str
        What the number says, and of what.
    value : float
        The number.
    unit : str
        Its unit.
    formula : str
        How it follows from the inputs.
    inputs : tuple of Provenance
        What it follows from; those that count most first.
    """

    what: str
    value: float
    unit: str
    formula: str
    inputs: tuple[Provenance, ...] = field(default=())

    def lines(self, depth: int = 0) -> list[str]:
        """Text, what it follows from indented below."""
        number = f"{self.value:,.6g}" if self.unit in FRACTIONAL else f"{self.value:,.0f}"
        mine = f"{'  ' * depth}{self.what}: {number} {self.unit} = {self.formula}"
        return [mine, *(line for why in self.inputs for line in why.lines(depth + 1))]

    def __str__(self) -> str:
        return "\n".join(self.lines())


def title(node: Node) -> str:
    """Return the name of a node for people."""
    return f"{primitive(node.op).title} {node.label or node.id}"


def why_region(
    name: str, mode: EstimateMode, cycles: float, nodes: Sequence[NodeEstimate], graph: Graph
) -> Provenance:
    """Why a region is expected to take so many cycles: the chain of nodes that ends last."""
    if mode is EstimateMode.METADATA:
        found = [max(nodes, key=lambda n: n.cycles)]
        formula = "cycles of the busiest node, and the pipeline behind it"
    else:
        found = slowest(nodes, graph)
        formula = "when the last node is done: the chain to it, from its start"
    inputs = tuple(why_node(node, graph) for node in found)
    return Provenance(f"region {name}, from {BASIS[mode]}", cycles, "cycles", formula, inputs)


def slowest(nodes: Sequence[NodeEstimate], graph: Graph, most: int = 6) -> list[NodeEstimate]:
    """The nodes with most work on the chain of producers that ends last, in its order."""
    numbers = {n.node: n for n in nodes}

    def end(number: int) -> float:
        return numbers[number].end or 0.0

    chain = [max(numbers, key=end)]
    while inputs := graph.nodes[chain[-1]].inputs:
        chain.append(max((graph.producer[s] for s in inputs), key=end))
    chain.reverse()
    heaviest = sorted(chain, key=lambda k: -numbers[k].cycles)[:most]
    return [numbers[k] for k in chain if k in heaviest]


def why_node(node: NodeEstimate, graph: Graph) -> Provenance:
    """Why a node has so many cycles of work."""
    made = graph.nodes[node.node]
    steps = RULES[made.op].steps if made.op in RULES else "each token on its busiest port"
    inputs = [Provenance("tokens on its busiest port", node.tokens, "tokens", "counted")]
    if node.end is not None:
        inputs.append(
            Provenance("done at", node.end, "cycles", "not before its last token has come")
        )
    if node.held:
        inputs.append(Provenance("held on chip", node.held, "bytes", "the largest tree of a fold"))
    if node.flops:
        inputs.append(Provenance("arithmetic", node.flops, "FLOPs", "values taken"))
    if node.bytes:
        inputs.append(
            Provenance("memory", node.bytes, "bytes", "words read and written, 4 bytes each")
        )
    return Provenance(title(made), node.cycles, "cycles", f"a step for {steps}", tuple(inputs))


def why_energy(
    name: str, mode: EstimateMode, use: EnergyUse, terms: Sequence[EnergyTerm], machine: Machine
) -> Provenance:
    """Why a region is expected to take so much energy: its terms, and the energy-delay product."""
    inputs = [
        Provenance(
            term.kind,
            term.joules,
            "J",
            f"{term.count:,.6g} {term.unit} × {term.picojoules:.4g} pJ",
            (
                Provenance("count", term.count, term.unit, counted_as(term.kind, mode, machine)),
                Provenance("energy of each", term.picojoules, "pJ", term.source),
            ),
        )
        for term in sorted(terms, key=lambda term: -term.joules)
    ]
    product = Provenance(
        "energy-delay product", use.edp, "J s", f"the energy × {use.seconds:.4g} s"
    )
    return Provenance(
        f"energy of region {name}, from {BASIS[mode]}",
        use.joules,
        "J",
        "counts of actions × the energy of each, added up",
        (*inputs, product),
    )


def counted_as(kind: str, mode: EstimateMode, machine: Machine) -> str:
    """Say whether the count of a kind of action is exact in an estimate, or expected.

    ``docs/spec/energy.md`` §4 says which are.
    """
    if mode is not EstimateMode.EXACT:
        return f"expected, from {BASIS[mode]}"
    if machine.memory is not None and kind == ActionKind.MEMORY.value:
        return "expected: bytes that the nodes ask for, not the whole accesses that are moved"
    if kind == ActionKind.ACTIVATE.value:
        return "expected: each row of what is moved once, whichever rows stay open"
    return "exact: as a run counts it"


def named_node(graph: Graph, name: str) -> Node:
    """The node of that number or label.

    Raises
    ------
    DataError
        If there is none.
    """
    for node in graph.nodes:
        if name in (str(node.id), node.label):
            return node
    labels = [node.label for node in graph.nodes if node.label]
    raise DataError(f"no node is called {name!r}", hint=suggestion(name, labels))
