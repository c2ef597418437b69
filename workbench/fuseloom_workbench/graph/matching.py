"""Which nodes of two graphs do the same: by what they do, and by what is around them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

ROUNDS = 3
"""The number of hops around two nodes within which equality is checked."""


@dataclass(frozen=True)
class NodeSignature:
    """The signature of a node's work.

    Attributes
    ----------
    op : str
        Its primitive.
    statement, index : str
        The statement and index that it serves.
    tensor : str
        The tensor that it reads, writes or repeats; may be empty.
    detail : str
        Its function and level.
    label : str
        What people call it; with its lane, where there are several.
    """

    op: str
    statement: str
    index: str
    tensor: str = ""
    detail: str = ""
    label: str = ""


@dataclass(frozen=True)
class Marked:
    """A graph whose nodes are known by what they do.

    Attributes
    ----------
    marks : sequence of NodeSignature
        One per node.
    edges : sequence of (int, int)
        Positions of producer and consumer.
    """

    marks: Sequence[NodeSignature]
    edges: Sequence[tuple[int, int]] = ()


def match(a: Marked, b: Marked) -> dict[int, int]:
    """Nodes of ``a`` to the nodes of ``b`` that do the same, one to one.

    Nodes with the same surroundings are matched first, then those that are called the same, then
    those that do the same for the same statement, and last those that do the same for any, as one
    expression may stand for several.  The other way round, the result is the inverse.

    Examples
    --------
    >>> scan, add = NodeSignature("scan", "T", "i", "A"), NodeSignature("reduce", "T", "i")
    >>> match(Marked([scan, add], [(0, 1)]), Marked([add, scan, scan], [(1, 0)]))
    {0: 1, 1: 0}
    """
    found: dict[int, int] = {}
    taken: set[int] = set()
    around_a, around_b = _surroundings(a), _surroundings(b)
    for radius in reversed(range(ROUNDS + 1)):
        _pair(around_a[radius], around_b[radius], found, taken)
    for key in (_same_work, _same_kind):
        _pair([key(m) for m in a.marks], [key(m) for m in b.marks], found, taken)
    return dict(sorted(found.items()))


def _same_work(mark: NodeSignature) -> Hashable:
    return mark.op, mark.statement, mark.index, mark.tensor, mark.detail


def _same_kind(mark: NodeSignature) -> Hashable:
    return mark.op, mark.index, mark.tensor, mark.detail


def _pair(
    mine: Sequence[Hashable], theirs: Sequence[Hashable], found: dict[int, int], taken: set[int]
) -> None:
    """Pair those that are free and have one key, in order; in place."""
    free: dict[Hashable, list[int]] = {}
    for place, key in enumerate(theirs):
        if place not in taken:
            free.setdefault(key, []).append(place)
    for queue in free.values():
        queue.reverse()
    for place, key in enumerate(mine):
        if place not in found and free.get(key):
            found[place] = free[key].pop()
            taken.add(found[place])


def _surroundings(graph: Marked) -> list[list[Hashable]]:
    """For each radius from 0 on, what each node and all so far around it do."""
    into: Mapping[int, list[int]] = {k: [] for k in range(len(graph.marks))}
    outof: Mapping[int, list[int]] = {k: [] for k in range(len(graph.marks))}
    for start, end in graph.edges:
        into[end].append(start)
        outof[start].append(end)
    rounds: list[list[Hashable]] = [[hash(mark) for mark in graph.marks]]
    for _ in range(ROUNDS):
        last = rounds[-1]
        rounds.append([_around(k, last, into, outof) for k in range(len(graph.marks))])
    return rounds


def _around(
    node: int,
    last: Sequence[Hashable],
    into: Mapping[int, list[int]],
    outof: Mapping[int, list[int]],
) -> Hashable:
    def known(nodes: list[int]) -> tuple[int, ...]:
        return tuple(sorted(hash(last[other]) for other in nodes))

    return hash((last[node], known(into[node]), known(outof[node])))
