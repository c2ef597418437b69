"""Batch normalization."""

from __future__ import annotations

import pytest

from fuseloom.errors import ProgramError
from fuseloom.stitch.meaning.normalization import MEANINGS
from tests.stitch.meaning.cases import cases_of, untested, verify
from tests.stitch.meaning.cases.operation_case import C, case, floats


@pytest.mark.parametrize("name", cases_of(MEANINGS))
def test_as_xla(name: str) -> None:
    verify(name)


def test_every_operation_has_a_test() -> None:
    assert untested(MEANINGS) == set()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("batch-norm-inference(x, s, s, s, s), feature_index=1", "has no epsilon"),
        ("batch-norm-inference(x, s, s, s, s), epsilon=0.001", "has no feature_index"),
        ("batch-norm-inference(x, s, s, s, s), epsilon=0.001, feature_index=0", "do not fit"),
        ("batch-norm-training(x, c, s), epsilon=0.001, feature_index=1", "different types"),
        ("batch-norm-inference(x, s, s), epsilon=0.001, feature_index=1", "do not fit"),
    ],
)
def test_what_does_not_fit(body: str, words: str) -> None:
    with pytest.raises(ProgramError) as caught:
        case(f"ROOT r = f32[2,3] {body}", x=floats(2, 3), s=floats(3), c=C[:3]).results()
    assert words in caught.value.message
