"""Sorting networks, sorts and the largest elements."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from fuseloom.errors import ProgramError
from fuseloom.stitch.meaning.ordering import MEANINGS, merge_exchanges
from tests.stitch.meaning.cases import cases_of, untested, verify
from tests.stitch.meaning.cases.operation_case import case, floats, region


@pytest.mark.parametrize("name", cases_of(MEANINGS))
def test_as_xla(name: str) -> None:
    verify(name)


def test_every_operation_has_a_test() -> None:
    assert untested(MEANINGS) == set()


@pytest.mark.parametrize("count", [*range(12), 100])
def test_the_network_sorts_zeros_and_ones(count: int) -> None:
    """A network that sorts all of these sorts everything."""
    if not 0 < count < 12:
        rows = np.random.default_rng(0).integers(0, 2, (count, 500))
    else:
        rows = np.array(list(product((0, 1), repeat=count))).reshape(-1, count).T
    made = rows.copy()
    for low, high in merge_exchanges(count):
        assert not set(low) & set(high)
        first, second = made[low], made[high]
        made[low], made[high] = np.minimum(first, second), np.maximum(first, second)
    np.testing.assert_array_equal(made, np.sort(rows, axis=0))


@pytest.mark.parametrize("count", [0, 1, 2, 33])
def test_sorts_are_stable(count: int) -> None:
    keys = np.random.default_rng(count).integers(0, 5, count).astype(np.int32)
    places = np.arange(count, dtype=np.int32)
    less = """less {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=LT
}
"""
    kind = f"s32[{count}]"
    row = f"ROOT r = ({kind}, {kind}) sort(x, y), dimensions={{0}}, to_apply=less"
    made = case(row, less, x=keys, y=places).results()
    order = np.argsort(keys, kind="stable")
    np.testing.assert_array_equal(made[0], keys[order])
    np.testing.assert_array_equal(made[1], order)


def test_the_smallest_elements() -> None:
    x = floats(3, 9)
    row = "ROOT r = (f32[3,4], s32[3,4]) topk(x), k=4, largest=false"
    values, places = case(row, x=x).results()
    np.testing.assert_array_equal(values, np.sort(x, -1)[:, :4])
    np.testing.assert_array_equal(places, np.argsort(x, -1)[:, :4])


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("ROOT r = f32[2,3] sort(x), dimensions={0,1}, to_apply=less", "do not fit"),
        ("ROOT r = f32[2,3] sort(x), dimensions={0}", "has no to_apply"),
        ("ROOT r = (f32[2,3], f32[4]) sort(x, y), dimensions={0}, to_apply=less", "of one shape"),
        ("ROOT r = (f32[2,2], s32[2,2]) topk(x), largest=true", "has no k"),
        ("ROOT r = f32[2,3] sort(x), dimensions={0}, to_apply=sum", "do not fit"),
    ],
)
def test_what_does_not_fit(body: str, words: str) -> None:
    regions = region("less", "compare", more=", direction=LT") + region("sum", "add")
    with pytest.raises(ProgramError) as caught:
        case(body, regions, x=floats(2, 3), y=floats(4)).results()
    assert words in caught.value.message
