"""The results of imports and the reports of exports, for all file formats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from fuseloom.dataflow.samml.graph import Graph
from fuseloom.program.types import Tensor
from fuseloom.wording import counted, described


class RepairRule(Enum):
    """The repairs an import may apply to a graph that is wrong as written, and its readings.

    Rules: ``docs/spec/sam.md`` §4.
    """

    R1 = "a reducer in front of an accumulator sums away the level that is accumulated"
    R2 = "an accumulator takes only the coordinates it accumulates by"
    R3 = "the sum over an empty fiber is an explicit 0, so its coordinate must stay"
    R4 = "an accumulator without an outer result index gives one fiber"
    R5 = "the operands of a subtraction have no port names"
    R6 = "a level writer loses coordinates whose fiber is empty"
    R7 = "the machine computes in float32, the units of such chips round to bfloat16"
    R8 = "the graph's comment does not list it"
    R9 = "coordinates without values are no result"
    R10 = "the machine has no primitive on the bits of bfloat16 numbers"
    R11 = "a maximum with one operand and no constant is that with 0"
    R12 = "an absent value is no zero that is stored"
    R13 = "a node without edges does nothing"
    R14 = "an edge whose type is no stream carries what its label says"

    @property
    def is_reading(self) -> bool:
        """True if the rule concerns the reading of the file, and does not change its meaning."""
        return self in (
            RepairRule.R7,
            RepairRule.R8,
            RepairRule.R10,
            RepairRule.R11,
            RepairRule.R13,
            RepairRule.R14,
        )


@dataclass(frozen=True)
class ImportRepair:
    """One change an import made to a graph that would compute something else as written.

    Attributes
    ----------
    rule : RepairRule
        Why it was needed.
    node : str
        Name of the node in the file.
    change : str
        What was done.
    """

    rule: RepairRule
    node: str
    change: str

    @property
    def why(self) -> str:
        return self.rule.value

    @property
    def heading(self) -> str:
        """The heading of the repair, for users of the graph."""
        return "read" if self.rule.is_reading else "repaired"

    def __str__(self) -> str:
        return f"{self.rule.name} {self.change} (node {self.node}: {self.why})"


@dataclass(frozen=True)
class ImportedGraph:
    """A graph read from a file of another tool.

    Attributes
    ----------
    tensors : mapping
        The operands by the name the graph's nodes use.
    outputs : tuple of Tensor
        What the writers write, every level compressed.
    repairs : tuple of ImportRepair
        What had to be changed.
    zeroless : frozenset of str
        Operands that store no zeros.
    """

    graph: Graph
    tensors: Mapping[str, Tensor]
    outputs: tuple[Tensor, ...]
    repairs: tuple[ImportRepair, ...] = ()
    zeroless: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return described(
            self,
            f"{self.graph.name}: {counted(len(self.graph.nodes), 'node')}, "
            f"{counted(len(self.repairs), 'repair')}",
        )


class Severity(Enum):
    """The severity of an export's note for the tool that reads the file."""

    EXTENSION = "extension: other tools will not run this node"
    CHANGE = "changed for the target"
    WARNING = "warning"


@dataclass(frozen=True)
class ExportNote:
    """One thing about an exported graph that its user should know."""

    severity: Severity
    node: str
    text: str

    def __str__(self) -> str:
        return f"{self.severity.value}: {self.node}: {self.text}"
