"""The analysis of emptiness: fibers without elements, and values that are absent.

Decides where droppers, guides and gates are needed (``docs/spec/fusion.md`` §3.6).  Answers are
conservative: "may be" is always right, "never" is a promise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fuseloom.dataflow.fusion.nests import Placed, PlacedLeaf, PlacedView
from fuseloom.dataflow.fusion.views import Cut
from fuseloom.dataflow.table.join_trees import (
    AccAtom,
    Atom,
    Combine,
    DenseAtom,
    ScanAtom,
    Shift,
    Tree,
    atoms,
    implies,
    presence,
)
from fuseloom.dataflow.table.joins import Joins
from fuseloom.dataflow.table.monotone import NOTHING, TRUE, Formula, Implications, given, joined
from fuseloom.program.formats import LevelFormat
from fuseloom.program.walks import Steps, unwound

Prefix = tuple[str, ...]


@dataclass(frozen=True)
class CarriedCoordinate:
    """That an atom has the coordinate at hand on a level's stream."""

    prefix: Prefix
    atom: Atom


@dataclass(frozen=True)
class FoldedValue:
    """That a reducer had a value to fold."""

    placed: Placed


class Emptiness:
    """Answers for one output's placed views.

    Attributes
    ----------
    whole : frozenset of str
        Tensors whose elements are all there, however they are stored.  Without them, answers are
        what a format alone says, which is what decides on droppers.
    """

    def __init__(self, joins: Joins, whole: frozenset[str] = frozenset()) -> None:
        self.joins = joins
        self.whole = whole
        self._empty: dict[Prefix, bool] = {}
        self._absent: dict[int, bool] = {}
        self._null: dict[ScanAtom, bool] = {}
        self._formulas: dict[int, Formula] = {}
        self._symbols: dict[int, dict[CarriedCoordinate, None]] = {}

    def level(self, prefix: Prefix) -> bool:
        """Return whether fibers of this level may be empty."""
        return unwound(self._level(prefix))

    def guide(self, outside: Sequence[tuple[str, str]]) -> str | None:
        """The innermost of some levels, by index and name, if one of them may be empty."""
        prefix = tuple(x for x, _ in outside)
        if any(self.level(prefix[: k + 1]) for k in range(len(prefix))):
            return outside[-1][1]
        return None

    def tree(self, tree: Tree, prefix: Prefix) -> bool:
        """Return whether fibers of a join tree at a prefix may be empty."""
        return unwound(self._tree(tree, prefix))

    def absent(self, placed: Placed) -> bool:
        """Return whether the value of an instance may be absent at a coordinate of its level."""
        if not placed.reduced:
            return self.absent_inside(placed)
        if self.folds_last(placed):
            return self.fold_absent(placed)
        return False

    def fold_absent(self, placed: Placed) -> bool:
        """Return whether the result of a reducer over an instance may be absent."""
        return unwound(self._fold_absent(placed))

    def absent_inside(self, placed: Placed) -> bool:
        """Return whether the value computed at the full nest, before reductions, may be absent."""
        return unwound(self._absent_inside(placed))

    # Levels -----------------------------------------------------------------------------------

    def _level(self, prefix: Prefix) -> Steps[bool]:
        if prefix not in self._empty:
            self._empty[prefix] = yield self._tree(self.joins.tree(prefix), prefix)
        return self._empty[prefix]

    def _any_level(self, prefixes: Iterable[Prefix]) -> Steps[bool]:
        for prefix in prefixes:
            empty: bool = yield self._level(prefix)
            if empty:
                return True
        return False

    def _tree(self, tree: Tree, prefix: Prefix) -> Steps[bool]:
        match tree:
            case DenseAtom():
                return False
            case Shift(child=child):
                inside: bool = yield self._tree(child, prefix)
                return inside
            case ScanAtom():
                return self._scan(tree)
            case AccAtom():
                emitted: bool = yield self._accumulated(tree)
                return emitted
            case Combine(union=True, gate=gate):
                for child in tree.children[:gate] if gate else tree.children:
                    empty: bool = yield self._tree(child, prefix)
                    if not empty:
                        return False
                return True
            case Combine():
                sparse = [c for c in tree.children if not self._is_dense(c)]
                if len(sparse) > 1:
                    return True
                for child in tree.children:
                    empty = yield self._tree(child, prefix)
                    if empty:
                        return True
                return False

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
        """Return whether a scan may be entered by the empty reference."""
        if atom not in self._null:
            self._null[atom] = self._null_now(atom)
        return self._null[atom]

    def _null_now(self, atom: ScanAtom) -> bool:
        at = self.position(atom)
        if not at:
            return False
        order = sorted(atom.leaf.indices, key=self.joins.rank.__getitem__)
        above = self.joins.scan(atom.leaf, atom.consumer, order[at - 1])
        tree = self.joins.tree(self.joins.prefix(atom.consumer, order[at - 1]))
        return not implies(tree, presence(tree, above) or above, self.always)

    def always(self, atom: Atom) -> bool:
        """Return whether an atom has every coordinate: a dense range, or a level always entered.

        And every level of a tensor that is known to be whole.

        Finer than ``Joins.always``, which knows of outermost levels only.
        """
        if not isinstance(atom, ScanAtom):
            return isinstance(atom, DenseAtom)
        if atom.leaf.leaf.shifts:
            return False
        if atom.leaf.tensor in self.whole:
            return True
        return self.level_format(atom) is LevelFormat.DENSE and not self.null(atom)

    def _scan(self, atom: ScanAtom) -> bool:
        at = self.position(atom)
        null = self.null(atom)
        if atom.leaf.tensor in self.whole:
            return null
        if self.level_format(atom) is not LevelFormat.COMPRESSED:
            return null  # a dense level has every coordinate, a singleton exactly one
        levels = self.joins.formats(atom.leaf)
        return at == 0 or levels[at - 1] is LevelFormat.DENSE or null

    def _accumulated(self, atom: AccAtom) -> Steps[bool]:
        placed = atom.placed
        at = placed.outer_nest.index(atom.index)
        above = placed.outer_nest[:at]
        outermost = min(placed.nest.index(r) for r in placed.reduced)
        if above and placed.nest.index(above[-1]) > outermost:
            # A coordinate that the accumulator emits has something inside; one that the level
            # outside got from another operand has not.
            tree = self.joins.tree(above)
            outer = self.joins.emitted(placed, above[-1])
            return not implies(tree, presence(tree, outer) or outer, self.always)
        inner = placed.nest
        if isinstance(placed.view, Cut):
            (producer,) = placed.operands
            if isinstance(producer, Placed) and producer.drops_zeros:
                return True
            inner = placed.nest[:-1]
        depths = [k for k, x in enumerate(inner) if x in placed.reduced]
        levels = [inner[: k + 1] for k in range(depths[0], len(inner))]
        empty: bool = yield self._any_level(levels)
        if empty:
            return True
        absent: bool = yield self._absent_inside(placed)
        return absent

    # Values -----------------------------------------------------------------------------------

    def folds_last(self, placed: Placed) -> bool:
        """Return whether the last reduction applied is a reducer, not an accumulator."""
        if isinstance(placed.view, Cut):
            return False
        outermost = min(placed.nest.index(r) for r in placed.reduced)
        return all(x in placed.reduced for x in placed.nest[outermost:])

    def _fold_absent(self, placed: Placed) -> Steps[bool]:
        if not placed.indices:
            return False  # scalars are stored always, 0 if nothing was summed
        first = min(placed.nest.index(r) for r in placed.reduced)
        levels = [placed.nest[: k + 1] for k in range(first, len(placed.nest))]
        empty: bool = yield self._any_level(levels)
        if empty:
            return True
        absent: bool = yield self._absent_inside(placed)
        return absent

    def _absent_inside(self, placed: Placed) -> Steps[bool]:
        key = id(placed)
        if key not in self._absent:
            self._absent[key] = True  # cut recursion conservatively
            self._absent[key] = yield self._absent_now(placed)
        return self._absent[key]

    def _absent_now(self, placed: Placed) -> Steps[bool]:
        present: Formula = yield self._computed(placed)
        symbols = dict.fromkeys(self._symbols[id(placed)])
        trees = {s.prefix: self.joins.tree(s.prefix) for s in symbols}
        for prefix, tree in trees.items():
            symbols.update({CarriedCoordinate(prefix, a): None for a in atoms(tree)})
        full = frozenset(s for s in symbols if self.always(s.atom))
        met = joined(False, (_carried(tree, prefix) for prefix, tree in trees.items()))
        have, want = (given(f, full, NOTHING) for f in (met, present))
        return not Implications().implies(have, want)

    def _computed(self, placed: Placed) -> Steps[Formula]:
        """When the value of an instance is there, in terms of ``_symbols`` of it."""
        key = id(placed)
        if key not in self._formulas:
            symbols: dict[CarriedCoordinate, None] = {}
            parts: list[Formula] = []
            for view in placed.operands:
                part: Formula = yield self._operand(view, placed, symbols)
                parts.append(part)
            self._symbols[key] = symbols
            if (needed := self.joins.needed(placed)) is not None:
                self._formulas[key] = parts[needed]
            else:
                self._formulas[key] = joined(placed.view.statement.op.joins_by_union, parts)
        return self._formulas[key]

    def _operand(
        self, view: PlacedView, reader: Placed, symbols: dict[CarriedCoordinate, None]
    ) -> Steps[Formula]:
        rank = self.joins.rank
        if isinstance(view, PlacedLeaf):
            if not view.indices:
                return TRUE
            last = max(view.indices, key=rank.__getitem__)
            scan = self.joins.scan(view, reader, last)
            return self._rides(scan, self.joins.prefix(reader, last), symbols)
        if not view.reduced:
            inside: Formula = yield self._computed(view)
            symbols.update(self._symbols[id(view)])
            return inside
        if self.folds_last(view):
            absent: bool = yield self._fold_absent(view)
            if not absent:
                return TRUE
            if reader.nest[: len(view.nest)] == view.nest:
                # The reader iterates the very fiber that was folded, so it was not empty.
                within: bool = yield self._absent_inside(view)
                if not within:
                    return TRUE
            return FoldedValue(view)
        emitted = self.joins.emitted(view, view.outer_nest[-1])
        return self._rides(emitted, view.outer_nest, symbols)

    def _rides(
        self, atom: ScanAtom | AccAtom, prefix: Prefix, symbols: dict[CarriedCoordinate, None]
    ) -> Formula:
        """When an atom's payload is there on its level's stream."""
        when = presence(self.joins.tree(prefix), atom) or atom
        symbols.update({CarriedCoordinate(prefix, a): None for a in atoms(when)})
        return _carried(when, prefix)


def _carried(tree: Tree, prefix: Prefix) -> Formula:
    """Return the condition, on the atoms at a prefix, that a tree has the current coordinate."""
    known: dict[int, Formula] = {}  # trees share parts

    def look(tree: Tree) -> Formula:
        if isinstance(tree, Shift):
            return look(tree.child)
        if not isinstance(tree, Combine):
            return CarriedCoordinate(prefix, tree)
        if id(tree) not in known:
            known[id(tree)] = joined(tree.union, map(look, tree.children))
        return known[id(tree)]

    return look(tree)
