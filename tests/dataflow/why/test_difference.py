"""The difference of two runs: three tables, each of which adds up."""

from __future__ import annotations

from fuseloom.dataflow.why.attribution import attribution
from fuseloom.dataflow.why.difference import difference
from tests.dataflow.why.explained import FULL, PARTIAL, explained


def trees() -> list:
    pairs = [explained(PARTIAL), explained(FULL)]
    return [attribution(e.record, e.compilation) for e in pairs]


def test_the_full_fusion_is_slower_by_its_second_product() -> None:
    found = difference(*trees())
    assert (found.a, found.b, found.more) == (14_106, 49_474, 35_368)
    for changes in (found.statements, found.nodes, found.causes):
        assert sum(c.more for c in changes) == 35_368
    assert (found.statements[0].name, found.nodes[0].name) == ("T2", "Acc1_p")
    assert (found.nodes[0].a, found.nodes[0].b) == (10_049, 48_671)
    assert found.causes[0].name == "working"
    assert found.nodes[0].within == "T2"


def test_nodes_of_one_run_only_count_whole() -> None:
    found = difference(*trees())
    alone = [c for c in found.nodes if c.a is None or c.b is None]
    assert alone
    for change in alone:
        assert change.more == (change.b or 0) - (change.a or 0)
    assert any(c.b is None for c in alone)


def test_a_run_does_not_differ_from_itself() -> None:
    one, _ = trees()
    found = difference(one, one)
    assert not any(c.more for c in (*found.statements, *found.nodes, *found.causes))
    assert sum(c.a or 0 for c in found.nodes) == 14_106


def test_a_run_that_was_not_explained_is_one_part_per_region() -> None:
    one, _ = trees()
    bare = explained(PARTIAL, explain=False)
    found = difference(one, attribution(bare.record, bare.compilation))
    assert found.more == 0
    assert sum(c.more for c in found.statements) == 0
    assert {"‹T1..H: not explained›", "‹T5..Y: not explained›"} <= {
        c.name for c in found.statements
    }


def test_a_difference_is_plain_data() -> None:
    told = difference(*trees()).to_dict()
    assert told["more"] == 35_368
    assert told["statements"][0]["more"] == told["statements"][0]["b"] - told["statements"][0]["a"]
