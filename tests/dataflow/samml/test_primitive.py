"""Entries of the catalogue: ports that a node has, and nothing left out."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.samml.catalogue import CATALOGUE, primitive
from fuseloom.dataflow.samml.primitive import Family, Port, Primitive, required_fields
from fuseloom.errors import GraphError


def said(name: str) -> dict[str, object]:
    """Return the fields of an entry, to be registered again."""
    entry = primitive(name)
    return {field: getattr(entry, field) for field in required_fields()}


def test_fixed_ports_are_as_many_as_there_are() -> None:
    alu = primitive("binary")
    assert [port.name for port in alu.input_ports(2)] == [port.name for port in alu.inputs]
    for wrong in (0, 1, 3):
        with pytest.raises(GraphError, match=f"cannot have {wrong} inputs") as caught:
            alu.input_ports(wrong)
        assert caught.value.hint == alu.doc


def test_a_group_of_ports_comes_whole() -> None:
    joiner = primitive("intersect")
    assert len(joiner.input_ports(6)) == 6
    with pytest.raises(GraphError, match="cannot have 5 inputs"):
        joiner.input_ports(5)
    assert len(primitive("broadcast").output_ports(7)) == 7


def test_depths_may_be_parameters() -> None:
    assert Port("in", (), 1).depth_of({}) == 1
    assert Port("in", (), "levels", deeper=1).depth_of({"levels": 3}) == 4


@pytest.mark.parametrize("trait", required_fields())
def test_an_entry_that_leaves_something_out_is_an_error(trait: str) -> None:
    given = said("unary")
    del given[trait]
    with pytest.raises(GraphError, match=f"'warp' says nothing of {trait}"):
        Primitive("warp", **given)


def test_colours_are_those_of_families_and_tell_them_apart() -> None:
    assert primitive("unary").colour == Family.COMPUTE.value
    assert len({family.value for family in Family}) == len(Family)
    used = {entry.family for entry in CATALOGUE.values()}
    assert used == set(Family)
