"""Tensors read at sums of indices."""

from __future__ import annotations

from dataclasses import replace

from fuseloom.access.readings import number, whole_tensor
from fuseloom.access.views import part_of, regrouped, reshaped, widened
from fuseloom.program.windows import IndexSum


def test_places_are_sums_of_numbered_indices() -> None:
    tensor = whole_tensor("A", (4, 6))
    turned = tensor.moved(lambda view: widened(view, (6, 4), (1, 0)))
    assert turned.sums() == (IndexSum.index("1"), IndexSum.index("0"))
    places = [part_of(view, (6, 2), 1, 3) for view in turned.places]
    low = replace(turned, places=tuple(x for x in places if x is not None))
    assert low.sums()[0] == IndexSum((("1", 1),), 3)
    assert low.is_inside is False
    assert not low.is_complete
    assert not low.is_outside


def test_what_is_split_is_read_at_multiples() -> None:
    tensor = whole_tensor("x", (6,))
    found = [reshaped(view, (2, 3)) for view in tensor.places]
    split = replace(tensor, places=tuple(x for x in found if x is not None))
    assert split.sums() == (IndexSum((("0", 3), ("1", 1))),)
    assert split.is_complete


def test_indices_of_one_element_are_not_read() -> None:
    tensor = whole_tensor("x", (1, 6))
    assert tensor.read == {1}
    assert tensor.extents == {"0": 1, "1": 6}
    grouped = tensor.moved(lambda view: regrouped(view, ((1,), (2, 3))))
    assert grouped.read == {1, 2}


def test_a_number_has_no_tensor() -> None:
    found = number(2.5, whole_tensor("x", (3,)).view)
    assert (found.value, found.dims, found.sums()) == (2.5, (3,), ())
    assert found.is_complete


def test_what_lies_outside() -> None:
    tensor = whole_tensor("x", (3,))
    places = [part_of(view, (2,), 0, 3) for view in tensor.places]
    assert replace(tensor, places=tuple(x for x in places if x is not None)).is_outside
