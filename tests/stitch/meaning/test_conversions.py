"""Conversions between types of elements, and bits as other types."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.errors import ProgramError
from fuseloom.stitch.meaning.conversions import MEANINGS, converted
from tests.stitch.meaning.cases import cases_of, untested, verify
from tests.stitch.meaning.cases.operation_case import case


@pytest.mark.parametrize("name", cases_of(MEANINGS))
def test_as_xla(name: str) -> None:
    verify(name)


def test_every_operation_has_a_test() -> None:
    assert untested(MEANINGS) == {"bitcast"}


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("sign", ["int", "uint"])
def test_floats_saturate(sign: str, bits: int) -> None:
    dtype = np.dtype(f"{sign}{bits}")
    limits = np.iinfo(dtype)
    values = np.array([1e30, -1e30, np.inf, -np.inf, np.nan, 2.0**bits, -0.9, 1.9])
    wanted = [limits.max, limits.min, limits.max, limits.min, 0, limits.max, 0, 1]
    assert converted(values, dtype).tolist() == wanted


X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        ("ROOT r = f32[3,2] bitcast(x)", X.reshape(3, 2)),
        ("ROOT r = f32[6] bitcast(x)", X.reshape(6)),
        ("ROOT r = f32[3,2]{0,1} bitcast(x)", X.T),
        ("y = f32[2,3]{0,1} copy(x)\nROOT r = f32[3,2]{1,0} bitcast(y)", X.T),
        ("y = f32[2,3]{0,1} copy(x)\nROOT r = f32[6]{0} bitcast(y)", X.T.reshape(6)),
        ("ROOT r = u32[6] bitcast(x)", X.reshape(6).view(np.uint32)),
    ],
)
def test_bitcasts_keep_the_order_in_memory(rows: str, wanted: np.ndarray) -> None:
    (made,) = case(rows, x=X).results()
    np.testing.assert_array_equal(made, wanted, strict=True)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("ROOT r = s32[3,2] bitcast-convert(x)", "do not fit"),
        ("ROOT r = f64[2,3] bitcast-convert(x)", "do not fit"),
        ("ROOT r = f32[7] bitcast(x)", "do not fit"),
        ("ROOT r = f32[2,3] reduce-precision(x), exponent_bits=5", "has no mantissa_bits"),
        ("ROOT r = f32[2,3] reduce-precision(x), exponent_bits=0, mantissa_bits=3", "to 0 and 3"),
    ],
)
def test_what_does_not_fit(body: str, words: str) -> None:
    with pytest.raises(ProgramError) as caught:
        case(body, x=X).results()
    assert words in caught.value.message
