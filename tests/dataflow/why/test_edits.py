"""Schedules with one change: what they say, and that the rest stays."""

from __future__ import annotations

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.why.edits import EditKind, ScheduleDraft, drafts
from fuseloom.models import gcn
from tests.dataflow.why.explained import FULL, KERNELS, PARTIAL, explained


def of(schedule: str, heavy: tuple[str, ...] = ()) -> list[ScheduleDraft]:
    compiled = compile_program(gcn().program, schedule)
    return list(drafts(compiled, KERNELS, [(r.name, 1.0) for r in compiled.regions], heavy))


def test_a_cut_behind_what_is_computed_again_comes_first() -> None:
    first = of(FULL, ("T1", "T2", "T3", "H"))[0]
    assert (first.kind, first.text) == (EditKind.CUT, "Cut before A·H")
    assert [str(f) for f in first.schedule.fusions] == ["fuse T1..H", "fuse T5..Y"]
    assert not first.schedule.orders


def test_programs_are_cut_between_kernels_only() -> None:
    cuts = [d.text for d in of(FULL) if d.kind is EditKind.CUT]
    names = ["·W1", "+b1", "relu", "A·H", "·W2", "+b2", "softmax"]
    assert cuts == [f"Cut before {name}" for name in names]


def test_neighbours_are_fused_and_others_keep_their_orders() -> None:
    joins = [d for d in of("order T2: i,p,n") if d.kind is EditKind.JOIN]
    (one,) = (d for d in joins if d.text == "Fuse A·X and ·W1")
    assert "fuse T1..T2" in str(one.schedule)
    assert "order T5..T5:" in str(one.schedule)
    assert "order T1..T1:" not in str(one.schedule)


def test_an_order_that_was_named_may_be_another() -> None:
    named = [d for d in of(PARTIAL) if d.kind is EditKind.ORDER]
    assert [d.text for d in named] == [
        "Another order of A·X to relu",
        "Another order of A·H to softmax",
    ]
    assert "order T1..H" not in str(named[0].schedule)
    assert "order T5..Y" in str(named[0].schedule)
    assert not [d for d in of("fuse T1..H; fuse T5..Y") if d.kind is EditKind.ORDER]


def test_what_is_not_looked_up_may_be() -> None:
    (found,) = (d for d in of("fuse T1..Y; locate off") if d.kind is EditKind.LOCATE)
    assert found.text == "Look up what A·X to softmax scans"
    assert "locate" not in str(found.schedule)


def test_merged_products_may_be_two() -> None:
    found = [d for d in of(gcn().presets["C+S"]) if d.kind is EditKind.FACTOR]
    assert found[0].text == "Compute A·X and ·W1 one after another"
    assert "global T1..T2" not in str(found[0].schedule)
    assert "global T5..T6" in str(found[0].schedule)


def test_lanes_are_proposed_where_there_are_none() -> None:
    assert any(d.text == "i of A·X to softmax in 2 lanes" for d in of(FULL))
    assert not any(d.kind is EditKind.LANES for d in of(f"{FULL}; parallel i by 4"))


def test_every_draft_of_the_gcn_is_a_schedule() -> None:
    source = explained(FULL).compilation.program
    texts = {str(d.schedule) for d in of(FULL)}
    assert len(texts) == len(of(FULL))
    for text in texts:
        compile_program(source, text)
