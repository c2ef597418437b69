"""Values of a traced module as renamed views; these tests need no PyTorch."""

from __future__ import annotations

import pytest

from fuseloom.frontends.torch.values import Support, Value

A = Value("A", (0, 1), (3, 4), Support.ZERO, covered=1)


def test_a_transposed_value_reads_the_same_tensor_the_other_way_round() -> None:
    turned = A.picked((1, 0), (4, 3))
    assert (turned.shape, turned.axes, turned.covered) == ((4, 3), (1, 0), 0)
    assert (A.plain, turned.plain, turned.picked((1, 0), (3, 4)).plain) == (True, False, True)
    assert turned.read(("j", "i")).indices == ("i", "j") == A.read(("i", "j")).indices


def test_new_dimensions_are_read_by_no_index() -> None:
    row = A.picked((0, None, 1), (3, 5, 4))
    assert row.axes == (0, None, 1)
    assert (row.rank, row.covered) == (3, 2)
    assert row.read(("i", "n", "j")).indices == ("i", "j")


def test_expanding_puts_dimensions_in_front() -> None:
    wide = A.expanded((2, 3, 4))
    assert (wide.shape, wide.axes) == ((2, 3, 4), (None, 0, 1))
    assert A.expanded((3, 4)) == A


def test_a_mask_goes_where_its_value_goes() -> None:
    mask = Value("M", (1, 0), (3, 4), Support.FULL)
    masked = Value("S", (0, 1), (3, 4), Support.MASKED, mask)
    turned = masked.picked((1, 0), (4, 3))
    assert turned.mask is not None
    assert (turned.mask.tensor, turned.mask.shape, turned.mask.axes) == ("M", (4, 3), (0, 1))


def test_a_dimension_that_every_fiber_covers_must_remain() -> None:
    with pytest.raises(ValueError, match="1 is not in list"):
        A.picked((0,), (3,))
