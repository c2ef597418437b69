"""One fused structure of a tree: an order of the contractions, and of the loops of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, TypedDict

from fuseloom.contraction.tree import ContractionTree
from fuseloom.results.declarations import Count


class IntermediateData(TypedDict):
    """A workspace under the solution."""

    order: Annotated[Count, "Number of dimensions."]
    elements: Annotated[Count, "Number of elements, 8 bytes each."]


class SolutionData(TypedDict):
    """A :class:`Solution` as plain data."""

    sequence: Annotated[Sequence[str], "Contractions by what they make, in order of execution."]
    loops: Annotated[Mapping[str, Sequence[str]], "Per contraction its loops, outermost first."]
    modes: Annotated[
        Mapping[str, Sequence[Count]],
        "Per given tensor its modes in order of the levels, outermost first, as the solution has "
        "them.",
    ]
    intermediates: Annotated[
        Mapping[str, IntermediateData],
        "Per intermediate, its workspace where the loops are fused as the solution says.",
    ]


@dataclass(frozen=True)
class Solution:
    """An assignment of values to the constraints' variables (CoNST §4.2).

    Attributes
    ----------
    tree : ContractionTree
    sequence : tuple of str
        The contractions by what they make, in order of their execution.
    loops : mapping
        Per contraction its loops, outermost first.
    """

    tree: ContractionTree
    sequence: tuple[str, ...]
    loops: Mapping[str, tuple[str, ...]]

    @cached_property
    def modes(self) -> dict[str, tuple[int, ...]]:
        """Per given tensor its modes in the order of its levels, outermost first."""
        found = {}
        for c in self.tree.contractions:
            for access in c.operands:
                if access.tensor not in self.tree.by_name:
                    order = [x for x in self.loops[c.name] if x in access.indices]
                    found[access.tensor] = tuple(access.indices.index(x) for x in order)
        return found

    @cached_property
    def fused(self) -> dict[str, int]:
        """Per intermediate, how many outermost loops its producer shares with its consumer.

        What stands between the two shares them as well.
        """
        found = {}
        for access in self.tree.intermediates:
            first = self.sequence.index(access.tensor)
            last = self.sequence.index(self.tree.consumer[access.tensor].name)
            nests = [self.loops[name] for name in self.sequence[first : last + 1]]
            depth = 0
            for column in zip(*nests, strict=False):
                if len(set(column)) > 1 or column[0] not in access.indices:
                    break
                depth += 1
            found[access.tensor] = depth
        return found

    @cached_property
    def orders(self) -> dict[str, int]:
        """Per intermediate, the number of dimensions that its workspace has."""
        return {a.tensor: len(a.indices) - self.fused[a.tensor] for a in self.tree.intermediates}

    @cached_property
    def workspaces(self) -> dict[str, int]:
        """Per intermediate, the number of elements of its workspace."""
        sizes = {}
        for access in self.tree.intermediates:
            shared = self.loops[access.tensor][: self.fused[access.tensor]]
            size = 1
            for x in access.indices:
                size *= 1 if x in shared else self.tree.extents[x]
            sizes[access.tensor] = size
        return sizes

    def to_dict(self) -> SolutionData:
        """Plain data: loops, modes, and what becomes of the intermediates."""
        return {
            "sequence": list(self.sequence),
            "loops": {name: list(loops) for name, loops in self.loops.items()},
            "modes": {name: list(modes) for name, modes in self.modes.items()},
            "intermediates": {
                name: {"order": order, "elements": self.workspaces[name]}
                for name, order in self.orders.items()
            },
        }

    def __str__(self) -> str:
        return "\n".join(
            f"for {','.join(self.loops[name])}: {self.tree.by_name[name]}" for name in self.sequence
        )
