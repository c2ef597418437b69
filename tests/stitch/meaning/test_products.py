"""Products, convolutions and transforms."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.errors import ProgramError
from fuseloom.stitch.meaning.products import MEANINGS
from tests.stitch.meaning.cases import cases_of, untested, verify
from tests.stitch.meaning.cases.operation_case import C, case, floats


@pytest.mark.parametrize("name", cases_of(MEANINGS))
def test_as_xla(name: str) -> None:
    verify(name)


def test_every_operation_has_a_test() -> None:
    assert untested(MEANINGS) == set()


def test_a_product_of_truth_values() -> None:
    x, y = floats(4, 3) > 0, floats(3, 5, seed=1) > 0
    row = "ROOT r = pred[4,5] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    (made,) = case(row, x=x, y=y).results()
    np.testing.assert_array_equal(made, (x[:, :, None] & y[None]).any(1), strict=True)


def test_products_are_rounded_once() -> None:
    x = np.float32([2**24, *[1] * 63])
    row = "ROOT r = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}"
    (made,) = case(row, x=x, y=np.ones(64, np.float32)).results()
    assert float(made) == np.float32(2**24 + 63)


DOT = "ROOT r = f32[2,5] dot(x, y), "
CONV = "ROOT r = f32[1,1,2] convolution(s, k), "


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (DOT + "lhs_contracting_dims={0}, rhs_contracting_dims={0}", "of different extents"),
        (DOT + "lhs_contracting_dims={1}, rhs_contracting_dims={}", "of different extents"),
        (DOT + "lhs_contracting_dims={1,1}, rhs_contracting_dims={0,0}", "or twice"),
        (DOT + "lhs_batch_dims={1}, lhs_contracting_dims={1}", "in a batch and summed"),
        (DOT + "lhs_contracting_dims={7}, rhs_contracting_dims={0}", "do not fit"),
        (CONV + "window={size=2}", "has no dim_labels"),
        (CONV + "window={size=2}, dim_labels=bf0_oi0->b0", "other labels"),
        (CONV + "window={size=2}, dim_labels=b0_oi->b0", "other labels"),
        (CONV + "window={size=2}, dim_labels=bff_oi0->bf0", "other labels"),
        (CONV + "window={size=2}, dim_labels=bf01_oi01->bf01", "other labels"),
        (CONV + "window={size=3}, dim_labels=bf0_oi0->bf0", "one does not fit the other"),
        (CONV + "window={size=2}, dim_labels=bf0_oi0->bf0, feature_group_count=2", "the other"),
        (CONV + "window={size=2}, dim_labels=bf0_oi0->bf0, batch_group_count=0", "the other"),
        (
            CONV + "window={size=2 pad=999999999_0}, dim_labels=bf0_oi0->bf0",
            "takes more than 4,294,967,296 bytes",
        ),
        ("ROOT r = f32[2,3] fft(x), fft_type=DCT, fft_length={3}", "is no transform"),
        ("ROOT r = f32[2,3] fft(x), fft_type=FFT, fft_length={}", "is no transform"),
        ("ROOT r = c64[2,9] fft(x), fft_type=FFT, fft_length={9}", "other extents"),
        (DOT + "lhs_contracting_dims={}, rhs_contracting_dims={}", "its operands are not"),
        ("ROOT r = c64[2,3] fft(x), fft_type=FFT, fft_length={1,2,3}", "other extents"),
        (
            "ROOT r = f32[4,4] dot(c, c), lhs_contracting_dims={}, rhs_contracting_dims={}",
            "makes complex numbers",
        ),
        ("ROOT r = f32[4] fft(c), fft_type=FFT, fft_length={4}", "FFT makes other numbers"),
        ("ROOT r = c64[4] fft(c), fft_type=RFFT, fft_length={4}", "do not fit"),
    ],
)
def test_what_does_not_fit(body: str, words: str) -> None:
    inputs = {
        "x": floats(2, 3),
        "y": floats(3, 5),
        "s": floats(1, 1, 3),
        "k": floats(1, 1, 2),
        "c": C,
    }
    with pytest.raises(ProgramError) as caught:
        case(body, **inputs).results()
    assert words in caught.value.message
