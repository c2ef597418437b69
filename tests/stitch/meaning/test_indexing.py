"""Slices, gathers and scatters at places that are values."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.errors import ProgramError
from fuseloom.stitch.meaning.indexing import MEANINGS
from tests.stitch.meaning.cases import cases_of, untested, verify
from tests.stitch.meaning.cases.arrays import SUM
from tests.stitch.meaning.cases.operation_case import case, floats, region


@pytest.mark.parametrize("name", cases_of(MEANINGS))
def test_as_xla(name: str) -> None:
    verify(name)


def test_every_operation_has_a_test() -> None:
    assert untested(MEANINGS) == set()


def test_starts_in_one_vector() -> None:
    x = floats(4, 5)
    row = "ROOT r = f32[2,2] dynamic-slice(x, i), dynamic_slice_sizes={2,2}"
    (made,) = case(row, x=x, i=np.int32([1, 9])).results()
    np.testing.assert_array_equal(made, x[1:3, 3:5])


def test_operands_are_kept() -> None:
    x = floats(4)
    before = x.copy()
    scattered = (
        "ROOT r = f32[4] scatter(x, i, y), update_window_dims={}, inserted_window_dims={0}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum"
    )
    case(scattered, SUM, x=x, i=np.int32([0, 1]), y=floats(2)).results()
    case("ROOT r = f32[4] dynamic-update-slice(x, y, i)", x=x, y=floats(2), i=np.int32(1)).results()
    np.testing.assert_array_equal(x, before)


def test_a_scatter_of_two_arrays() -> None:
    regions = """both {
  a = f32[] parameter(0)
  b = s32[] parameter(1)
  c = f32[] parameter(2)
  d = s32[] parameter(3)
  e = f32[] add(a, c)
  f = s32[] maximum(b, d)
  ROOT r = (f32[], s32[]) tuple(e, f)
}
"""
    x, n = floats(3), np.int32([5, 0, 0])
    row = (
        "ROOT r = (f32[3], s32[3]) scatter(x, n, i, y, m), update_window_dims={}, "
        "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
        "to_apply=both"
    )
    i, y, m = np.int32([0, 2, 0]), np.float32([1, 2, 3]), np.int32([7, 8, 6])
    first, second = case(row, regions, x=x, n=n, i=i, y=y, m=m).results()
    np.testing.assert_allclose(first, x + np.float32([4, 0, 2]), rtol=1e-6)
    assert second.tolist() == [7, 0, 8]


GATHER = "ROOT r = f32[2,5] gather(x, i), index_vector_dim=1, "
SCATTER = "ROOT r = f32[4,5] scatter(x, i, y), index_vector_dim=1, to_apply=sum, "


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("ROOT r = f32[5,5] dynamic-slice(x, j, j), dynamic_slice_sizes={5,5}", "takes more of"),
        ("ROOT r = f32[2,2] dynamic-slice(x, j), dynamic_slice_sizes={2,2}", "a start for each"),
        ("ROOT r = f32[2,2] dynamic-slice(x, j, j)", "has no dynamic_slice_sizes"),
        ("ROOT r = f32[4,5] dynamic-update-slice(x, x, j)", "a start for each"),
        ("ROOT r = f32[4,5] dynamic-update-slice(x, c, j, j)", "different types"),
        (
            "ROOT r = f32[4,5] scatter(x, i, c), index_vector_dim=1, to_apply=sum, "
            "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}",
            "different types",
        ),
        (GATHER + "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}", "slice_sizes"),
        (
            GATHER + "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0,1}, "
            "slice_sizes={1,5}", "has 2 dimensions for 1 indices",
        ),
        (
            GATHER + "offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, "
            "slice_sizes={1,5}", "slices of other dimensions",
        ),
        (
            GATHER + "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
            "slice_sizes={1,9}", "takes more of",
        ),
        (
            GATHER + "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
            "slice_sizes={1,3}", "its slices are not",
        ),
        (
            GATHER + "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={9}, "
            "slice_sizes={1,5}", "do not fit",
        ),
        (
            SCATTER + "update_window_dims={}, inserted_window_dims={0}, "
            "scatter_dims_to_operand_dims={0}", "updates that do not fit",
        ),
        (SCATTER + "update_window_dims={1}, inserted_window_dims={0}", "has no scatter_dims"),
    ],
)  # fmt: skip
def test_what_does_not_fit(body: str, words: str) -> None:
    inputs = {
        "x": floats(4, 5), "i": np.int32([1, 2]), "j": np.int32(0), "y": floats(2, 5),
        "c": floats(2, 5).astype(complex).astype(np.complex64),
    }  # fmt: skip
    with pytest.raises(ProgramError) as caught:
        case(body, SUM, **inputs).results()
    assert words in caught.value.message


def test_combining_in_order() -> None:
    x, y = np.float32([1, 2]), np.float32([3, 4, 5])
    row = (
        "ROOT r = f32[2] scatter(x, i, y), update_window_dims={}, inserted_window_dims={0}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f"
    )
    (made,) = case(row, region("f", "subtract"), x=x, i=np.int32([0, 1, 0]), y=y).results()
    assert made.tolist() == [1 - 3 - 5, 2 - 4]
