"""Nodes of pipelines: queries that are shared, room that is used again, what is freed."""

from __future__ import annotations

from fuseloom.calls.annotated import DataHandle
from fuseloom.calls.composition import compose
from fuseloom.calls.data_kinds import Matrix
from fuseloom.calls.pipeline import build_pipeline
from fuseloom.calls.pipeline_nodes import AllocateNode, ComputeNode, FreeNode, InsertNode, QueryNode
from fuseloom.calls.resolution import resolve

from .programs import ADD, EXP, ROW_SUMS

A, B, C, D, E = (DataHandle(name, Matrix()) for name in "ABCDE")


def nodes(*calls):
    return list(build_pipeline(resolve(compose(calls))).nodes())


def test_the_same_part_is_queried_once() -> None:
    made = nodes(EXP(A, B), ADD(A, B, C))
    assert [x.source for x in made if isinstance(x, QueryNode)].count("A") == 1
    other = nodes(ROW_SUMS(A, B), ADD(A, B, C))
    assert [x.source for x in other if isinstance(x, QueryNode)].count("A") == 2


def test_what_is_queried_or_allocated_is_freed_once() -> None:
    made = nodes(EXP(A, B), ROW_SUMS(B, C), ADD(C, A, D), EXP(D, E))
    had = [x.name for x in made if isinstance(x, AllocateNode)]
    had += [x.name for x in made if isinstance(x, QueryNode) and x.source in "ABCDE"]
    freed = [x.name for x in made if isinstance(x, FreeNode)]
    assert sorted(had) == sorted(freed)


def test_room_is_used_again_when_it_is_no_longer_read_and_only_then() -> None:
    made = nodes(EXP(A, B), EXP(B, C), EXP(C, D), EXP(D, E))
    assert len([x for x in made if isinstance(x, AllocateNode)]) == 2
    fork = nodes(EXP(A, B), EXP(B, C), EXP(C, D), ADD(D, B, E))
    assert len([x for x in fork if isinstance(x, AllocateNode)]) == 3


def test_only_the_result_is_put_back() -> None:
    made = nodes(EXP(A, B), EXP(B, C))
    assert [x.target for x in made if isinstance(x, InsertNode)] == ["C"]
    assert [x.call.output.name for x in made if isinstance(x, ComputeNode)] == ["B", "C"]
