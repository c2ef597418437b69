"""Folding a graph: groups of nodes become boxes, and what crosses their edges becomes bundles.

Nothing is lost by it: every line is in exactly one bundle, or inside exactly one box; with nothing
folded, each line is a bundle of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import Enum

MOST = 150
"""Nodes and boxes that are drawn unless a user wants more."""


class GroupLevel(Enum):
    """The level of a group."""

    REGION = "region"
    KERNEL = "kernel"


@dataclass(frozen=True)
class Group:
    """Nodes that can be folded together.

    Attributes
    ----------
    key : str
        Stays the same over small edits.
    name : str
        What people call it.
    """

    key: str
    name: str
    level: GroupLevel


@dataclass(frozen=True)
class Item:
    """A node, with the keys of the groups around it, outermost first."""

    key: str
    groups: tuple[str, ...] = ()


@dataclass(frozen=True)
class GroupEdge:
    """An edge, by the keys of its ends."""

    key: str
    start: str
    end: str


@dataclass(frozen=True)
class FoldableGraph:
    """A graph that can be folded."""

    items: tuple[Item, ...]
    lines: tuple[GroupEdge, ...]
    groups: Mapping[str, Group] = field(default_factory=dict)

    def members(self, group: str) -> list[str]:
        """The keys of a group's items."""
        return [item.key for item in self.items if group in item.groups]


@dataclass(frozen=True)
class Box:
    """A folded group.

    Attributes
    ----------
    key : str
        Of the group.
    members, inside : tuple of str
        Keys of its items, and of the lines between them.
    around : tuple of str
        Keys of the open groups that it stands in, outermost first.
    """

    key: str
    members: tuple[str, ...]
    inside: tuple[str, ...]
    around: tuple[str, ...]


@dataclass(frozen=True)
class Bundle:
    """Lines between two things drawn; several only if one of these is a box."""

    start: str
    end: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class FoldedGraph:
    """The drawn graph: items that stay, boxes, and bundles between them."""

    items: tuple[Item, ...]
    boxes: tuple[Box, ...]
    bundles: tuple[Bundle, ...]

    @property
    def size(self) -> int:
        """Nodes and boxes that are drawn."""
        return len(self.items) + len(self.boxes)


def fold(net: FoldableGraph, closed: Collection[str]) -> FoldedGraph:
    """Fold the groups of these keys; a group in a folded one is not seen.

    Examples
    --------
    >>> net = FoldableGraph((Item("a", ("g",)), Item("b", ("g",)), Item("c")),
    ...           (GroupEdge("1", "a", "b"), GroupEdge("2", "a", "c"), GroupEdge("3", "b", "c")))
    >>> fold(net, {"g"}).boxes
    (Box(key='g', members=('a', 'b'), inside=('1',), around=()),)
    >>> fold(net, {"g"}).bundles
    (Bundle(start='g', end='c', lines=('2', '3')),)
    """
    owner: dict[str, str] = {}
    around: dict[str, tuple[str, ...]] = {}
    members: dict[str, list[str]] = {}
    for item in net.items:
        depth = next((d for d, group in enumerate(item.groups) if group in closed), None)
        if depth is not None:
            box = item.groups[depth]
            owner[item.key] = box
            around[box] = item.groups[:depth]
            members.setdefault(box, []).append(item.key)
    inside: dict[str, list[str]] = {box: [] for box in members}
    bundles: dict[tuple[str, ...], list[str]] = {}
    for line in net.lines:
        start, end = owner.get(line.start, line.start), owner.get(line.end, line.end)
        if start == end and start in members:
            inside[start].append(line.key)
            continue
        boxed = start in members or end in members
        bundles.setdefault((start, end) if boxed else (start, end, line.key), []).append(line.key)
    return FoldedGraph(
        tuple(item for item in net.items if item.key not in owner),
        tuple(Box(key, tuple(members[key]), tuple(inside[key]), around[key]) for key in members),
        tuple(Bundle(ends[0], ends[1], tuple(lines)) for ends, lines in bundles.items()),
    )


def closed_groups(
    net: FoldableGraph, choices: Mapping[str, bool], most: int = MOST
) -> tuple[frozenset[str], GroupLevel | None]:
    """Which groups are folded: those that a user chose, and others as far as needed.

    While more than ``most`` nodes and boxes would be drawn, kernels of which nothing was chosen are
    folded, and then regions.  Also gives the last level that was folded so, if any was.
    """
    known = net.groups
    closed = frozenset(key for key in known if choices.get(key, False))
    folded = None
    for level in (GroupLevel.KERNEL, GroupLevel.REGION):
        if fold(net, closed).size <= most:
            break
        free = {key for key, g in known.items() if g.level is level and key not in choices}
        if free:
            closed, folded = closed | free, level
    return closed, folded
