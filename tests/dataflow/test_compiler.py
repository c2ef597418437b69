"""From program and schedule to graphs: orders chosen, copies named, channels sized."""

from __future__ import annotations

import pytest

from engine.dataflow.compiler import compile_program, compile_region
from engine.dataflow.fusion.fuse import fuse
from engine.dataflow.fusion.schedule import Schedule
from engine.errors import FuseloomError, OrderError
from engine.models import load
from engine.program import parse

SPMM = "A: 4x5 csr\nX: 5x3 dense\nT[i,j] = A[i,k] * X[k,j]\nH[i,j] = relu(T[i,j])"


def test_without_a_schedule_every_statement_is_a_region() -> None:
    compiled = compile_program(parse(SPMM))
    assert [r.name for r in compiled.regions] == ["T", "H"]
    assert compiled.schedule == Schedule()


def test_a_schedule_may_be_text() -> None:
    text = "fuse T..H; order T: i,k,j"
    (region,) = compile_program(parse(SPMM), text).regions
    assert region.order == ("i", "k", "j")
    assert compile_program(parse(SPMM), Schedule.parse(text)).regions[0].graph == region.graph


def test_an_order_is_the_given_one_or_the_first_that_can_be_built() -> None:
    (region,) = fuse(parse(SPMM), Schedule.parse("fuse T..H"))
    assert compile_region(region).order in set(region.pog.orders())
    for order in region.pog.orders():
        assert compile_region(region, order).order == order
    with pytest.raises(OrderError, match="k"):
        compile_region(region, ("k", "i", "j"))


def test_copies_are_sparse_tensors_in_another_mode_order() -> None:
    text = "A: 4x5 csr\nx: 4 dense\ny[j] = A[i,j] * x[i]\n"
    (region,) = compile_program(parse(text), "permute A to j,i; order y: j,i").regions
    assert region.copies == ("A",)
    dense = compile_program(parse(text.replace("csr", "dense")), "order y: j,i")
    assert dense.regions[0].copies == ()


def test_sized_channels_follow_the_extents_and_leave_the_rest() -> None:
    model, _ = load("gcn", "karate")
    compiled = compile_program(model.program, model.presets["partial"])
    sized = compiled.sized()
    assert all(s.capacity for r in sized.regions for s in r.graph.streams)
    assert not any(s.capacity for r in compiled.regions for s in r.graph.streams)
    for before, after in zip(compiled.regions, sized.regions, strict=True):
        assert after.graph.nodes == before.graph.nodes
        assert (after.region, after.table) == (before.region, before.table)


def test_what_stands_in_the_way_is_named() -> None:
    with pytest.raises(FuseloomError, match="Z"):
        compile_program(parse(SPMM), "fuse T..Z")


def test_text_has_every_region_table_and_graph() -> None:
    text = str(compile_program(parse(SPMM), "fuse T..H"))
    assert "T..H" in text
    assert "scan" in text
