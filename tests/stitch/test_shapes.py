"""Types of values: sizes, texts, and what is none."""

from __future__ import annotations

import pytest

from fuseloom.errors import ProgramError
from fuseloom.stitch.shapes import ELEMENTS, TensorShape, TupleShape


@pytest.mark.parametrize(
    ("element", "dims", "bytes_", "text"),
    [
        ("f32", (8, 32), 1024, "f32[8,32]"), ("bf16", (3,), 6, "bf16[3]"),
        ("pred", (), 1, "pred[]"), ("c128", (2, 0), 0, "c128[2,0]"), ("u8", (1,) * 8, 1, None),
    ],
)  # fmt: skip
def test_sizes(element: str, dims: tuple[int, ...], bytes_: int, text: str | None) -> None:
    shape = TensorShape(element, dims)
    assert shape.byte_size == bytes_
    assert text in (None, str(shape))
    assert shape.rank == len(dims)
    assert TupleShape((shape, shape)).byte_size == 2 * bytes_


def test_tuples_are_written() -> None:
    shape = TensorShape("s32", (2,))
    assert str(TupleShape((shape, TupleShape(())))) == "(s32[2], ())"


@pytest.mark.parametrize(
    ("element", "dims", "says"),
    [
        ("f33", (2,), "'f33' is no type of elements"),
        ("f32", (2, -1), "has a negative extent"),
        ("f32", (1,) * 9, "more than 8 dimensions"),
    ],
)
def test_what_is_no_shape_is_refused(element: str, dims: tuple[int, ...], says: str) -> None:
    with pytest.raises(ProgramError, match=says):
        TensorShape(element, dims)


def test_every_type_has_one_of_numpy() -> None:
    assert all(TensorShape(name, ()).dtype == dtype for name, dtype in ELEMENTS.items())
