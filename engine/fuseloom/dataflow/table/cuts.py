"""The cuts at which a consumer must not filter its producer's coordinates.

Rules: ``docs/spec/fusion.md`` §3.2, J3.

A cut re-reads the producer's result as a stream of its own, under an alias of the index, so
that reductions inside the producer still see every coordinate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache

from fuseloom.dataflow.fusion.nests import Placed, PlacedLeaf, PlacedView, place, walk_placed
from fuseloom.dataflow.fusion.region import FusedRegion
from fuseloom.dataflow.fusion.views import Cut, Instance, Leaf, View, walk
from fuseloom.dataflow.table.circles import check_circles, waiting_reduction
from fuseloom.dataflow.table.emptiness import Emptiness
from fuseloom.dataflow.table.join_trees import (
    Atom,
    Combine,
    DenseAtom,
    ScanAtom,
    Tree,
    ambiguous_atoms,
    atoms,
    differently_guarded,
    implies,
)
from fuseloom.dataflow.table.joins import Joins
from fuseloom.errors import LoweringError
from fuseloom.program.completeness import complete_tensors
from fuseloom.program.functions import Op
from fuseloom.program.types import Access, BroadcastAdd, Statement
from fuseloom.program.walks import postorder

MAX_CUTS = 64


class TooManyCutsError(LoweringError):
    """A region that needs more stream cuts than are made, which other orders seldom change."""


def arrange(
    region: FusedRegion, order: tuple[str, ...]
) -> tuple[tuple[tuple[Joins, Emptiness], ...], tuple[str, ...], dict[str, int]]:
    """Place each output's views under an order, with cuts where J3 asks for them.

    Returns
    -------
    trees : one (joins, emptiness) per output
    order : the order with the cuts' aliases in it
    extents : sizes of all indices, aliases included

    Raises
    ------
    OrderError
        If the order is not realisable.
    LoweringError
        If a broadcast addition cannot be told apart from an empty row, or the order takes more
        than ``MAX_CUTS`` cuts.
    """
    extents = dict(region.extents)
    trees = []
    for root in region.roots:
        unshared: frozenset[int] = frozenset()
        stuck = False
        for _ in range(MAX_CUTS):
            joins = Joins(region.program, place([root], order, unshared)[0], order)
            emptiness = Emptiness(joins)
            if apart := _outside_its_level(joins):
                view, index = apart
                alias, order = _aliased(index, order, extents)
                root = _replace(root, view, _renamed(view, index, alias))
                continue
            if sparse := _nonzero_read_whole(joins):
                view, index = sparse
                alias, order = _aliased(index, order, extents)
                root = _replace(root, view, _cut(view, index, alias))
                continue
            found = (
                _leaking_broadcast(joins)
                or _filtered_reduction(joins)
                or waiting_reduction(joins)
                or _inexact_broadcast(joins, emptiness)
            )
            if found is None:
                clash = _ambiguous_sharing(joins, joins.always if stuck else None)
                if not clash:
                    break
                if not clash <= unshared:
                    unshared |= clash
                    continue
                if stuck:
                    raise _inseparable(joins, clash)
                # Every reader has copies of its own.  What always has every coordinate is no
                # clash, and without that nothing may be left to split.
                stuck, unshared = True, frozenset()
                continue
            reader, producer, index = found
            alias, order = _aliased(index, order, extents)
            root = _insert(root, reader, producer, index, alias)
        else:
            raise TooManyCutsError(
                f"region {region.name} needs more than {MAX_CUTS} stream cuts",
                hint="fuse fewer statements",
            )
        trees.append((root, unshared))
    # Aliases of later outputs lengthen the order, so place every tree under the final one.
    final = []
    for root, unshared in trees:
        joins = Joins(region.program, place([root], order, unshared)[0], order)
        check_circles(joins)
        final.append((joins, Emptiness(joins)))
    return tuple(final), order, extents


def _inseparable(joins: Joins, clash: frozenset[int]) -> LoweringError:
    """Copies for every reader do not help: some reader itself is computed under both filters."""
    name = next(p.tensor for p in joins.placed if id(p.view) in clash)
    return LoweringError(
        f"{name} is used several times, under filters of which none contains the others, "
        f"and one level would have to serve them all",
        hint=f"cut the region after {name}",
    )


def _aliased(
    index: str, order: tuple[str, ...], extents: dict[str, int]
) -> tuple[str, tuple[str, ...]]:
    """A new alias of an index, which ``extents`` takes up, and the order with it in front of it."""
    alias = index + "*"
    while alias in extents:
        alias += "*"
    extents[alias] = extents[index]
    at = order.index(index)
    return alias, (*order[:at], alias, *order[at:])


def extent_of(index: str, extents: Mapping[str, int]) -> int | None:
    """Return the size of an index of a graph, which for an alias of a cut is that of its index.

    Parameters
    ----------
    extents : mapping
        Size of each index of a region, where the aliases are not.

    Examples
    --------
    >>> extent_of("j*", {"j": 7}), extent_of("k", {"j": 7})
    (7, None)
    """
    return extents.get(index, extents.get(index.rstrip("*")))


Always = Callable[[Atom], bool]
Found = tuple[Instance, Instance, str]


def _ambiguous_sharing(joins: Joins, always: Always | None = None) -> frozenset[int]:
    """Shared views that one level would need under two different filters: split them."""
    readers: dict[int, set[int]] = {}
    for placed in joins.placed:
        for operand in placed.operands:
            readers.setdefault(id(operand), set()).add(id(placed))
    shared = [p for p in joins.placed if len(readers.get(id(p), ())) > 1]
    above = _containing(shared)
    sources: dict[int, Placed] = {}
    for prefix in _prefixes(joins):
        tree = joins.tree(prefix)
        for atom in (*ambiguous_atoms(tree, always), *differently_guarded(tree, joins.full)):
            source = atom.consumer if isinstance(atom, ScanAtom) else atom.placed
            sources[id(source)] = source
    return frozenset(id(p.view) for source in sources for p in above.get(source, ()))


def _containing(roots: Sequence[Placed]) -> dict[int, list[Placed]]:
    """By the id of a placed instance, those of the roots that it is a part of."""
    found: dict[int, list[Placed]] = {}
    for root in roots:
        for placed in walk_placed([root]):
            found.setdefault(id(placed), []).append(root)
    return found


def _prefixes(joins: Joins) -> tuple[tuple[str, ...], ...]:
    """The nest prefixes that some instance reads an operand at, each once."""
    return tuple(
        dict.fromkeys(
            placed.nest[: k + 1]
            for placed in joins.placed
            for k, index in enumerate(placed.nest)
            if index in placed.read
        )
    )


def _outside_its_level(joins: Joins) -> tuple[Instance, str] | None:
    """A reduction that shares an index, but not the views below it, with what surrounds it.

    Merged up to renaming (``docs/spec/fusion.md`` §2.1), the two would iterate one level; where an
    order splits the views that they were to share, that level lacks what the reduction reads, so
    the reduction gets an index of its own again.
    """
    levels: dict[tuple[str, ...], tuple[Tree, frozenset[Atom]]] = {}
    for placed in joins.placed:
        for k, index in enumerate(placed.nest):
            if index not in placed.read:
                continue
            prefix = placed.nest[: k + 1]
            if prefix not in levels:
                tree = joins.tree(prefix)
                levels[prefix] = tree, frozenset(atoms(tree))
            level, own = levels[prefix], joins.jin(placed, index)
            if own is not level[0] and not level[1].issuperset(atoms(own)):
                return _reducer(joins, placed, index)
    # What an accumulator of the output emits is a level of its own, too.
    root = joins.root
    for k, index in enumerate(root.outer_nest):
        owner = joins.owner(root.outer_nest[: k + 1])
        emitted = any(joins.rank[r] < joins.rank[index] for r in root.reduced)
        if emitted and owner is not None:
            return _reducer(joins, owner, index)
    return None


def _reducer(joins: Joins, placed: Placed, index: str) -> tuple[Instance, str]:
    """The reduction over an index that an instance is computed for."""
    for reducer in joins.placed:
        if index in reducer.reduced and placed in walk_placed([reducer]):
            return reducer.view, index
    raise LoweringError(
        f"{placed.tensor} iterates {index}, which what surrounds it iterates differently",
        hint=f"cut the region after {placed.tensor}",
    )


def _filtered_reduction(joins: Joins) -> Found | None:
    """A consumer whose filter would reach a reduction inside its operand."""
    for placed in joins.placed:
        if isinstance(placed.view, Cut):
            continue
        for r in placed.reduced:
            owner = joins.owner(joins.prefix(placed, r))
            own = joins.jin(placed, r)
            if owner is None or owner is placed or implies(own, joins.jin(owner, r), joins.always):
                continue
            for reader in joins.placed:
                if r not in reader.view.local or implies(own, joins.jin(reader, r), joins.always):
                    continue
                for operand in reader.operands:
                    if (
                        isinstance(operand, Placed)
                        and operand.outer_nest[-1:] == (r,)
                        and placed in walk_placed([operand])
                        and implies(own, joins.jout(operand, reader, r), joins.always)
                    ):
                        return reader.view, operand.view, r
            raise LoweringError(
                f"{placed.tensor} reduces over {r}, whose coordinates another operand filters",
                hint=f"cut the region after {placed.tensor}",
            )
    return None


def _nonzero_read_whole(joins: Joins) -> tuple[Instance, str] | None:
    """A result without its zeros that is read as if it had the coordinates of its operand.

    Which coordinates it has is known only behind its values, so that its readers take them from
    a stream of their own, along the innermost index.

    Raises
    ------
    LoweringError
        If it is computed again inside that index.
    """
    for placed in joins.placed:
        if isinstance(placed.view, Cut):
            continue
        for operand in placed.operands:
            if not isinstance(operand, Placed) or not operand.drops_zeros:
                continue
            innermost = operand.outer_nest[-1]
            if innermost not in operand.indices:
                last = max(operand.indices, key=operand.outer_nest.index)
                raise LoweringError(
                    f"{operand.tensor} leaves its zeros out along {last}, and would be computed "
                    f"again for each {innermost} inside",
                    hint=f"move {last} inside {innermost}, or cut the region after "
                    f"{operand.tensor}",
                )
            return operand.view, innermost
    return None


def _leaking_broadcast(joins: Joins) -> Found | None:
    """An operand of a concat that has a value at every coordinate, the other operands' too.

    In dense mode an operand that lacks the concat's index is there all along it.  Hoisted into
    the concat's level, it would be there beyond its own part.
    """
    for placed in joins.placed:
        axis = placed.view.statement.axis
        if axis is None:
            continue
        index = dict(placed.view.renaming)[axis]
        for operand in placed.operands:
            if isinstance(operand, PlacedLeaf) or isinstance(operand.view, Cut):
                continue
            tree = joins.jout(operand, placed, index)
            if not any(isinstance(atom, DenseAtom) for atom in atoms(tree)):
                continue
            if operand.outer_nest[-1:] != (index,):
                raise LoweringError(
                    f"{operand.tensor} is dense along {axis} by its broadcast operand, and "
                    f"{placed.tensor} puts it behind another",
                    hint=f"cut the region after {operand.tensor}, or iterate {axis} innermost",
                )
            return placed.view, operand.view, index
    return None


def _inexact_broadcast(joins: Joins, emptiness: Emptiness) -> Found | None:
    """An operand of a sparse broadcast whose rows may exist without a value in them."""
    if joins.program.broadcast_add is not BroadcastAdd.SPARSE:
        return None
    known = cache(lambda: Emptiness(joins, complete_tensors(joins.program)))
    for placed in joins.placed:
        if not placed.view.statement.op.joins_by_union:
            continue
        for k, index in enumerate(placed.nest):
            if index not in placed.view.local:
                continue
            tree = joins.jin(placed, index)
            if not isinstance(tree, Combine) or not tree.gate:
                continue
            deeper = [x for x in placed.nest[k + 1 :] if x in placed.view.local]
            for operand in placed.operands:
                if any(x not in operand.indices for x in placed.view.local):
                    continue
                inside = [x for x in deeper if x in operand.indices]
                if not _may_be_empty(emptiness, placed, operand, inside):
                    continue
                computed = operand.view if isinstance(operand, Placed) else None
                if not deeper and computed is not None and not isinstance(computed, Cut):
                    return placed.view, computed, index
                if _may_be_empty(known(), placed, operand, inside):
                    way = "use 'option broadcast_add dense'"
                    if isinstance(operand, PlacedLeaf):
                        way += f", or declare {operand.tensor} dense"
                    elif not deeper:
                        way += f", or cut the region before {placed.tensor}"
                    raise LoweringError(
                        f"{placed.tensor} adds an operand row by row, but rows of "
                        f"{operand.tensor} may hold nothing",
                        hint=way,
                    )
    return None


def _may_be_empty(
    emptiness: Emptiness, reader: Placed, operand: PlacedView, levels: Sequence[str]
) -> bool:
    """Return whether an operand may lack its value, or elements in its fibers at some levels."""
    joins = emptiness.joins
    rows = ((joins.jout(operand, reader, x), joins.prefix(reader, x)) for x in levels)
    if any(emptiness.tree(tree, prefix) for tree, prefix in rows):
        return True
    return isinstance(operand, Placed) and emptiness.absent(operand)


def _insert(
    root: Instance, reader: Instance, producer: Instance, index: str, alias: str
) -> Instance:
    """Put a cut between a producer and its reader, with the producer's index renamed."""
    cut = _cut(producer, index, alias)
    operands = tuple(cut if v is producer else v for v in reader.operands)
    return _replace(root, reader, replace(reader, operands=operands))


def _cut(producer: Instance, index: str, alias: str) -> Cut:
    """A producer's result re-read as a stream of its own, under an alias of an index."""
    access = Access(producer.tensor, producer.indices)
    copy = Statement(access, Op.SUM, (access,))
    inner = _renamed(producer, index, alias)
    return Cut(copy, producer.indices, (inner,), (alias,), (), producer.shifts)


def _renamed(view: Instance, index: str, alias: str) -> Instance:
    """A view with an index renamed throughout; what lacks it stays shared with the outside."""
    renamed: dict[int, View] = {}
    for old in walk(view):
        renamed[id(old)] = old
        below = old.operands if isinstance(old, Instance) else ()
        if index not in old.indices and all(renamed[id(v)] is v for v in below):
            continue
        indices = tuple(alias if x == index else x for x in old.indices)
        shifts = tuple((alias if x == index else x, offset) for x, offset in old.shifts)
        if isinstance(old, Leaf):
            renamed[id(old)] = replace(old, indices=indices, shifts=shifts)
        else:
            renamed[id(old)] = replace(
                old,
                indices=indices,
                operands=tuple(renamed[id(v)] for v in below),
                reduced=tuple(alias if x == index else x for x in old.reduced),
                renaming=tuple((a, alias if b == index else b) for a, b in old.renaming),
                shifts=shifts,
            )
    result = renamed[id(view)]
    assert isinstance(result, Instance)
    return result


def _replace(root: Instance, old: Instance, new: Instance) -> Instance:
    """The tree with one instance replaced; what does not contain it stays as it is."""
    rebuilt: dict[int, View] = {id(old): new}

    def below(view: View) -> tuple[View, ...]:
        return () if view is old or isinstance(view, Leaf) else view.operands

    trees: list[View] = [root]
    for view in postorder(trees, below):
        if isinstance(view, Leaf) or view is old:
            rebuilt.setdefault(id(view), view)
            continue
        operands = tuple(rebuilt[id(v)] for v in view.operands)
        same = all(a is b for a, b in zip(operands, view.operands, strict=True))
        rebuilt[id(view)] = view if same else replace(view, operands=operands)
    new_root = rebuilt[id(root)]
    assert isinstance(new_root, Instance)
    return new_root
