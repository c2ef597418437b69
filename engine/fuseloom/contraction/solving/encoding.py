"""The constraints on fused structures of a tree (CoNST §3.2).

Three kinds of integers say what a structure is: ``ap``, the place of a contraction among the
others; ``dp``, that of a mode among the levels of a given tensor; ``lp``, that of an index among
the loops of a contraction.  Each constraint carries its family and what it is about, so that
where nothing satisfies all of them, those can be named that forbid it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from itertools import combinations, permutations
from typing import Any

from fuseloom.contraction.solving.pins import Pin, PinKind
from fuseloom.contraction.solving.z3_module import load_z3
from fuseloom.contraction.tree import Contraction, ContractionTree
from fuseloom.errors import ProgramError
from fuseloom.program import Access

ELEMENT = 8
"""Bytes of an element of a workspace."""


class Encoding(Enum):
    """Which constraints there are."""

    PAPER = "paper"  # those of the paper's sections 3.2.1 to 3.2.5
    RELEASED = "released"  # as its authors' program has them, which counts as their Table 2 does


class ConstraintFamily(Enum):
    """The purpose of a constraint; the value is its name in explanations."""

    ASSIGNMENTS = "order of the contractions (3.2.1)"
    MODES = "a tensor's levels are a permutation of its modes (3.2.2)"
    LOOPS = "a contraction's loops are a permutation of its indices (3.2.3)"
    LAYOUT = "loops follow a tensor's levels (3.2.4)"
    PRODUCER = "outermost loops of the producer are indices of what it makes (3.2.5)"
    CONSUMER = "the consumer has the producer's outermost loops (3.2.5)"
    BETWEEN = "what stands between the two has them, too (3.2.5)"
    BYTES = "bytes of a workspace"
    EXTENTS = "larger modes are outer levels (released)"
    INNERMOST = "no summed index is innermost (released)"
    PIN = "as asked"


@dataclass(frozen=True)
class Constraint:
    """One constraint.

    Attributes
    ----------
    family : ConstraintFamily
    about : str
        The tensor or contraction.
    formula : Any
        Z3's.
    """

    family: ConstraintFamily
    about: str
    formula: Any


class Encoded:
    """Variables and constraints of a tree under bounds.

    Parameters
    ----------
    tree : ContractionTree
    bounds : mapping
        Per intermediate, the most dimensions that its workspace may have.
    most_bytes : int, optional
        The largest workspace in bytes.
    result_layout : bool
        Whether the loops must follow the result's levels, too, as where it is stored compressed.
    pins : sequence of Pin
        What the user asks for.

    Attributes
    ----------
    context : z3.Context
        The system's own, as which solution Z3 finds first depends on what a context held before.
    assignment, mode, loop : dict
        Z3's variables by contraction; by tensor and mode; by contraction and index.
    constraints : list of Constraint
    """

    def __init__(
        self,
        tree: ContractionTree,
        bounds: Mapping[str, int],
        *,
        encoding: Encoding = Encoding.PAPER,
        most_bytes: int | None = None,
        result_layout: bool = False,
        pins: Sequence[Pin] = (),
    ) -> None:
        self.z3 = load_z3()
        self.context = self.z3.Context()
        self.tree = tree
        self.bounds = bounds
        self.encoding = encoding
        integer = partial(self.z3.Int, ctx=self.context)
        named = tree.contractions
        self.assignment = {c.name: integer(f"ap[{c.name}]") for c in named}
        self.references = [
            (c, a) for c in named for a in c.operands if a.tensor not in tree.by_name
        ]
        if result_layout:
            self.references.append((named[-1], tree.result))
        ranks = {a.tensor: len(a.indices) for _, a in self.references}
        self.mode = {(t, m): integer(f"dp[{t},{m}]") for t, n in ranks.items() for m in range(n)}
        every = tree.indices if encoding is Encoding.RELEASED else ()
        self.loop = {
            (c.name, x): integer(f"lp[{c.name},{x}]")
            for c in named
            for x in dict.fromkeys((*c.indices, *every))
        }
        self.constraints: list[Constraint] = [
            *self._assignments(),
            *self._modes(ranks),
            *self._loops(),
            *self._layouts(),
            *self._fusion(),
        ]
        if encoding is Encoding.RELEASED:
            self.constraints += [*self._larger_outside(), *self._not_innermost()]
        if most_bytes is not None:
            self.constraints += self._bytes(most_bytes)
        for pin in pins:
            self.constraints.append(Constraint(ConstraintFamily.PIN, str(pin), self._pinned(pin)))

    @property
    def variables(self) -> int:
        """The number of variables."""
        return len(self.assignment) + len(self.mode) + len(self.loop)

    # The paper's families ------------------------------------------------------------------------

    def _assignments(self) -> Iterator[Constraint]:
        places = list(self.assignment.values())
        for name, place in self.assignment.items():
            yield self._within(ConstraintFamily.ASSIGNMENTS, name, place, len(places))
        if len(places) > 1:
            yield Constraint(ConstraintFamily.ASSIGNMENTS, "all", self.z3.Distinct(places))
        for made, reader in self.tree.consumer.items():
            before = self.assignment[made] < self.assignment[reader.name]
            yield Constraint(ConstraintFamily.ASSIGNMENTS, made, before)

    def _modes(self, ranks: Mapping[str, int]) -> Iterator[Constraint]:
        for tensor, rank in ranks.items():
            levels = [self.mode[tensor, m] for m in range(rank)]
            for level in levels:
                yield self._within(ConstraintFamily.MODES, tensor, level, rank)
            if rank > 1:
                yield Constraint(ConstraintFamily.MODES, tensor, self.z3.Distinct(levels))

    def _loops(self) -> Iterator[Constraint]:
        for c in self.tree.contractions:
            loops = [self.loop[c.name, x] for x in c.indices]
            for loop in loops:
                yield self._within(ConstraintFamily.LOOPS, c.name, loop, len(loops))
            if len(loops) > 1:
                yield Constraint(ConstraintFamily.LOOPS, c.name, self.z3.Distinct(loops))

    def _layouts(self) -> Iterator[Constraint]:
        for c, access in self.references:
            pairs = combinations if self.encoding is Encoding.RELEASED else permutations
            for m, n in pairs(range(len(access.indices)), 2):
                levels = self.mode[access.tensor, m] < self.mode[access.tensor, n]
                i, j = access.indices[m], access.indices[n]
                loops = self.loop[c.name, i] < self.loop[c.name, j]
                same = levels == loops if pairs is combinations else self.z3.Implies(levels, loops)
                yield Constraint(ConstraintFamily.LAYOUT, f"{access.tensor} in {c.name}", same)

    def _fusion(self) -> Iterator[Constraint]:
        for access in self.tree.intermediates:
            consumer = self.tree.consumer[access.tensor]
            for place in range(len(access.indices) - self.bounds[access.tensor]):
                at = {x: self.loop[access.tensor, x] == place for x in access.indices}
                first = self.z3.Or(list(at.values()))
                yield Constraint(ConstraintFamily.PRODUCER, access.tensor, first)
                alike = [self._alike(at[x], consumer, x, place) for x in access.indices]
                yield from self._each(ConstraintFamily.CONSUMER, access.tensor, alike)
            for c in self.tree.contractions:
                if c.name in (access.tensor, consumer.name):
                    continue
                yield from self._between(access, consumer, c)

    def _between(
        self, access: Access, consumer: Contraction, c: Contraction
    ) -> Iterator[Constraint]:
        alike = [
            self._if_between(
                access, consumer, c, self._alike(self.loop[access.tensor, x] == n, c, x, n)
            )
            for n in range(len(access.indices) - self.bounds[access.tensor])
            for x in access.indices
        ]
        about = f"{c.name} between {access.tensor} and {consumer.name}"
        yield from self._each(ConstraintFamily.BETWEEN, about, alike)

    def _if_between(
        self, access: Access, consumer: Contraction, c: Contraction, formula: Any
    ) -> Any:
        """Return a formula that holds if a contraction lies between an intermediate's two ends."""
        place = self.assignment
        between = self.z3.And(
            place[access.tensor] < place[c.name], place[c.name] < place[consumer.name]
        )
        return self.z3.Implies(between, formula)

    def _alike(self, given: Any, c: Contraction, index: str, place: int) -> Any:
        """Return the constraint that puts a contraction's loop at a place under a condition."""
        there = self.loop[c.name, index] == place if index in c.indices else False
        return self.z3.Implies(given, there)

    def _each(
        self, family: ConstraintFamily, about: str, formulas: list[Any]
    ) -> Iterator[Constraint]:
        """The formulas one by one; the released program states them as one."""
        if self.encoding is Encoding.RELEASED:
            formulas = [self.z3.And(formulas)] if formulas else []
        for formula in formulas:
            yield Constraint(family, about, formula)

    def _within(self, family: ConstraintFamily, about: str, variable: Any, end: int) -> Constraint:
        return Constraint(family, about, self.z3.And(variable >= 0, variable < end))

    # The released program's ----------------------------------------------------------------------

    def _larger_outside(self) -> Iterator[Constraint]:
        extents = self.tree.extents
        for _, access in self.references:
            for m, n in permutations(range(len(access.indices)), 2):
                if extents[access.indices[m]] > extents[access.indices[n]]:
                    outer = self.mode[access.tensor, m] < self.mode[access.tensor, n]
                    yield Constraint(ConstraintFamily.EXTENTS, access.tensor, outer)

    def _not_innermost(self) -> Iterator[Constraint]:
        for c in self.tree.contractions:
            summed = [x for x in c.indices if x not in c.out.indices]
            if summed and len(summed) < len(c.indices):
                last = len(c.indices) - 1
                inner = self.z3.And([self.loop[c.name, x] != last for x in summed])
                yield Constraint(ConstraintFamily.INNERMOST, c.name, inner)

    # Ours ----------------------------------------------------------------------------------------

    def _bytes(self, most: int) -> Iterator[Constraint]:
        """Workspaces of at most so many bytes: some set of indices is fused that leaves as few."""
        for access in self.tree.intermediates:
            enough: list[tuple[str, ...]] = []
            for count in range(len(access.indices) + 1):
                for chosen in combinations(access.indices, count):
                    if any(set(fewer) <= set(chosen) for fewer in enough):
                        continue
                    size = ELEMENT
                    for x in access.indices:
                        size *= 1 if x in chosen else self.tree.extents[x]
                    if size <= most:
                        enough.append(chosen)
            ways = [self._fused(access, chosen) for chosen in enough]
            yield Constraint(ConstraintFamily.BYTES, access.tensor, self.z3.Or(*ways, self.context))

    def _fused(self, access: Access, chosen: Sequence[str]) -> Any:
        """These indices are the outermost loops of producer, consumer and all between."""
        consumer = self.tree.consumer[access.tensor]
        parts = []
        for x in chosen:
            own = self.loop[access.tensor, x]
            parts += [own < len(chosen), self.loop[consumer.name, x] == own]
            for c in self.tree.contractions:
                if c.name not in (access.tensor, consumer.name):
                    same = self.loop[c.name, x] == own if x in c.indices else False
                    parts.append(self._if_between(access, consumer, c, same))
        return self.z3.And(*parts, self.context)

    def _pinned(self, pin: Pin) -> Any:
        order = pin.order
        if pin.kind is PinKind.LAYOUT:
            for _, access in self.references:
                if access.tensor == pin.subject:
                    _permutation(pin, access.indices)
                    at = [self.mode[access.tensor, access.indices.index(x)] for x in order]
                    return self.z3.And([level == n for n, level in enumerate(at)])
            raise ProgramError(f"{pin}: no given tensor is called {pin.subject}")
        if pin.kind is PinKind.OUTERMOST:
            (index,) = order
            having = [c for c in self.tree.contractions if index in c.indices]
            if not having:
                raise ProgramError(f"{pin}: no loop is called {index}")
            return self.z3.And([self.loop[c.name, index] == 0 for c in having])
        if pin.subject not in self.tree.by_name:
            known = ", ".join(self.tree.by_name)
            raise ProgramError(f"{pin}: no contraction makes {pin.subject}", hint=f"known: {known}")
        _permutation(pin, self.tree.by_name[pin.subject].indices)
        loops = [self.loop[pin.subject, x] for x in order]
        return self.z3.And([loop == n for n, loop in enumerate(loops)])


def _permutation(pin: Pin, indices: Sequence[str]) -> None:
    if sorted(pin.order) != sorted(indices):
        raise ProgramError(
            f"{pin}: its indices are {', '.join(indices)}", hint="name each of them once"
        )
