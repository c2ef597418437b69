"""The spots of nodes: the statement and the index that each serves."""

from __future__ import annotations

from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.primitive import Family
from fuseloom.dataflow.why.spots import VALUES, Spot, spots
from tests.dataflow.why.explained import FULL, PARTIAL, explained


def of(schedule: str, region: int, label: str) -> set[Spot]:
    compiled = explained(schedule).compilation.regions[region]
    pairs = zip(compiled.graph.nodes, spots(compiled), strict=True)
    return {spot for node, spot in pairs if node.label == label}


def test_cells_belong_to_the_statement_of_their_column() -> None:
    assert of(PARTIAL, 0, "Acc1_p") == {Spot("T2", "n")}
    assert of(PARTIAL, 0, "LS A.k") == {Spot("T1", "k")}
    assert of(PARTIAL, 1, "LS A.k") == {Spot("T5", "k")}
    assert of(PARTIAL, 0, "Val W1") == {Spot("T2", VALUES)}
    assert of(FULL, 0, "relu H") == {Spot("H", VALUES)}


def test_what_was_inserted_belongs_where_it_serves() -> None:
    assert of(PARTIAL, 0, "copy W1.n crd") == of(PARTIAL, 0, "LS W1.n") == {Spot("T2", "n")}
    assert of(PARTIAL, 0, "VW H") == {Spot("H", VALUES)}
    assert of(PARTIAL, 0, "LW H.i") == of(PARTIAL, 0, "Drop H.i") == {Spot("H", "i")}


def test_every_node_belongs_to_a_statement_of_its_region() -> None:
    for region in explained(PARTIAL).compilation.regions:
        names = {s.out.tensor for s in region.region.statements}
        found = spots(region)
        assert len(found) == len(region.graph.nodes)
        assert {spot.statement for spot in found} == names
        rows = {*region.order, VALUES}
        for node, spot in zip(region.graph.nodes, found, strict=True):
            assert spot.index in rows, node
            if primitive(node.op).family is Family.COMPUTE:
                assert spot.statement in node.label or node.op != "binary", node
