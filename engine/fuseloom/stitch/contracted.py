"""Graphs of groups of operations: joining groups without making a cycle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from fuseloom.stitch.graph import DenseComputation


class OperationGroup(Protocol):
    """Operations that run as one kernel."""

    @property
    def operations(self) -> tuple[str, ...]:
        """All of them."""

    @property
    def roots(self) -> tuple[str, ...]:
        """Those whose values others read from memory."""


def first_cycle(computation: DenseComputation, groups: Sequence[OperationGroup]) -> tuple[str, ...]:
    """Find a cycle of groups, each of which reads what the one before it makes.

    Groups may share operations, which each of them computes; a value is read from the group that
    has it as a root, and what is in no group stands for itself.

    Returns
    -------
    tuple of str
        A root of each group of the cycle; empty if there is none.

    Examples
    --------
    >>> from fuseloom.stitch.graph import DenseOperation
    >>> from fuseloom.stitch.shapes import TensorShape
    >>> shape = TensorShape("f32", (4,))
    >>> a = DenseOperation("a", "iota", shape)
    >>> b = DenseOperation("b", "negate", shape, ("a",))
    >>> c = DenseOperation("c", "add", shape, ("a", "b"))
    >>> from types import SimpleNamespace as Group
    >>> graph = DenseComputation("f", (a, b, c), "c")
    >>> outer = Group(operations=("a", "c"), roots=("a", "c"))
    >>> first_cycle(graph, [outer, Group(operations=("b",), roots=("b",))])
    ('b', 'a')
    >>> first_cycle(graph, [Group(operations=("a", "b", "c"), roots=("c",))])
    ()
    """
    makers = {root: number for number, group in enumerate(groups) for root in group.roots}
    inside: dict[int, frozenset[str]] = {
        number: frozenset(group.operations) for number, group in enumerate(groups)
    }
    names = {number: group.roots[0] for number, group in enumerate(groups)}
    for number, operation in enumerate(computation.operations, len(groups)):
        if operation.name not in makers:
            makers[operation.name] = number
            inside[number] = frozenset((operation.name,))
            names[number] = operation.name
    reads = {
        number: {
            makers[operand]
            for name in of_one
            for operand in computation.by_name[name].operands
            if operand not in of_one
        }
        for number, of_one in inside.items()
    }
    return tuple(names[number] for number in _cycle(reads))


def acyclic(computation: DenseComputation, groups: Sequence[OperationGroup]) -> bool:
    """Tell if groups can run one after another."""
    return not first_cycle(computation, groups)


def _cycle(reads: Mapping[int, set[int]]) -> list[int]:
    """Nodes of a cycle, in the order in which values flow."""
    left = {number: set(of_one) for number, of_one in reads.items()}
    users: dict[int, list[int]] = {number: [] for number in reads}
    for number, of_one in reads.items():
        for one in of_one:
            users[one].append(number)
    ready = [number for number, of_one in left.items() if not of_one]
    while ready:
        number = ready.pop()
        del left[number]
        for user in users[number]:
            left[user].discard(number)
            if not left[user]:
                ready.append(user)
    path: list[int] = []
    node = min(left, default=None)
    while node is not None and node not in path:
        path.append(node)
        node = min(left[node])
    return path[path.index(node) :][::-1] if node is not None else []


class ContractedGraph:
    """Groups of operations, and for each group all that depends on it.

    Parameters
    ----------
    operands : mapping
        Per operation, each behind those that it reads, the operations that it reads.

    Examples
    --------
    >>> graph = ContractedGraph({"a": (), "b": ("a",), "c": ("a", "b")})
    >>> graph.makes_cycle("a", "c"), graph.makes_cycle("b", "c")
    (True, False)
    >>> graph.join("b", "c")
    >>> graph.makes_cycle("a", "c"), graph.group_of("b") == graph.group_of("c")
    (False, True)
    """

    def __init__(self, operands: Mapping[str, Sequence[str]]) -> None:
        self._numbers = {name: number for number, name in enumerate(operands)}
        self._group: list[int] = [*range(len(operands))]
        self._members = [[number] for number in range(len(operands))]
        self._live = (1 << len(operands)) - 1  # bits of groups that were not joined to another
        self._reached = [1 << number for number in range(len(operands))]
        self._reaching = [*self._reached]
        read = [[self._numbers[one] for one in of_one] for of_one in operands.values()]
        for number, of_one in enumerate(read):
            for operand in of_one:
                self._reaching[number] |= self._reaching[operand]
        for number in reversed(range(len(read))):
            for operand in read[number]:
                self._reached[operand] |= self._reached[number]

    def group_of(self, name: str) -> int:
        """The number of the group that an operation is in."""
        return self._group[self._numbers[name]]

    def reaches(self, first: str, second: str) -> bool:
        """Tell if the group of an operation depends on that of another."""
        return bool(self._reached[self.group_of(first)] >> self.group_of(second) & 1)

    def makes_cycle(self, first: str, second: str) -> bool:
        """Tell if another group would come to lie between two that are joined."""
        a, b = self.group_of(first), self.group_of(second)
        return a != b and (self._passes(a, b) or self._passes(b, a))

    def _passes(self, first: int, second: int) -> bool:
        between = self._reached[first] & self._reaching[second] & self._live
        return bool(between & ~(1 << first | 1 << second))

    def join(self, first: str, second: str) -> None:
        """Make one group of those of two operations; between them there must be no other."""
        a, b = self.group_of(first), self.group_of(second)
        if a == b:
            return
        if len(self._members[a]) < len(self._members[b]):
            a, b = b, a
        for number in self._members[b]:
            self._group[number] = a
        self._members[a] += self._members[b]
        self._members[b] = []
        self._live &= ~(1 << b)
        ahead, behind = self._reached, self._reaching
        after, before = ahead[a] | ahead[b], behind[a] | behind[b]
        changes = []
        for one, other in ((a, b), (b, a)):  # what depends on both, or both on it, knows all
            if ahead[other] & ~ahead[one] & self._live:
                changes.append((ahead, behind[one] & ~behind[other], after))
            if behind[other] & ~behind[one] & self._live:
                changes.append((behind, ahead[one] & ~ahead[other], before))
        for reached, groups, added in changes:
            for group in _places(groups & self._live):
                reached[group] |= added
        ahead[a], behind[a] = after, before


def _places(bits: int) -> Iterator[int]:
    """The places of the bits that are set."""
    text = bin(bits)[:1:-1]
    place = text.find("1")
    while place >= 0:
        yield place
        place = text.find("1", place + 1)
