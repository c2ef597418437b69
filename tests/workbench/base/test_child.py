"""Children: they answer, and make nothing but data of what they are sent."""

from __future__ import annotations

import io
import os
import pickle

import pytest

from fuseloom.program import Op
from fuseloom_workbench.base.child import Child, ChildError, Requests


def test_a_child_answers_and_keeps_noise_out():
    child = Child("tests.workbench.targets:echo")
    for k in range(3):
        child.send(k)
        assert child.receive() == ["heard", k]
    child.end()
    with pytest.raises(ChildError):
        child.receive()


def test_a_child_makes_nothing_but_data():
    child = Child("tests.workbench.targets:echo")
    child.send(os.getcwd)
    with pytest.raises(ChildError, match=r"a request holds a \w+\.getcwd"):
        child.receive()


@pytest.mark.parametrize(
    "code",
    [
        b"cos\nsystem\n(S'true'\ntR.",
        b"cbuiltins\ngetattr\n(cfuseloom.errors\nFuseloomError\nS'mro'\ntR.",
        b"cbuiltins\neval\n(S'1'\ntR.",
    ],
    ids=["system", "attribute", "eval"],
)
def test_a_request_makes_nothing_but_data(code):
    with pytest.raises(pickle.UnpicklingError):
        Requests(io.BytesIO(code)).load()


def test_enum_members_travel_however_python_writes_them():
    code = b"cbuiltins\ngetattr\n(cfuseloom.program.types\nOp\nS'MUL'\ntR."
    assert Requests(io.BytesIO(code)).load() is Op.MUL
