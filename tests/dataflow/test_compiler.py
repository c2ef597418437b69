"""From program and schedule to graphs: orders chosen, copies named, channels sized."""

from __future__ import annotations

import pytest

from engine.dataflow.compiler import compile_program, compile_region
from engine.dataflow.fusion.fuse import fuse
from engine.dataflow.fusion.schedule import Schedule
from engine.errors import FuseloomError, OrderError, ScheduleError
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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fuse y..w", "names 'w', but no statement"),
        ("fuse y; fuse z..y", "'fuse z..y' runs backwards"),
        ("fuse y..z; fuse z", "both claim z"),
        ("fuse y..z; materialise q", "names 'q'"),
        ("fuse y..z; materialise z", "'materialise z' changes nothing"),
        ("order q: i", "'order q: i' names no statement"),
        ("order y: i,q", "y has no index q"),
        ("fuse y; order y..z: i", "'order y..z: i' names no region"),
        ("fuse y..z; order y..z: j,i", "i must stay outside j"),
        ("fuse y..z; parallel q by 2", "no region has an index q"),
        ("parallel y..z: i by 2", "names no region"),
        ("fuse y..z; permute Q to i", "no region has such a view over i"),
        ("fuse y..z; locate y..y: off", "names no region"),
        ("fuse y..z; block 3", "3"),
        ("fuse y..z; global z..y", "runs backwards"),
        ("fuse y..z; parallel i by 2; parallel i by 4", "i is parallelised twice"),
        ("fuse y..z; parallel i by 5000", "5000 lanes"),
    ],
)
def test_what_shows_late_has_the_place_of_its_directive(text: str, message: str) -> None:
    """The last directive of each text is at fault, but for one that two share."""
    program = parse("A: 4x4 csr\nx: 4 dense\ny[i] = A[i,j] * x[j]\nz[i] = relu(y[i])")
    schedule = Schedule.parse("# a comment\n " + text, source="a.sched")
    with pytest.raises(FuseloomError, match=message) as caught:
        compile_program(program, schedule)
    wanted = "parallel i by 2" if "by 4" in text else text.rpartition("; ")[2]
    column = 2 + text.index(wanted)
    place = {"source": "a.sched", "line": 2, "column": column}
    assert caught.value.place == place
    assert str(caught.value).startswith(f"a.sched: line 2, column {column}: ")


def test_a_program_without_regions_has_no_views_to_name() -> None:
    program = parse("A: 2x2 dense\nR: 4 dense\nR[a] = reshape(A[i,j])")
    for text in ("permute A to j,i", "locate off", "parallel i by 2"):
        with pytest.raises(ScheduleError, match=r"the program has no region \(hint: memory does"):
            compile_program(program, text)
