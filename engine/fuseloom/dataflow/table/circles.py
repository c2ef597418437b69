"""Levels that would wait for themselves.

A level joins what all operations at its nest prefix iterate.  If one of them is a level that an
accumulator emits, and what it accumulates depends on a reduction over the joined level itself, then
neither can begin: streams flow one way.  A cut (``docs/spec/fusion.md`` §3.2, J3) lets the
reduction run over the coordinates of its own operands, before the accumulator's are joined to them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fuseloom.dataflow.fusion.nests import Placed
from fuseloom.dataflow.fusion.views import Cut, Instance
from fuseloom.dataflow.table.join_trees import AccAtom, Tree, atoms
from fuseloom.dataflow.table.joins import Joins
from fuseloom.errors import LoweringError

if TYPE_CHECKING:
    import networkx as nx
else:
    from fuseloom.program.late import networkx as nx


def waiting_reduction(joins: Joins) -> tuple[Instance, Instance, str] | None:
    """A reduction over a level that joins what depends on it.

    Returns
    -------
    reader, producer : Instance
        The operation that joins the two, and its operand that the reduction is a part of: a cut
        between them ends the circle.
    index : str

    Raises
    ------
    LoweringError
        If no cut does.
    """
    parents = _parents(joins)
    for placed in joins.placed:
        if isinstance(placed.view, Cut) or not placed.reduced:
            continue
        above = _above(placed, parents)
        for r in placed.reduced:
            if not _depends(joins.tree(joins.prefix(placed, r)), above):
                continue
            for reader in joins.placed:
                if r not in reader.view.local or not _depends(joins.jin(reader, r), above):
                    continue
                for operand in reader.operands:
                    if (
                        isinstance(operand, Placed)
                        and operand.outer_nest[-1:] == (r,)
                        and (operand is placed or id(operand) in above)
                        and not _depends(joins.jout(operand, reader, r), above)
                    ):
                        return reader.view, operand.view, r
            raise _circle(placed)
    return None


def check_circles(joins: Joins) -> None:
    """Refuse what would have a stream depend on itself.

    Raises
    ------
    LoweringError
        Naming a statement on the circle.
    """
    network = nx.DiGraph()
    network.add_edges_from(_dependencies(joins))
    if nx.is_directed_acyclic_graph(network):
        return
    circle = nx.find_cycle(network)
    named = {id(placed): placed for placed in joins.placed}
    raise _circle(next(named[at[0]] for at, _ in circle if at[0] in named))


def _dependencies(joins: Joins) -> Iterator[tuple[tuple[object, ...], tuple[object, ...]]]:
    """Pairs of what needs and what it needs: nest prefixes, and instances by id."""
    levels: dict[tuple[str, ...], None] = {}
    for placed in joins.placed:
        me = (id(placed),)
        nest = placed.nest
        if isinstance(placed.view, Cut):
            nest = tuple(x for x in nest if x != placed.view.index)
        for operand in placed.operands:
            if isinstance(operand, Placed):
                yield me, (id(operand),)
        for k, index in enumerate(nest):
            if index in placed.read:
                levels.setdefault(nest[: k + 1])
                yield me, nest[: k + 1]
    for prefix in levels:
        for atom in atoms(joins.tree(prefix)):
            if isinstance(atom, AccAtom):
                yield prefix, (id(atom.placed),)
        if prefix[:-1] in levels:
            yield prefix, prefix[:-1]


def _depends(tree: Tree, above: frozenset[int]) -> bool:
    return any(isinstance(a, AccAtom) and id(a.placed) in above for a in atoms(tree))


def _parents(joins: Joins) -> dict[int, list[Placed]]:
    parents: dict[int, list[Placed]] = {}
    for placed in joins.placed:
        for operand in placed.operands:
            parents.setdefault(id(operand), []).append(placed)
    return parents


def _above(placed: Placed, parents: dict[int, list[Placed]]) -> frozenset[int]:
    """Ids of all instances that an instance is a part of, without itself."""
    found: set[int] = set()
    todo = [placed]
    while todo:
        for parent in parents.get(id(todo.pop()), ()):
            if id(parent) not in found:
                found.add(id(parent))
                todo.append(parent)
    return frozenset(found)


def _circle(placed: Placed) -> LoweringError:
    return LoweringError(
        f"{placed.tensor} would wait for itself: it iterates a level that joins what is computed "
        "from it",
        hint=f"cut the region after {placed.tensor}",
    )
