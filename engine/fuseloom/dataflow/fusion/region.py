"""A fused region: its views, its constraints, its orders."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

from fuseloom.dataflow.fusion.pog import Changes, PartialOrderGraph
from fuseloom.dataflow.fusion.repair import Repaired
from fuseloom.dataflow.fusion.views import Instance, Leaf, View, instances, view_names, walk
from fuseloom.display.shows import Shows
from fuseloom.program.late_fields import LateFields
from fuseloom.program.printer import statement_text
from fuseloom.program.types import Access, Program, Statement
from fuseloom.wording import counted, described

JSON_VERSION = 1


@dataclass(frozen=True)
class RegionOptions:
    """The options for lowering a region.

    Attributes
    ----------
    locate : bool
        Look dense levels up at the coordinates of sparse ones, where that is right.
    repeat_references : bool
        Repeat an operand's references over indices it lacks, and load each time.
    lanes : tuple of (str, int)
        Indices to deal to lanes and how many, outer ones first.
    looked_up, scanned : frozenset of (view, index)
        Levels that are looked up, or scanned, whatever holds for the others.
    """

    locate: bool = True
    repeat_references: bool = False
    lanes: tuple[tuple[str, int], ...] = ()
    looked_up: frozenset[tuple[str, str]] = frozenset()
    scanned: frozenset[tuple[str, str]] = frozenset()

    def with_level(self, view: str, index: str, on: bool) -> RegionOptions:
        """The same, with one level looked up or scanned."""
        level = {(view, index)}
        return replace(
            self,
            looked_up=self.looked_up | level if on else self.looked_up - level,
            scanned=self.scanned - level if on else self.scanned | level,
        )


@dataclass(frozen=True)
class FusedRegion(LateFields, Shows, html="fuseloom.dataflow.fusion.display:region_html"):
    """Consecutive statements fused across kernel boundaries.

    Attributes
    ----------
    roots : tuple of Instance
        The view of each output.
    extents : dict
        Size of each index variable.
    chosen : tuple of str or None
        The order the schedule asks for; None leaves the first legal one.
    changes : Changes
        Permuted copies, view permutations and dropped wishes, asked for or needed.
    repairs : tuple of Repaired
        Cycles of constraints that had to be broken, and how.
    """

    program: Program
    name: str
    statements: tuple[Statement, ...]
    outputs: tuple[str, ...]
    roots: tuple[Instance, ...]
    extents: dict[str, int]
    pog: PartialOrderGraph
    chosen: tuple[str, ...] | None = None
    changes: Changes = field(default_factory=Changes)
    repairs: tuple[Repaired, ...] = field(default_factory=tuple)
    options: RegionOptions = field(default_factory=RegionOptions)

    def __repr__(self) -> str:
        return described(
            self,
            f"{self.name}: {counted(len(self.statements), 'statement')}, "
            f"outputs {', '.join(self.outputs)}",
        )

    @property
    def indices(self) -> tuple[str, ...]:
        return self.pog.indices

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """Tensors the region reads from memory."""
        names = (v.tensor for v in walk(*self.roots) if isinstance(v, Leaf))
        return tuple(dict.fromkeys(names))

    @cached_property
    def views(self) -> dict[str, View]:
        """Leaves and instances by name: the tensor's, with primes for further uses."""
        return view_names(self.roots)

    @property
    def copies(self) -> tuple[Leaf, ...]:
        """Inputs that are stored a second time, in another mode order."""
        found = (self.views[name] for name in self.changes.copies)
        return tuple(view for view in found if isinstance(view, Leaf))

    def orders(self, limit: int | None = None) -> Iterator[tuple[str, ...]]:
        """Yield legal orders: first those in which every statement runs as it reads."""
        natural = self.natural

        def both() -> Iterator[tuple[str, ...]]:
            yield from natural.orders()
            place: dict[str, int]
            for order in self.pog.orders():
                place = {x: k for k, x in enumerate(order)}
                if any(place[e.outer] > place[e.inner] for e in natural.edges):
                    yield order

        yield from islice(both(), limit)

    @cached_property
    def natural(self) -> PartialOrderGraph:
        """The constraints, and that every statement runs as it reads where they allow it.

        A statement reads its indices in order of first appearance, operands first, so that
        ``T[i,j] = A[i,k] * X[k,j]`` runs i, k, j unless something speaks against it.  Where that
        leaves a choice, what a statement reads is complete before it goes deeper, so that a
        maximum over m' is not taken again for each m of ``d[i,m] = S[i,m] - x[i]``.
        """
        chains = []
        for view in instances(*self.roots):
            rename = dict(view.renaming)
            chains.append([rename[x] for x in view.statement.indices])
        for view in instances(*self.roots):
            for operand in (v for v in view.operands if isinstance(v, Instance)):
                foreign = [x for x in view.local if x not in operand.local]
                chains += [[x, y] for x in operand.local for y in foreign]
        return self.pog.preferring(chains)

    def default_order(self) -> tuple[str, ...]:
        """The order the schedule asks for, else the first of :meth:`orders`."""
        return self.chosen or next(self.orders())

    def verify(self) -> None:
        """Check that the constraints can be satisfied, and by the chosen order if there is one.

        Raises
        ------
        OrderError
            Naming the edges at fault.
        """
        self.pog.verify()
        if self.chosen is not None:
            self.pog.check(self.chosen)

    def to_json(self) -> str:
        """Versioned JSON: statements, index variables and the edges of the POG with reasons."""
        return json.dumps(
            {
                "fuseloom": "region",
                "version": JSON_VERSION,
                "name": self.name,
                "outputs": self.outputs,
                "inputs": self.inputs,
                "views": [str(view) for view in walk(*self.roots)],
                "indices": [{"name": x, "size": self.extents[x]} for x in self.indices],
                "edges": [
                    {
                        "outer": edge.outer,
                        "inner": edge.inner,
                        "hard": edge.hard,
                        "origin": edge.origin.value,
                        "reason": edge.reason,
                    }
                    for edge in self.pog.edges
                ],
                "orders": self.pog.count(),
                "chosen": self.chosen,
                "repairs": [str(repair) for repair in self.repairs],
            }
        )

    def __str__(self) -> str:
        lines = [f"region {self.name} -> {', '.join(self.outputs)}"]
        for view in instances(*self.roots):
            over = f"  over {','.join(view.reduced)}" if view.reduced else ""
            lines.append(f"  {_text(view)}{over}")
        lines += [f"  {edge}" for edge in self.pog.edges]
        lines += [f"  {repair}" for repair in self.repairs]
        return "\n".join(lines)


def _text(view: Instance) -> str:
    """The statement of an instance in the region's index names."""
    operands = tuple(Access(v.tensor, v.indices) for v in view.operands)
    out = Access(view.tensor, view.indices)
    axis = dict(view.renaming).get(view.statement.axis or "")
    statement = replace(view.statement, out=out, operands=operands, axis=axis)
    return statement_text(statement)
