"""Join expressions: which coordinates a level iterates (``docs/spec/fusion.md`` §3.2, J1, J2).

A tree's leaves are scans of stored levels, levels emitted by accumulators, and dense ranges;
its inner nodes intersect (products) or unite (sums).
"""

from __future__ import annotations

from fuseloom.dataflow.fusion.nests import Placed, PlacedLeaf, PlacedView, walk_placed
from fuseloom.dataflow.table.join_trees import (
    MAX_DEPTH,
    AccAtom,
    Atom,
    Combine,
    DenseAtom,
    ScanAtom,
    Shift,
    Tree,
    combine,
    depth,
)
from fuseloom.errors import LoweringError
from fuseloom.program.formats import LevelFormat
from fuseloom.program.stored_views import view_format
from fuseloom.program.tile_arrays import grid_shape
from fuseloom.program.types import BroadcastAdd, Program
from fuseloom.program.walks import postorder


class Joins:
    """Join trees of one output's placed views under one order."""

    def __init__(self, program: Program, root: Placed, order: tuple[str, ...]) -> None:
        self.program = program
        self.root = root
        self.rank = {x: k for k, x in enumerate(order)}
        self.placed = walk_placed([root])
        self._owners: dict[tuple[str, ...], Placed | None] = {}
        self._trees: dict[tuple[int, str], Tree] = {}
        self._scans: dict[tuple[int, int, str], ScanAtom] = {}
        self._emitted: dict[tuple[int, str], AccAtom] = {}
        self._formats: dict[int, tuple[LevelFormat, ...]] = {}

    def jin(self, placed: Placed, index: str) -> Tree:
        """Coordinates at which ``placed`` computes (J1)."""
        key = (id(placed), index)
        if key not in self._trees:
            # Operands first, so that no call goes deeper than one statement.
            for part in postorder([placed], lambda p: self._hoisted(p, index)):
                tree = self._jin(part, index)
                if depth(tree) > MAX_DEPTH:
                    raise LoweringError(
                        f"{part.tensor} iterates {index} under more than {MAX_DEPTH} joins, "
                        "each within the next",
                        hint="fuse fewer statements",
                    )
                self._trees[id(part), index] = tree
        return self._trees[key]

    def _hoisted(self, placed: Placed, index: str) -> list[Placed]:
        """Operands whose joins at an index become their reader's, as far as not known yet."""
        return [
            v
            for v in placed.operands
            if isinstance(v, Placed)
            and index in v.indices
            and (id(v), index) not in self._trees
            and not self._emits(v, index)
        ]

    def _jin(self, placed: Placed, index: str) -> Tree:
        op = placed.view.statement.op
        full = [v for v in placed.operands if index in v.indices]
        children = [self.jout(v, placed, index) for v in full]
        axis = placed.view.statement.axis
        if axis is not None and index == dict(placed.view.renaming)[axis]:
            return combine(True, self._shifted(placed, children, index))
        if not op.joins_by_union:
            return combine(False, children)
        if self.program.broadcast_add is BroadcastAdd.DENSE:
            if len(full) < len(placed.operands):
                children.append(DenseAtom(index, self._size(full[0], index)))
            return combine(True, children)
        gates = [k for k, v in enumerate(full) if self._gates(placed, v, full, index)]
        if gates and len(gates) < len(full):
            first = [children[k] for k in gates]
            rest = [c for k, c in enumerate(children) if k not in gates]
            return Combine(True, (*first, *rest), gate=len(first))
        return combine(True, children)

    def _gates(
        self, placed: Placed, operand: PlacedView, full: list[PlacedView], index: str
    ) -> bool:
        """Rows of a sparse broadcast exist only where the operand with all indices has them."""
        before = [x for x in placed.view.local if self.rank[x] < self.rank[index]]
        lacking = [x for x in before if any(x not in v.indices for v in full)]
        return bool(lacking) and all(x in operand.indices for x in lacking)

    def _shifted(self, placed: Placed, children: list[Tree], index: str) -> list[Tree]:
        """The operands of a concat, each behind the ones before it."""
        sizes = [self._size(v, index) for v in placed.operands]
        return [Shift(child, sum(sizes[:k]), sum(sizes)) for k, child in enumerate(children)]

    def _size(self, view: PlacedView, index: str) -> int:
        return grid_shape(self.program.tensor(view.tensor))[view.indices.index(index)]

    def jout(self, view: PlacedView, consumer: Placed, index: str) -> Tree:
        """Coordinates of an operand as its consumer sees them (J2)."""
        if isinstance(view, PlacedLeaf):
            return self.scan(view, consumer, index)
        return self.emitted(view, index) if self._emits(view, index) else self.jin(view, index)

    def scan(self, leaf: PlacedLeaf, consumer: Placed, index: str) -> ScanAtom:
        """The level of a leaf as a consumer scans it."""
        key = id(leaf), id(consumer), index
        if key not in self._scans:
            self._scans[key] = ScanAtom(leaf, consumer, index)
        return self._scans[key]

    def emitted(self, placed: Placed, index: str) -> AccAtom:
        """The level that an instance's accumulator emits."""
        key = id(placed), index
        if key not in self._emitted:
            self._emitted[key] = AccAtom(placed, index)
        return self._emitted[key]

    def _emits(self, placed: Placed, index: str) -> bool:
        """Return whether an accumulator emits the level of an index."""
        return any(self.rank[r] < self.rank[index] for r in placed.reduced)

    def needed(self, placed: Placed) -> int | None:
        """The operand of a sparse broadcast that decides where the sum has elements.

        An operand that lacks the innermost index is repeated over it, so its being there does
        not make an element.  Nor does that of one that lacks an index further out, where a level
        has rows of other operations, too, and the operand with all indices fills its own.
        """
        op = placed.view.statement.op
        if not op.joins_by_union or self.program.broadcast_add is BroadcastAdd.DENSE:
            return None
        if not placed.view.local:
            return None
        innermost = max(placed.view.local, key=self.rank.__getitem__)
        having = [k for k, v in enumerate(placed.operands) if innermost in v.indices]
        if len(having) < len(placed.operands):
            return having[0]
        tree = self.tree(self.prefix(placed, innermost))
        return None if tree == self.jin(placed, innermost) else self._filled(placed)

    def _filled(self, placed: Placed) -> int | None:
        """The operand with all indices that has every element of each row that it has."""
        local = set(placed.view.local)
        lacking = {x for x in local if any(x not in v.indices for v in placed.operands)}
        inside = max((self.rank[x] for x in lacking), default=len(self.rank))
        inner = [x for x in local if self.rank[x] > inside]
        for k, operand in enumerate(placed.operands):
            trees = [self.jout(operand, placed, x) for x in inner if x in operand.indices]
            if local <= set(operand.indices) and all(map(self._dense, trees)):
                return k if inner else None
        return None

    def _dense(self, tree: Tree) -> bool:
        """Return whether a tree is a dense level, which has all of each row that is entered."""
        if not isinstance(tree, ScanAtom) or tree.leaf.leaf.shifts:
            return False
        stored = sorted(tree.leaf.indices, key=self.rank.__getitem__)
        return self.formats(tree.leaf)[stored.index(tree.index)] is LevelFormat.DENSE

    def always(self, atom: Atom) -> bool:
        """Return whether an atom has every coordinate: a dense range, or a dense outermost level.

        Below other levels a dense level may be entered by the empty reference.
        """
        if not isinstance(atom, ScanAtom):
            return isinstance(atom, DenseAtom)
        if atom.leaf.leaf.shifts:
            return False  # only among the coordinates of its own operand of a concat
        outermost = min(atom.leaf.indices, key=self.rank.__getitem__)
        return atom.index == outermost and self.formats(atom.leaf)[0] is LevelFormat.DENSE

    def full(self, tree: Tree) -> bool:
        """Return whether a tree has every coordinate in every fiber, as far as is known.

        A leaf whose levels are all dense has, wherever it is entered.
        """
        if not isinstance(tree, ScanAtom):
            return isinstance(tree, DenseAtom)
        dense = all(level is LevelFormat.DENSE for level in self.formats(tree.leaf))
        return dense and not tree.leaf.leaf.shifts

    def formats(self, leaf: PlacedLeaf) -> tuple[LevelFormat, ...]:
        """Level formats of a leaf, in the mode order in which it is traversed."""
        if id(leaf) not in self._formats:
            tensor = self.program.tensor(leaf.tensor)
            stored = sorted(range(tensor.rank), key=lambda m: self.rank[leaf.indices[m]])
            self._formats[id(leaf)] = view_format(tensor, stored).levels
        return self._formats[id(leaf)]

    def prefix(self, placed: Placed, index: str) -> tuple[str, ...]:
        return placed.nest[: placed.nest.index(index) + 1]

    def owner(self, prefix: tuple[str, ...]) -> Placed | None:
        """The outermost operation that iterates exactly this prefix."""
        if prefix not in self._owners:
            readers = (
                p
                for p in reversed(self.placed)
                if p.nest[: len(prefix)] == prefix and prefix[-1] in p.read
            )
            self._owners[prefix] = next(readers, None)
        return self._owners[prefix]

    def tree(self, prefix: tuple[str, ...]) -> Tree:
        """The level stream of a nest prefix; the root's own result where nothing reads it."""
        owner = self.owner(prefix)
        if owner is None:
            return self.emitted(self.root, prefix[-1])
        return self.jin(owner, prefix[-1])
