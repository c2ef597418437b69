"""Numbers of estimates say where they come from."""

from __future__ import annotations

import pytest

import fuseloom as fl
from fuseloom.dataflow.cost import Estimate
from fuseloom.errors import DataError
from fuseloom.models import gcn, karate


@pytest.fixture(scope="module")
def partial() -> Estimate:
    model = gcn()
    return fl.estimate(fl.compile(model.program, model.presets["partial"]), karate())


def test_a_region_ends_with_the_chain_that_ends_last(partial: Estimate) -> None:
    why = partial.why("T1..H")
    region = partial.regions[0]
    assert why.value == region.cycles
    assert why.unit == "cycles"
    ends = [part.value for found in why.inputs for part in found.inputs if part.what == "done at"]
    assert ends == sorted(ends)
    assert max(n.cycles for n in region.nodes) in [found.value for found in why.inputs]


def test_a_node_by_label_or_number(partial: Estimate) -> None:
    region = partial.regions[0]
    busiest = region.bottleneck
    label = region.graph.nodes[busiest.node].label
    for name in (busiest.node, label):
        why = partial.why("T1..H", name)
        assert why.value == busiest.cycles
        assert why.formula.startswith("a step for ")
    with pytest.raises(DataError, match="no node is called 'nothing'"):
        partial.why("T1..H", "nothing")


def test_a_tensor_and_how_it_is_known(partial: Estimate) -> None:
    assert partial.why("A").value == 156
    assert partial.why("A").formula == "stored in the data"
    assert partial.why("H").value == 34 * 16
    assert partial.why("H").formula == "coordinates that the region executed writes"
    with pytest.raises(DataError, match="no region or tensor is called 'Q'"):
        partial.why("Q")


def test_statistics_say_that_they_are() -> None:
    model = gcn()
    rough = fl.estimate(fl.compile(model.program, ""), karate(), mode="metadata")
    assert rough.why("T1").what == "region T1, from statistics of the tensors"
    names = {name for region in rough.regions for name in region.tensors}
    assert rough.why("T2").value == rough.regions[1].cycles
    assert {"A", "X", "H", "T1"} <= names
    assert rough.regions[1].tensors["T1"].formula == "expected from statistics"


def test_as_text_and_as_data(partial: Estimate) -> None:
    why = partial.why("T5..Y")
    lines = str(why).splitlines()
    assert lines[0].startswith("region T5..Y, from the graph executed on coordinates: 2,787 cycles")
    assert all(line.startswith("  ") for line in lines[1:])
    data = why.to_dict()
    assert data["inputs"][0]["inputs"][0]["unit"] == "tokens"
