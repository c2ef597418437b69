"""Loops, branches, calls and tuples."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.errors import ProgramError
from fuseloom.stitch.meaning import control
from fuseloom.stitch.meaning.control import MEANINGS
from tests.stitch.meaning.cases import cases_of, untested, verify
from tests.stitch.meaning.cases.operation_case import case, floats
from tests.stitch.meaning.cases.places import BRANCHES, LOOP


@pytest.mark.parametrize("name", cases_of(MEANINGS))
def test_as_xla(name: str) -> None:
    verify(name)


def test_every_operation_has_a_test() -> None:
    assert untested(MEANINGS) == {"fusion"}


def test_fusions_are_calls() -> None:
    x = floats(3)
    (made,) = case("ROOT r = f32[3] fusion(x), kind=kLoop, calls=exp", BRANCHES, x=x).results()
    np.testing.assert_array_equal(made, np.exp(x), strict=True)


def test_a_barrier_of_two_values() -> None:
    first, second = case(
        "b = (f32[3], f32[2]) opt-barrier(x, y)\nROOT r = (f32[3], f32[2]) opt-barrier(b)",
        x=floats(3), y=floats(2),
    ).results()  # fmt: skip
    assert (first.shape, second.shape) == ((3,), (2,))


def test_loops_that_do_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "MOST_ITERATIONS", 3)
    row = (
        "s = (s32[], f32[3]) tuple(k, x)\n"
        "ROOT r = (s32[], f32[3]) while(s), condition=under, body=next"
    )
    assert int(case(row, LOOP, k=np.int32(3), x=floats(3)).results()[0]) == 5
    with pytest.raises(ProgramError, match=r"r \(while\) has not ended after 3 iterations"):
        case(row, LOOP, k=np.int32(2), x=floats(3)).results()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("ROOT r = f32[3] get-tuple-element(x), index=0", "reads element 0 of what has none"),
        (
            "t = (f32[3]) tuple(x)\nROOT r = f32[3] get-tuple-element(t), index=1",
            "reads element 1 of what has none",
        ),
        ("ROOT r = f32[3] call(x)", "has no to_apply"),
        ("ROOT r = f32[3] call(x, x), to_apply=exp", "exp has 1 parameters, and gets 2 values"),
        ("ROOT r = f32[3] call(k), to_apply=exp", "p (parameter) is f32[3], and gets int32[]"),
        ("ROOT r = f32[3] while(x), condition=exp, body=exp", "do not fit"),
        (
            "ROOT r = f32[3] conditional(k, x), branch_computations={exp, neg}",
            "has 2 branches and operands for 1",
        ),
        ("ROOT r = f32[3] conditional(k, x)", "has no branch_computations"),
    ],
)
def test_what_does_not_fit(body: str, words: str) -> None:
    with pytest.raises(ProgramError) as caught:
        case(body, BRANCHES, x=floats(3), k=np.int32(0)).results()
    assert words in caught.value.message
