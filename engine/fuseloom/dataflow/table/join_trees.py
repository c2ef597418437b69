"""Trees of joins: what is scanned, intersected and united, and where each of it is present."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from fuseloom.dataflow.fusion.nests import Placed, PlacedLeaf
from fuseloom.dataflow.table.monotone import Formula, Implications, given, joined

MAX_DEPTH = 100
"""Intersections and unions within one another on one level."""


# Trees compare their atoms all the time: those of one ``Joins`` are one object each.


@dataclass(frozen=True, eq=False)
class ScanAtom:
    """The level of a stored tensor, as one consumer scans it (``Joins.scan``)."""

    leaf: PlacedLeaf
    consumer: Placed
    index: str


@dataclass(frozen=True, eq=False)
class AccAtom:
    """A level emitted by the accumulator (or cut) of an instance (``Joins.emitted``)."""

    placed: Placed
    index: str


@dataclass(frozen=True)
class DenseAtom:
    """Every coordinate of an index: an operand broadcast over it in dense mode."""

    index: str
    size: int


@dataclass(frozen=True, eq=False)
class Combine:
    """Several subtrees joined; ``gate`` > 0: empty when the first ``gate`` children are."""

    union: bool
    children: tuple[Tree, ...]
    gate: int = 0

    # Written out, for trees share parts, and those are looked at once.
    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Combine)
            and self._hash == other._hash
            and (self.union, self.gate) == (other.union, other.gate)
            and self.children == other.children
        )

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.union, self.children, self.gate))

    @cached_property
    def depth(self) -> int:
        """The number of joins that are nested."""
        return 1 + max((depth(child) for child in self.children), default=0)

    @cached_property
    def atoms(self) -> tuple[Atom, ...]:
        return tuple(dict.fromkeys(a for child in self.children for a in atoms(child)))

    @cached_property
    def formula(self) -> Formula:
        return joined(self.union, (formula(child) for child in self.children))

    @cached_property
    def ambiguous(self) -> tuple[ScanAtom | AccAtom, ...]:
        return _ambiguous(self, ambiguous_atoms)

    @cached_property
    def implications(self) -> dict[tuple[Tree, Callable[[Atom], bool] | None], bool]:
        """The cached results of :func:`implies`."""
        return {}

    @cached_property
    def presences(self) -> dict[Atom, Tree | None]:
        """The cached results of :func:`presence`, which is called again and again."""
        return {}

    @cached_property
    def gated(self) -> bool:
        """True if the tree is or contains a union with a gate (:attr:`gate`)."""
        return bool(self.gate) or any(
            isinstance(c, Combine) and c.gated
            for c in (x.child if isinstance(x, Shift) else x for x in self.children)
        )

    @cached_property
    def gates(self) -> frozenset[Tree]:
        """The subtrees of which one must have elements in a fiber, or the union has none."""
        gates: set[Tree] = set()
        for child in self.children[: self.gate]:
            gates |= child.gates if isinstance(child, Combine) and child.gate else {child}
        return frozenset(gates)


@dataclass(frozen=True)
class Shift:
    """An operand of a concat: its coordinates, counted from an offset."""

    child: Tree
    offset: int
    size: int


Tree = ScanAtom | AccAtom | DenseAtom | Combine | Shift


Atom = ScanAtom | AccAtom | DenseAtom


def combine(union: bool, children: list[Tree]) -> Tree:
    """Join subtrees: equal ones count once, the same operator is flattened."""
    flat: list[Tree] = []
    for child in children:
        parts = (
            child.children
            if isinstance(child, Combine) and child.union is union and not child.gate
            else (child,)
        )
        flat.extend(p for p in parts if p not in flat)
    return flat[0] if len(flat) == 1 else Combine(union, tuple(flat))


def atoms(tree: Tree) -> tuple[Atom, ...]:
    """The leaves of a tree, each once, from left to right."""
    if isinstance(tree, Shift):
        return atoms(tree.child)
    return tree.atoms if isinstance(tree, Combine) else (tree,)


def depth(tree: Tree) -> int:
    """Return the number of nested joins of a tree."""
    if isinstance(tree, Shift):
        return depth(tree.child)
    return tree.depth if isinstance(tree, Combine) else 0


def formula(tree: Tree) -> Formula:
    """Return the condition, on the atoms, that the tree has a coordinate.

    A coordinate means an element: an operand of a concat has it or not, wherever it is put.
    """
    if isinstance(tree, Shift):
        return formula(tree.child)
    return tree.formula if isinstance(tree, Combine) else tree


def implies(a: Tree, b: Tree, always: Callable[[Atom], bool] | None = None) -> bool:
    """Return whether ``a``'s coordinates are among ``b``'s for any data (False if unsure).

    ``always`` tells which atoms have every coordinate; dense ranges by default.
    """
    if a == b:
        return True
    if not isinstance(a, Combine):
        return _implies(a, b, always)
    if (b, always) not in a.implications:
        a.implications[b, always] = _implies(a, b, always)
    return a.implications[b, always]


def _implies(a: Tree, b: Tree, always: Callable[[Atom], bool] | None) -> bool:
    always = always or (lambda atom: isinstance(atom, DenseAtom))
    full = frozenset(x for x in {*atoms(a), *atoms(b)} if always(x))
    have, want = (given(formula(tree), full, frozenset()) for tree in (a, b))
    return Implications().implies(have, want)


def presence(tree: Tree, atom: Atom) -> Tree | None:
    """When the atom's payload rides on the tree's stream; None if the tree lacks the atom."""
    if isinstance(tree, Shift):
        return presence(tree.child, atom)
    if not isinstance(tree, Combine):
        return tree if tree == atom else None
    if atom not in tree.presences:
        tree.presences[atom] = _presence(tree, atom)
    return tree.presences[atom]


def _presence(tree: Combine, atom: Atom) -> Tree | None:
    places = _places(tree, atom)
    if not places:
        return None
    k = carrier(tree, atom)
    mine = dict(places)[k]
    if tree.union:
        return mine
    return combine(False, [mine, *(c for j, c in enumerate(tree.children) if j != k)])


def carrier(tree: Combine, atom: Atom, always: Callable[[Atom], bool] | None = None) -> int:
    """The child from which the atom's payload is taken: the one that has it most often.

    What ``always`` knows is asked only where the children alone leave it open.
    """
    places = _places(tree, atom)
    for known in (None, always) if always else (None,):
        if (best := _most_often(tree, places, known)) is not None:
            return best
    return places[0][0]


def _places(tree: Combine, atom: Atom) -> list[tuple[int, Tree]]:
    """The children that carry an atom's payload, and when each of them has it."""
    return [(k, p) for k, c in enumerate(tree.children) if (p := presence(c, atom)) is not None]


def _most_often(
    tree: Combine, places: list[tuple[int, Tree]], always: Callable[[Atom], bool] | None
) -> int | None:
    """The child that has a payload wherever another has it, among the tree's coordinates."""
    for k, mine in places:
        others = [p for j, p in places if j != k and p != mine]
        if not tree.union:
            others = [combine(False, [p, *tree.children]) for p in others]
        if all(implies(other, mine, always) for other in others):
            return k
    return None


def ambiguous_atoms(
    tree: Tree, always: Callable[[Atom], bool] | None = None
) -> tuple[ScanAtom | AccAtom, ...]:
    """Atoms that several subtrees carry, none of them wherever another does."""
    if isinstance(tree, Shift):
        return ambiguous_atoms(tree.child, always)
    if not isinstance(tree, Combine):
        return ()
    if always is None:
        return tree.ambiguous
    found: dict[int, tuple[ScanAtom | AccAtom, ...]] = {}

    def inside(tree: Tree) -> tuple[ScanAtom | AccAtom, ...]:
        if isinstance(tree, Shift):
            return inside(tree.child)
        if not isinstance(tree, Combine):
            return ()
        if id(tree) not in found:
            found[id(tree)] = _ambiguous(tree, inside, always)
        return found[id(tree)]

    return inside(tree)


def _ambiguous(
    tree: Combine,
    inside: Callable[[Tree], tuple[ScanAtom | AccAtom, ...]],
    always: Callable[[Atom], bool] | None = None,
) -> tuple[ScanAtom | AccAtom, ...]:
    bad = [a for child in tree.children for a in inside(child)]
    carried = Counter(a for c in tree.children for a in atoms(c))
    for atom, times in carried.items():
        if times == 1 or isinstance(atom, DenseAtom):
            continue
        if _most_often(tree, _places(tree, atom), always) is None:
            bad.append(atom)
    return tuple(dict.fromkeys(bad))


Guards = frozenset[frozenset[Tree]]
"""Sets of subtrees; of each set one must have elements in the fiber at hand."""


def differently_guarded(tree: Tree, full: Callable[[Tree], bool]) -> tuple[ScanAtom | AccAtom, ...]:
    """Atoms that one subtree carries in fewer fibers than another, as gates ask for.

    The payload of such an atom would be there for every reader where it is for one of them.
    ``full`` tells which subtrees have elements in every fiber, so that a gate of them is none.
    """
    looked: dict[int, tuple[dict[Atom, Guards], Guards]] = {}
    differing: dict[Atom, None] = {}

    def look(tree: Tree) -> tuple[dict[Atom, Guards], Guards]:
        """The guards of each atom, and those that hold wherever the tree has a coordinate."""
        if isinstance(tree, Shift):
            return look(tree.child)
        if not isinstance(tree, Combine):
            return {tree: frozenset()}, frozenset()
        if id(tree) not in looked:
            looked[id(tree)] = inside(tree)
        return looked[id(tree)]

    def inside(tree: Combine) -> tuple[dict[Atom, Guards], Guards]:
        own: Guards = frozenset()
        if tree.gate and not any(map(full, tree.gates)):
            own = frozenset((tree.gates,))
        below = [look(child) for child in tree.children]
        always = [required for _, required in below]
        if tree.union:
            holds = own | frozenset.intersection(*always)
        else:
            holds = frozenset[frozenset[Tree]]().union(*always)
        merged: dict[Atom, Guards] = {}
        for k, (guards, _) in enumerate(below):
            more = own if k >= tree.gate else frozenset()
            for atom, found in guards.items():
                found = found | more | (frozenset() if tree.union else holds)
                if merged.setdefault(atom, found) != found:
                    differing[atom] = None
        return merged, holds

    if isinstance(tree, Combine) and tree.gated:
        look(tree)
    return tuple(atom for atom in differing if not isinstance(atom, DenseAtom))
