"""Graphs of groups: cycles are found, and joins that would make one are known before."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

from fuseloom.stitch.contracted import ContractedGraph, acyclic, first_cycle
from fuseloom.stitch.graph import DenseComputation, DenseOperation
from fuseloom.stitch.shapes import TensorShape
from tests.tiers import counts

ONE = TensorShape("f32", (4,))


@dataclass(frozen=True)
class Group:
    operations: tuple[str, ...]
    roots: tuple[str, ...]


def graph(operands: dict[str, tuple[str, ...]]) -> DenseComputation:
    made = tuple(DenseOperation(name, "add", ONE, read) for name, read in operands.items())
    return DenseComputation("f", made, made[-1].name)


CHAIN = {"a": (), "b": ("a",), "c": ("b",), "d": ("c", "a")}


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([("a", "b"), ("c", "d")], True), ([("a", "c"), ("b",), ("d",)], False),
        ([("a", "d"), ("b", "c")], False), ([("a", "b", "c", "d")], True), ([], True),
        ([("a", "d")], False), ([("b", "d")], False), ([("a", "b", "d")], False),
    ],
)  # fmt: skip
def test_cycles_of_groups_are_found(groups: list[tuple[str, ...]], expected: bool) -> None:
    assert acyclic(graph(CHAIN), [Group(one, one) for one in groups]) is expected


def test_a_cycle_names_its_groups_in_the_order_of_values() -> None:
    both = [Group(("a", "c"), ("a", "c")), Group(("b", "d"), ("d", "b"))]
    assert set(first_cycle(graph(CHAIN), both)) == {"a", "d"}
    assert first_cycle(graph(CHAIN), [Group(("a", "c"), ("c", "a"))]) in (("c", "b"), ("b", "c"))


def test_groups_that_share_operations_read_nothing_of_each_other() -> None:
    copies = [Group(("a", "b"), ("b",)), Group(("a", "c"), ("c",)), Group(("a", "d"), ("d",))]
    assert acyclic(graph(CHAIN), copies)


@counts(small=150, deep=3_000)
def test_joins_of_random_graphs_make_no_cycle_and_are_refused_only_if_they_would(
    count: int,
) -> None:
    draw = random.Random(count)
    for _ in range(count):
        names = [f"n{number}" for number in range(draw.randint(2, 12))]
        operands = {
            name: tuple(draw.sample(names[:place], min(place, draw.randint(0, 2))))
            for place, name in enumerate(names)
        }
        made, groups = ContractedGraph(operands), {name: {name} for name in names}
        for _ in range(12):
            first, second = draw.sample(names, 2)
            if groups[first] is groups[second]:
                assert not made.makes_cycle(first, second)
                continue
            joined = groups[first] | groups[second]
            trial = [joined, *(one for one in groups.values() if not one & joined)]
            fine = acyclic(graph(operands), [Group(tuple(one), tuple(one)) for one in trial])
            assert made.makes_cycle(first, second) is not fine
            if fine and draw.random() < 0.7:
                made.join(first, second)
                groups |= dict.fromkeys(joined, joined)
            found = {one for one in names if made.reaches(first, one)}
            assert found == dependents(operands, groups, first)


def dependents(
    operands: dict[str, tuple[str, ...]], groups: dict[str, set[str]], name: str
) -> set[str]:
    """All that depends on a group, and itself."""
    found = {*groups[name]}
    while more := {
        one for user, read in operands.items() if found & {*read} for one in groups[user] - found
    }:
        found |= more
    return found
