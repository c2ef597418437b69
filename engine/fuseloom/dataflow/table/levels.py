"""From join trees to levels: naming them, and looking dense operands up instead of scanning.

Rules: ``docs/spec/fusion.md`` §3.2, §3.3 (how operands meet at an index).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fuseloom.dataflow.table.cells import (
    AccIn,
    Accumulator,
    DenseIn,
    JoinOf,
    Level,
    LevelTree,
    LocatedLevel,
    ScanIn,
    SearchIn,
    Shifted,
)
from fuseloom.dataflow.table.emptiness import Emptiness
from fuseloom.dataflow.table.join_trees import (
    AccAtom,
    Combine,
    DenseAtom,
    ScanAtom,
    Shift,
    Tree,
    atoms,
    carrier,
)
from fuseloom.dataflow.table.joins import Joins
from fuseloom.dataflow.table.table import CellChoices
from fuseloom.errors import LoweringError
from fuseloom.program.formats import LevelFormat
from fuseloom.program.primes import unused

Prefix = tuple[str, ...]


@dataclass(frozen=True)
class FullOperand:
    """The levels of an operand with every coordinate, to be looked up at those of another one.

    Attributes
    ----------
    located : tuple of ScanAtom
        Dense levels.
    searched : tuple of ScanAtom
        Compressed levels that are added to them, where they have the coordinate.
    """

    located: tuple[ScanAtom, ...] = ()
    searched: tuple[ScanAtom, ...] = ()


class LevelMaker:
    """Makes the one level of each nest prefix of one output, on demand."""

    def __init__(
        self,
        joins: Joins,
        emptiness: Emptiness,
        root: int,
        extents: dict[str, int],
        levels: dict[str, Level],
        column_of: Callable[[ScanAtom], str],
        accumulator_of: Callable[[AccAtom], Accumulator],
        choices: CellChoices,
    ) -> None:
        self.choices = choices
        self.joins = joins
        self.emptiness = emptiness
        self.root = root
        self.extents = extents
        self.levels = levels
        self.column_of = column_of
        self.accumulator_of = accumulator_of
        self._names: dict[Prefix, str] = {}
        self._resolved: dict[tuple[Tree, Prefix], LevelTree] = {}
        self._operands: dict[Tree, FullOperand | None] = {}

    def level(self, prefix: Prefix) -> str:
        """The name of the level of a nest prefix."""
        if prefix not in self._names:
            tree = self.resolve(self.joins.tree(prefix), prefix)
            name = self._name(tree, prefix[-1])
            self._names[prefix] = name
            self.levels[name] = Level(name, prefix, self.root, tree)
        return self._names[prefix]

    def _name(self, tree: LevelTree, index: str) -> str:
        match tree:
            case ScanIn(column=column):
                return f"<{column}.{index}>"
            case AccIn():
                return tree.name
            case SearchIn(column=column):
                return f"<{column}.{index}>"
            case LocatedLevel(child=child) | Shifted(child=child):
                return self._name(child, index)
            case DenseIn():
                name = f"D_{index}"
            case JoinOf(union=union):
                name = f"{'U' if union else 'I'}_{index}"
        return unused(name, self.levels)

    # Resolution -------------------------------------------------------------------------------

    def resolve(self, tree: Tree, prefix: Prefix) -> LevelTree:
        """Name the columns of a tree and turn dense scans into look-ups where that is right."""
        key = (tree, prefix)
        if key not in self._resolved:
            self._resolved[key] = self._resolve(tree, prefix)
        return self._resolved[key]

    def _resolve(self, tree: Tree, prefix: Prefix) -> LevelTree:
        match tree:
            case ScanAtom():
                return ScanIn(self.column_of(tree))
            case AccAtom():
                return self.accumulator_of(tree).emitted(tree.index)
            case DenseAtom(index=index, size=size):
                outer = tuple(self.level(prefix[:k]) for k in range(1, len(prefix)))
                return DenseIn(index, size, outer)
            case Shift(child=child, offset=offset, size=size):
                return Shifted(self.resolve(child, prefix), offset, size)
            case Combine(union=False):
                return self._intersection(tree, prefix)
            case Combine(gate=gate) if gate:
                return self._gated(tree, prefix)
            case Combine():
                return self._union(list(tree.children), prefix)

    def _dense(self, tree: Tree) -> bool:
        return isinstance(tree, ScanAtom) and self.emptiness.level_format(tree) is LevelFormat.DENSE

    def _locatable(self, tree: Tree) -> bool:
        """A dense level that is to be looked up where that is right."""
        return (
            isinstance(tree, ScanAtom)
            and self._dense(tree)
            and self.choices.located(self.column_of(tree), tree.index)
        )

    def _searchable(self, tree: Tree) -> bool:
        """A compressed level that is to be searched, not scanned."""
        return (
            isinstance(tree, ScanAtom)
            and self.emptiness.level_format(tree) is LevelFormat.COMPRESSED
            and self.choices.searched(self.column_of(tree), tree.index)
        )

    def _complete(self, tree: Tree) -> bool:
        return isinstance(tree, ScanAtom) and self._dense(tree) and not self.emptiness.null(tree)

    def _outer(self, tree: Tree, prefix: Prefix) -> frozenset[str]:
        """Indices outside this level on which the presence of a tree's coordinates depends."""
        found: set[str] = set()
        for atom in atoms(tree):
            match atom:
                case ScanAtom():
                    rank = self.joins.rank
                    found |= {x for x in atom.leaf.indices if rank[x] < rank[atom.index]}
                case AccAtom():
                    found |= set(prefix[:-1])
                case DenseAtom():
                    pass
        return frozenset(found)

    def _intersection(self, tree: Combine, prefix: Prefix) -> LevelTree:
        looked_up = self._looked_up(tree, prefix)
        child = self._searching([c for c in tree.children if c not in looked_up], prefix)
        level = self._located(child, [a for full in looked_up.values() for a in full.located])
        searched = [
            SearchIn(self.column_of(a), child) for full in looked_up.values() for a in full.searched
        ]
        return JoinOf(True, (level, *searched)) if searched else level

    def _looked_up(self, tree: Combine, prefix: Prefix) -> dict[Tree, FullOperand]:
        """The operands of an intersection that are looked up at the coordinates of the others."""
        carried = Counter(a for c in tree.children for a in atoms(c))
        found = {
            child: full
            for child in tree.children
            if (full := self._full(child)) is not None
            and (isinstance(child, ScanAtom) or all(carried[a] == 1 for a in atoms(child)))
        }
        if len(found) == len(tree.children):  # one has to give the coordinates

            def preference(child: Tree) -> tuple[bool, bool, int]:
                joined, stored = isinstance(child, Combine), isinstance(child, ScanAtom)
                return joined, stored, len(self._outer(child, prefix))

            del found[max(tree.children, key=preference)]
        return found

    def _full(self, tree: Tree) -> FullOperand | None:
        """The levels to look up of an operand with every coordinate; None if it has to be iterated.

        A sum has every coordinate if one of its operands has; the others are added where they are.
        """
        if tree not in self._operands:
            self._operands[tree] = self._full_now(tree)
        return self._operands[tree]

    def _full_now(self, tree: Tree) -> FullOperand | None:
        match tree:
            case ScanAtom():
                # Looking up drops no coordinate: what may be absent has to be scanned.
                whole = self._complete(tree) and self._locatable(tree)
                return FullOperand((tree,)) if whole else None
            case DenseAtom():
                return FullOperand() if self.choices.locate else None
            case Combine(union=union, children=children, gate=gate):
                parts = [self._full(c) for c in children]
                some = any(part is not None for part in parts[: gate or None])
                if not (some if union else all(part is not None for part in parts)):
                    return None
                located: list[ScanAtom] = []
                searched: list[ScanAtom] = []
                for child, part in zip(children, parts, strict=True):
                    if part is not None:
                        located += part.located
                        searched += part.searched
                    elif isinstance(child, ScanAtom) and self._searchable(child):
                        searched.append(child)
                    else:
                        return None
                return FullOperand(tuple(located), tuple(searched))
        return None

    def _searching(self, children: list[Tree], prefix: Prefix) -> LevelTree:
        """An intersection, with compressed levels searched at the coordinates of the others."""
        searched = [c for c in children if self._searchable(c)]
        driving = [c for c in children if c not in searched] or searched[:1]
        searched = [c for c in searched if c not in driving]
        if not searched:
            return self._join(False, children, prefix)
        wanted = self._join(False, driving, prefix)
        whole = driving[0] if len(driving) == 1 else Combine(False, tuple(driving))
        columns = [self.column_of(c) for c in searched if isinstance(c, ScanAtom)]
        parts = [wanted, *(SearchIn(column, wanted) for column in columns)]
        return self._joined(False, [whole, *searched], parts, 0)

    def _union(self, children: list[Tree], prefix: Prefix) -> LevelTree:
        # A dense level that is never entered by the empty reference has every coordinate, so
        # the other such levels can be looked up at its coordinates.
        dense = [c for c in children if self._complete(c)]
        looked_up = {id(c): dense[0] for c in dense[1:] if self._locatable(c)}
        kept = [c for c in children if id(c) not in looked_up]
        parts: list[LevelTree] = []
        for c in kept:
            riders = [d for d in dense if looked_up.get(id(d)) is c]
            parts.append(self._located(self.resolve(c, prefix), riders))
        part_of = {id(c): k for k, c in enumerate(kept)}
        hosts = [part_of[id(looked_up.get(id(c), c))] for c in children]
        return self._joined(True, children, parts, 0, hosts)

    def _gated(self, tree: Combine, prefix: Prefix) -> LevelTree:
        gates, rest = tree.children[: tree.gate], tree.children[tree.gate :]
        if len(gates) == 1 and self._dense(gates[0]) and all(self._locatable(c) for c in rest):
            return self._located(self.resolve(gates[0], prefix), list(rest))
        may_be_empty = all(self.emptiness.tree(c, prefix) for c in gates)
        return self._join(True, list(tree.children), prefix, tree.gate if may_be_empty else 0)

    def _join(self, union: bool, children: list[Tree], prefix: Prefix, gate: int = 0) -> LevelTree:
        parts = [self.resolve(c, prefix) for c in children]
        return self._joined(union, children, parts, gate)

    def _joined(
        self,
        union: bool,
        children: list[Tree],
        parts: list[LevelTree],
        gate: int,
        hosts: Sequence[int] | None = None,
    ) -> LevelTree:
        """Join parts; a payload that several carry is taken from the one that has it most.

        ``hosts`` are the parts that the children ride on, where some are looked up beside others.
        """
        if len(parts) == 1:
            return parts[0]
        hosts = hosts or range(len(children))
        whole = Combine(union, tuple(children), gate)
        carriers = []
        for atom in atoms(whole):
            carrying = {k for k, c in zip(hosts, children, strict=True) if atom in atoms(c)}
            if isinstance(atom, DenseAtom) or len(carrying) < 2:
                continue
            if isinstance(atom, ScanAtom):
                key = self.column_of(atom)
            else:
                key = self.accumulator_of(atom).name
            carriers.append((key, hosts[carrier(whole, atom, self.joins.always)]))
        return JoinOf(union, tuple(parts), gate, tuple(carriers))

    def _located(self, child: LevelTree, looked_up: Sequence[Tree]) -> LevelTree:
        columns = []
        for tree in looked_up:
            if not isinstance(tree, ScanAtom):
                raise LoweringError("only a stored dense level can be looked up")
            columns.append(self.column_of(tree))
        return LocatedLevel(child, tuple(columns)) if columns else child
