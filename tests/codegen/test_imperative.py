"""Routines in two languages, from the same commands."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.codegen.compile import Backend, build
from fuseloom.codegen.imperative import (
    Add,
    ArrayParameter,
    BinaryOperation,
    Clear,
    Declare,
    ElementAccess,
    For,
    If,
    Increase,
    Int,
    Real,
    Routine,
    Seek,
    Set,
    Var,
    While,
)

SOUGHT = [0, 2, 2, 3, 7, 9, 12, 40]


def parameters() -> tuple[ArrayParameter, ...]:
    return (
        ArrayParameter("a0", False, False),
        ArrayParameter("a1", False, False),
        ArrayParameter("r0", True, True),
    )


@pytest.mark.parametrize("backend", list(Backend))
def test_every_command_and_expression(backend: Backend) -> None:
    n, i, j = Var("n0"), Var("v0"), Var("v1")
    sought = Seek("a0", Int(0), Var("n1"), ElementAccess("a1", i))
    seek = Routine(
        ("n0", "n1"),
        parameters(),
        ("s0",),
        (
            Clear("r0", n),
            For(
                "v0",
                Int(0),
                n,
                (
                    Declare("v1", sought),
                    If(BinaryOperation("<", j, Var("n1")), (), (Set("v1", Int(99)),)),
                    While(
                        BinaryOperation(
                            "and",
                            BinaryOperation("<", j, Int(99)),
                            BinaryOperation("!=", j, Int(5)),
                        ),
                        (Increase("v1", Int(94)), Set("v1", BinaryOperation("max", j, Int(98)))),
                    ),
                    If(
                        BinaryOperation("==", j, Int(99)),
                        (Increase("s0", Real(0.5)),),
                    ),
                    Add("r0", i, BinaryOperation("+", BinaryOperation("*", j, Int(2)), Var("s0"))),
                ),
            ),
        ),
    )
    crd = np.array([0, 2, 3, 5, 8, 9, 10, 11])
    wanted = np.array(SOUGHT)
    built = build([seek], backend, ("-O0",))
    result = np.full(len(wanted), np.nan)
    built.calls[0](np.array([len(wanted), len(crd)]), [crd, wanted, result])
    expected, half = [], 0.0
    for least in SOUGHT:
        place = int(np.searchsorted(crd, least))
        place = 99 if place == len(crd) else place
        while place < 99 and place != 5:
            place = max(place + 94, 98)
        half += 0.5 * (place == 99)
        expected.append(place * 2 + half)
    np.testing.assert_array_equal(result, expected)
