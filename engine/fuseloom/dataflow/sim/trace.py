"""The distribution of a run's cycles, node by node."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.sim.result import EngineResult
from fuseloom.display import bar, shown, table, tag
from fuseloom.errors import RecordError, SimulationError
from fuseloom.results.declarations import Record, read
from fuseloom.results.document import from_text
from fuseloom.results.text_table import Align, TextColumn, text_table
from fuseloom.wording import counted, described

JSON_VERSION = 2
_COLUMNS = (
    TextColumn("node", align=Align.LEFT),
    TextColumn("op", align=Align.LEFT),
    *map(
        TextColumn,
        (
            "in",
            "out",
            "busy",
            "share",
            "stall in",
            "stall room",
            "stall memory",
            "idle",
            "first",
            "last",
        ),
    ),
)


@dataclass(frozen=True)
class NodeTrace(Record):
    """The activity of one node.

    Attributes
    ----------
    tokens : int
        Tokens put on the busiest output, or taken from the busiest input by a writer; what the
        estimate predicts.
    tokens_in, tokens_out : int
        Tokens taken and put, over all ports.
    busy, stall_input, stall_output, stall_memory : int
        Cycles of own work, of waiting for tokens, for free slots, and for memory; they add up
        to ``last``.
    idle : int
        Cycles of the run after ``last``.
    first, last : int
        Clock at the first token (-1: none), and the final clock.
    """

    node: int
    label: str
    op: str
    origin: str
    tokens: int
    tokens_in: int
    tokens_out: int
    busy: int
    stall_input: int
    stall_output: int
    stall_memory: int
    idle: int
    first: int
    last: int


def _busiest(result: EngineResult, node: Node) -> int:
    put = [int(result.tokens[s]) for s in node.outputs if s is not None]
    return max(put or [int(result.taken[s]) for s in node.inputs], default=0)


@dataclass(frozen=True)
class Trace(Record):
    """A run's table of nodes; prints as text and serialises to versioned JSON.

    Attributes
    ----------
    graph : str
        Name of the graph that ran.
    cycles : int
        Elapsed cycles.
    nodes : tuple of NodeTrace
        In the graph's order.
    """

    graph: str
    cycles: int
    nodes: tuple[NodeTrace, ...]

    def __repr__(self) -> str:
        return described(
            self,
            f"of {self.graph}: {counted(len(self.nodes), 'node')}, {counted(self.cycles, 'cycle')}",
        )

    @classmethod
    def of(cls, result: EngineResult) -> Trace:
        """The trace of a run."""
        busy = result.busy
        return cls(
            result.graph.name,
            result.cycles,
            tuple(
                NodeTrace(
                    node.id,
                    node.label or f"{node.op} {node.id}",
                    node.op,
                    node.origin,
                    tokens=_busiest(result, node),
                    tokens_in=int(sum(result.taken[s] for s in node.inputs)),
                    tokens_out=int(sum(result.tokens[s] for s in node.outputs if s is not None)),
                    busy=int(busy[node.id]),
                    stall_input=int(result.stall_input[node.id]),
                    stall_output=int(result.stall_output[node.id]),
                    stall_memory=int(result.stall_memory[node.id]),
                    idle=max(0, result.cycles - int(result.clocks[node.id])),
                    first=int(result.first[node.id]),
                    last=int(result.clocks[node.id]),
                )
                for node in result.graph.nodes
            ),
        )

    def busy_share(self, node: NodeTrace) -> float:
        """Part of the elapsed cycles in which that node worked."""
        return node.busy / self.cycles if self.cycles else 0.0

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row per node, for tables: the fields of :class:`NodeTrace` and ``busy_share``."""
        for node in self.nodes:
            yield {**asdict(node), "busy_share": self.busy_share(node)}

    def __str__(self) -> str:
        rows = [
            (
                n.label,
                n.op,
                f"{n.tokens_in:,}",
                f"{n.tokens_out:,}",
                f"{n.busy:,}",
                f"{self.busy_share(n):.0%}",
                f"{n.stall_input:,}",
                f"{n.stall_output:,}",
                f"{n.stall_memory:,}",
                f"{n.idle:,}",
                "-" if n.first < 0 else f"{n.first:,}",
                f"{n.last:,}",
            )
            for n in self.nodes
        ]
        return "\n".join(
            [f"{self.graph}: {counted(self.cycles, 'cycle')}", *text_table(_COLUMNS, rows)]
        )

    def _repr_html_(self) -> str:
        heads = ("node", "primitive", "tokens in", "tokens out", "busy, cycles", "of all cycles",
                 "waits for input", "for room", "for memory")  # fmt: skip
        rows = [
            (
                n.label,
                n.op,
                f"{n.tokens_in:,}",
                f"{n.tokens_out:,}",
                f"{n.busy:,}",
                bar(self.busy_share(n), f"{self.busy_share(n):.0%}"),
                f"{n.stall_input:,}",
                f"{n.stall_output:,}",
                f"{n.stall_memory:,}",
            )
            for n in sorted(self.nodes, key=lambda n: -n.busy)
        ]
        return shown(
            tag("h4", f"{self.graph}: {counted(self.cycles, 'cycle')}"),
            table(heads, rows, figures=(2, 3, 4, 6, 7, 8)),
        )

    def to_json(self) -> str:
        """Versioned JSON that :meth:`from_json` reads back to an equal trace."""
        return json.dumps({"fuseloom": "trace", "version": JSON_VERSION, **self.to_dict()})

    @classmethod
    def from_json(cls, text: str) -> Trace:
        """Read what :meth:`to_json` wrote.

        Raises
        ------
        SimulationError
            If the text is not a trace of a known version.
        """
        try:
            data = from_text(text)
            if not isinstance(data, dict) or (data.pop("fuseloom", 0), data.pop("version", 0)) != (
                "trace", JSON_VERSION
            ):  # fmt: skip
                raise SimulationError(f"not a trace file of version {JSON_VERSION}")
            return read(cls, data, "trace")
        except RecordError as problem:
            raise SimulationError(
                f"malformed trace JSON: {problem.message}", hint=problem.hint
            ) from None
