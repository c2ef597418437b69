"""Views of tensors: which indices read them, and where dimensions are."""

from __future__ import annotations

import itertools

import pytest

from fuseloom.frontends.algebra.tensors import TensorView, axes_of

AXES = [
    axes
    for rank in range(4)
    for kept in range(rank + 1)
    for axes in dict.fromkeys(itertools.permutations([*range(kept), *[None] * (rank - kept)]))
]


@pytest.mark.parametrize("axes", AXES, ids=str)
def test_a_view_is_read_by_the_indices_of_the_dimensions_that_it_has(
    axes: tuple[int | None, ...],
) -> None:
    view, names = TensorView("A", axes), "ijk"[: len(axes)]
    read = view.read(names)
    assert read.tensor == "A"
    assert axes_of(names, read.indices) == axes, "and back"
    assert [names[d] for d in view.held] == list(read.indices)
    assert view.rank == len(axes)
    assert view.plain == (read.indices == tuple(names))


def test_a_dimension_without_an_index_is_in_no_tensor() -> None:
    assert axes_of((None, "i", "k"), ("i", "j")) == (None, 0, None)
