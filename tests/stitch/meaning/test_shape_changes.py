"""Operations that move elements."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.errors import ProgramError
from fuseloom.stitch.meaning.shape_changes import MEANINGS
from tests.stitch.meaning.cases import cases_of, untested, verify
from tests.stitch.meaning.cases.operation_case import case


@pytest.mark.parametrize("name", cases_of(MEANINGS))
def test_as_xla(name: str) -> None:
    verify(name)


def test_every_operation_has_a_test() -> None:
    assert untested(MEANINGS) == {"get-dimension-size"}


X = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_extents() -> None:
    (made,) = case("ROOT r = s32[] get-dimension-size(x), dimensions={1}", x=X).results()
    assert (made.dtype, int(made)) == (np.int32, 3)


def test_broadcast_with_dimensions_in_another_order() -> None:
    (made,) = case("ROOT r = f32[3,4,2] broadcast(x), dimensions={2,0}", x=X).results()
    np.testing.assert_array_equal(made, np.broadcast_to(X.T[:, None, :], (3, 4, 2)))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("ROOT r = f32[2,4] broadcast(x), dimensions={0,1}", "of another extent"),
        ("ROOT r = f32[2,3] broadcast(x), dimensions={0}", "of another extent"),
        ("ROOT r = f32[2,3] broadcast(x), dimensions={0,7}", "do not fit"),
        ("ROOT r = f32[2,3] broadcast(x)", "has no dimensions"),
        ("ROOT r = f32[5] reshape(x)", "do not fit"),
        ("ROOT r = f32[3,2] transpose(x), dimensions={1}", "do not fit"),
        ("ROOT r = f32[2,3] transpose(x), dimensions={1,0}", "and makes float32[3,2]"),
        ("ROOT r = f32[2] slice(x), slice={[0:2]}", "bounds 1 dimensions of 2"),
        ("ROOT r = f32[2,4] slice(x), slice={[0:2], [0:4]}", "ends behind its operand"),
        ("ROOT r = f32[2,3] pad(x, x), padding=0_0x0_0", "takes a scalar of"),
        ("z = f32[] constant(0)\nROOT r = f32[2,3] pad(x, z), padding=0_0", "do not fit"),
        ("z = f32[] constant(0)\nROOT r = f32[0,3] pad(x, z), padding=-9_0x0_0", "do not fit"),
        ("ROOT r = f32[2,3] iota(), iota_dimension=2", "do not fit"),
        ("ROOT r = f32[4,3] concatenate(x, x), dimensions={3}", "do not fit"),
        ("ROOT r = f32[9,3] concatenate(x, x), dimensions={0}", "its operands are not"),
        (
            "z = f32[] constant(0)\nROOT r = f32[2,3] pad(x, z), padding=0_0x0_999999999999",
            "takes more memory",
        ),
        ("ROOT r = f32[2,3] reverse(x), dimensions={4}", "do not fit"),
    ],
)
def test_what_does_not_fit(body: str, words: str) -> None:
    with pytest.raises(ProgramError) as caught:
        case(body, x=X).results()
    assert words in caught.value.message
