"""Loads and arithmetic on the worked examples of docs/spec/machine.md §5."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.sim.conformance.bench import bench
from tests.dataflow.primitives.examples import COMAL


def test_array_in_block_mode() -> None:
    run = bench(
        "array", "2@1 N@2 0@3 S0@4 D@5", arrays={"vals": [5, 6, 7]}, params={"block": 4},
        machine=COMAL,
    )  # fmt: skip
    # The sink takes in FIFO order, so a stamp may be earlier than the one before it.
    assert run.outputs == ("7@17 0@3 5@19 S0@5 D@6",)


@pytest.mark.parametrize(
    ("fn", "expected"),
    [("add", 9), ("sub", 3), ("mul", 18), ("elemmul", 18), ("div", 2), ("max", 6)],
)
def test_binary(fn: str, expected: float) -> None:
    assert bench("binary", "6 S0 D", "3 S0 D", params={"fn": fn}).outputs == (
        f"{expected}@2 S0@3 D@4",
    )


def test_an_absent_operand_is_no_rival_of_a_maximum() -> None:
    run = bench("binary", "-6 N -1 N S0 D", "N -3 2 N S0 D", params={"fn": "max"})
    assert run.outputs == ("-6@2 -3@3 2@4 N@5 S0@6 D@7",)


def test_binary_interval_holds_for_stops_too() -> None:
    run = bench("binary", "6 6 S0 D", "3 3 S0 D", params={"fn": "mul", "latency": 5, "ii": 3})
    assert run.outputs == ("18@6 18@9 S0@8 D@11",)


@pytest.mark.parametrize(
    ("fn", "scalar", "expected"),
    [
        ("exp", 0, np.exp(2)),
        ("log", 0, np.log(2)),
        ("rsqrt", 0, 2**-0.5),
        ("sigmoid", 0, 1 / (1 + np.exp(-2))),
        ("gelu", 0, 1.9544997),
        ("relu", 0, 2),
        ("sqrt", 0, 2**0.5),
        ("tanh", 0, np.tanh(2)),
        ("abs", 0, 2),
        ("max", 3, 3),
        ("scalaradd", 3, 5),
        ("scalarmul", 3, 6),
        ("scalardiv", 4, 0.5),
        ("sin", 0, np.sin(2)),
        ("cos", 0, np.cos(2)),
        ("erf", 0, 0.9953222650189527),
        ("atan", 0, 1.1071487177940904),
        ("log1p", 0, np.log(3)),
        ("expm1", 0, np.exp(2) - 1),
        ("sign", 0, 1),
    ],
)
def test_unary(fn: str, scalar: float, expected: float) -> None:
    (out,) = bench("unary", "2 S0 D", params={"fn": fn, "scalar": scalar}).outputs
    value, _, time = out.split()[0].partition("@")
    assert float(value) == pytest.approx(expected, rel=1e-5)
    assert time == "2"


@pytest.mark.parametrize(
    ("fn", "expected"),
    [
        ("floor", "-3 -1 2 3"),
        ("ceil", "-2 0 3 4"),
        ("trunc", "-2 0 2 3"),
        ("round", "-2 0 2 4"),
        ("sign", "-1 -1 1 1"),
    ],
)
def test_steps(fn: str, expected: str) -> None:
    (out,) = bench("unary", "-2.5 -0.25 2.5 3.5 S0 D", params={"fn": fn, "scalar": 0}).outputs
    found = [float(word.partition("@")[0]) for word in out.split()[:4]]
    assert found == [float(word) for word in expected.split()]


def test_unary_in_block_mode() -> None:
    run = bench("unary", "2 S0 D", params={"fn": "relu", "scalar": 0, "block": 4})
    assert run.outputs == ("2@5 S0@3 D@4",)
