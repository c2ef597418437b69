"""What may be empty: fibers that can hold nothing, values that can be absent.

Decides where droppers, guides and gates are needed (``fusion.md`` §3.6, §8 Q1).  Answers are
conservative: "may be" is always right, "never" is a promise.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.dataflow.fusion.nests import Placed, PlacedLeaf, PlacedView
from engine.dataflow.fusion.views import Cut
from engine.dataflow.table.joins import (
    AccAtom,
    Atom,
    Combine,
    DenseAtom,
    Joins,
    ScanAtom,
    Shift,
    Tree,
    atoms,
    implies,
    presence,
)
from engine.dataflow.table.monotone import NOTHING, TRUE, Formula, Implications, given, joined
from engine.program.formats import LevelFormat

Prefix = tuple[str, ...]


@dataclass(frozen=True)
class Carried:
    """That an atom has the coordinate at hand on a level's stream."""

    prefix: Prefix
    atom: Atom


@dataclass(frozen=True)
class Folded:
    """That a reducer had a value to fold."""

    placed: Placed


class Emptiness:
    """Answers for one output's placed views."""

    def __init__(self, joins: Joins) -> None:
        self.joins = joins
        self._empty: dict[Prefix, bool] = {}
        self._absent: dict[int, bool] = {}
        self._null: dict[ScanAtom, bool] = {}

    def level(self, prefix: Prefix) -> bool:
        """Whether fibers of this level may be empty."""
        if prefix not in self._empty:
            self._empty[prefix] = self.tree(self.joins.tree(prefix), prefix)
        return self._empty[prefix]

    def tree(self, tree: Tree, prefix: Prefix) -> bool:
        """Whether fibers of a join tree at a prefix may be empty."""
        match tree:
            case DenseAtom():
                return False
            case Shift(child=child):
                return self.tree(child, prefix)
            case ScanAtom():
                return self._scan(tree)
            case AccAtom():
                return self._accumulated(tree)
            case Combine(union=True, gate=gate):
                deciding = tree.children[:gate] if gate else tree.children
                return all(self.tree(child, prefix) for child in deciding)
            case Combine():
                sparse = [c for c in tree.children if not self._is_dense(c)]
                if len(sparse) > 1:
                    return True
                return any(self.tree(child, prefix) for child in tree.children)

    def _is_dense(self, tree: Tree) -> bool:
        return isinstance(tree, DenseAtom) or (
            isinstance(tree, ScanAtom) and self.level_format(tree) is LevelFormat.DENSE
        )

    def position(self, atom: ScanAtom) -> int:
        """The storage level of a scan."""
        order = sorted(atom.leaf.indices, key=self.joins.rank.__getitem__)
        return order.index(atom.index)

    def level_format(self, atom: ScanAtom) -> LevelFormat:
        return self.joins.formats(atom.leaf)[self.position(atom)]

    def null(self, atom: ScanAtom) -> bool:
        """Whether a scan may be entered by the empty reference."""
        if atom not in self._null:
            self._null[atom] = self._null_now(atom)
        return self._null[atom]

    def _null_now(self, atom: ScanAtom) -> bool:
        at = self.position(atom)
        if not at:
            return False
        order = sorted(atom.leaf.indices, key=self.joins.rank.__getitem__)
        above = ScanAtom(atom.leaf, atom.consumer, order[at - 1])
        tree = self.joins.tree(self.joins.prefix(atom.consumer, order[at - 1]))
        return not implies(tree, presence(tree, above) or above, self.always)

    def always(self, atom: Atom) -> bool:
        """Whether an atom has every coordinate: a dense range, or a dense level always entered.

        Finer than ``Joins.always``, which knows of outermost levels only.
        """
        if not isinstance(atom, ScanAtom):
            return isinstance(atom, DenseAtom)
        if atom.leaf.leaf.shifts:
            return False
        return self.level_format(atom) is LevelFormat.DENSE and not self.null(atom)

    def _scan(self, atom: ScanAtom) -> bool:
        at = self.position(atom)
        null = self.null(atom)
        if self.level_format(atom) is not LevelFormat.COMPRESSED:
            return null  # a dense level has every coordinate, a singleton exactly one
        levels = self.joins.formats(atom.leaf)
        return at == 0 or levels[at - 1] is LevelFormat.DENSE or null

    def _accumulated(self, atom: AccAtom) -> bool:
        placed = atom.placed
        at = placed.outer_nest.index(atom.index)
        above = placed.outer_nest[:at]
        outermost = min(placed.nest.index(r) for r in placed.reduced)
        if above and placed.nest.index(above[-1]) > outermost:
            # A coordinate that the accumulator emits has something inside; one that the level
            # outside got from another operand has not.
            tree = self.joins.tree(above)
            outer = AccAtom(placed, above[-1])
            return not implies(tree, presence(tree, outer) or outer, self.always)
        inner = placed.nest
        if isinstance(placed.view, Cut):
            inner = placed.nest[:-1]
        depths = [k for k, x in enumerate(inner) if x in placed.reduced]
        levels = [inner[: k + 1] for k in range(depths[0], len(inner))]
        return any(self.level(p) for p in levels) or self.absent_inside(placed)

    # Values -----------------------------------------------------------------------------------

    def absent(self, placed: Placed) -> bool:
        """Whether the value of an instance may be absent at a coordinate of its level."""
        if not placed.reduced:
            return self.absent_inside(placed)
        if self.folds_last(placed):
            return self.fold_absent(placed)
        return False

    def folds_last(self, placed: Placed) -> bool:
        """Whether the last reduction applied is a reducer, not an accumulator."""
        if isinstance(placed.view, Cut):
            return False
        outermost = min(placed.nest.index(r) for r in placed.reduced)
        return all(x in placed.reduced for x in placed.nest[outermost:])

    def fold_absent(self, placed: Placed) -> bool:
        if not placed.indices:
            return False  # scalars are stored always, 0 if nothing was summed
        first = min(placed.nest.index(r) for r in placed.reduced)
        levels = [placed.nest[: k + 1] for k in range(first, len(placed.nest))]
        return any(self.level(p) for p in levels) or self.absent_inside(placed)

    def absent_inside(self, placed: Placed) -> bool:
        """Whether the value computed at the full nest, before reductions, may be absent."""
        key = id(placed)
        if key not in self._absent:
            self._absent[key] = True  # cut recursion conservatively
            self._absent[key] = self._absent_now(placed)
        return self._absent[key]

    def _absent_now(self, placed: Placed) -> bool:
        symbols: dict[Carried, None] = {}
        present = self._computed(placed, symbols)
        trees = {s.prefix: self.joins.tree(s.prefix) for s in symbols}
        for prefix, tree in trees.items():
            symbols.update({Carried(prefix, a): None for a in atoms(tree)})
        full = frozenset(s for s in symbols if self.always(s.atom))
        met = joined(False, (_carried(tree, prefix) for prefix, tree in trees.items()))
        have, want = (given(f, full, NOTHING) for f in (met, present))
        return not Implications().implies(have, want)

    def _computed(self, placed: Placed, symbols: dict[Carried, None]) -> Formula:
        parts = [self._operand(v, placed, symbols) for v in placed.operands]
        if (needed := self.joins.needed(placed)) is not None:
            return parts[needed]
        return joined(placed.view.statement.op.joins_by_union, parts)

    def _operand(self, view: PlacedView, reader: Placed, symbols: dict[Carried, None]) -> Formula:
        rank = self.joins.rank
        if isinstance(view, PlacedLeaf):
            if not view.indices:
                return TRUE
            last = max(view.indices, key=rank.__getitem__)
            return self._rides(
                ScanAtom(view, reader, last), self.joins.prefix(reader, last), symbols
            )
        if not view.reduced:
            return self._computed(view, symbols)
        if self.folds_last(view):
            if not self.fold_absent(view) or self._reads_what_it_folded(view, reader):
                return TRUE
            return Folded(view)
        return self._rides(AccAtom(view, view.outer_nest[-1]), view.outer_nest, symbols)

    def _rides(
        self, atom: ScanAtom | AccAtom, prefix: Prefix, symbols: dict[Carried, None]
    ) -> Formula:
        """When an atom's payload is there on its level's stream."""
        when = presence(self.joins.tree(prefix), atom) or atom
        symbols.update({Carried(prefix, a): None for a in atoms(when)})
        return _carried(when, prefix)

    def _reads_what_it_folded(self, view: Placed, reader: Placed) -> bool:
        """The reader iterates the very fiber that was folded, so it was not empty."""
        return reader.nest[: len(view.nest)] == view.nest and not self.absent_inside(view)


def _carried(tree: Tree, prefix: Prefix) -> Formula:
    """Whether a tree has the coordinate at hand, in terms of its atoms at a prefix."""
    if isinstance(tree, Shift):
        return _carried(tree.child, prefix)
    if not isinstance(tree, Combine):
        return Carried(prefix, tree)
    return joined(tree.union, (_carried(child, prefix) for child in tree.children))
