"""Runs of finite values at the ends of float32 are right, and are called so.

Sums and products overflow or vanish on the way, zeros have either sign, and functions with a pole
or with steps follow.  Runs on both engines match the reference; a value that is wrong for certain
does not.
"""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.program import parse
from tests.dataflow.samml.passes import engines
from tests.tiers import counts

SEED = 20_271_000
VALUES = (3e38, -3e38, 1e38, 2e19, -1e20, 10.0, -10.0, 1.5, 0.01, 0.0, -0.0, 1e-20, -1e-30, 1e-42)
FIRST = (
    "x[i] * w[i]",
    "x[i] + w[i]",
    "x[i] - w[i]",
    "max(x[i], w[i])",
    "min(x[i], w[i])",
    "max(x[i], 0)",
    "min(x[i], 0)",
    "relu(x[i])",
    "-x[i]",
    "trunc(x[i])",
    "product(x[i], w[i], z[i])",
    "product(x[i], w[i], z[i], x[i])",
    "sum[i] x[i]",
    "sum[i] (x[i] * w[i])",
    "max[i] x[i]",
    "min[i] x[i]",
)
THEN = (
    "rsqrt({})",
    "w[i] / {}",
    "floor({})",
    "sign({})",
    "{} * 0.001",
    "log({})",
    "sqrt({})",
    "{}",
)


def case(seed: int) -> tuple[str, str, dict[str, np.ndarray]]:
    """A program, a schedule and data."""
    rng = random.Random(seed)
    first, then = rng.choice(FIRST), rng.choice(THEN)
    index = "" if "[i] x" in first or "sum" in first else "[i]"
    if index == "" and "[i]" in then:
        then = "{}"
    size = rng.randint(1, 4)
    text = "".join(f"{name}: {size} dense\n" for name in "xwz")
    text += f"y{index} = {first}\nr{index} = {then.format('y' + index)}"
    if then == "{}":
        text = text.removesuffix(f"\nr{index} = y{index}")
    data = {name: np.array(rng.choices(VALUES, k=size), np.float32) for name in "xwz"}
    return text, rng.choice(("fuse y..r", "")) if "\nr" in text else "", data


@counts(small=30, deep=200, fuzz=1_000)
def test_right_runs_are_called_right(count: int) -> None:
    seen = 0
    for seed in range(SEED, SEED + count):
        text, schedule, data = case(seed)
        program = parse(text)
        given = {name: data[name] for name in program.given}
        compilation = compile_program(program, schedule)
        for engine in engines(compilation):
            result = simulate(compilation, given, engine=engine).check()
            assert result.ok, f"seed {seed}, {engine}: {text}\n# {schedule}\n{given}\n{result}"
        seen += any(np.abs(x).max() > 1e38 for x in given.values())
    assert seen > count // 3


@pytest.mark.parametrize(
    ("text", "data", "right", "wrong"),
    [
        # Between 2 and 3 there is no value of trunc, though rounding may decide which it is.
        ("x: 3 dense\ny = trunc(sum[i] x[i])", [1, 1, 1], (3.0, 2.0), (3.03, 2.5, 4.0, 1.0)),
        ("x: 3 dense\ny = floor(sum[i] x[i])", [1, 1, 1], (3.0, 2.0), (2.99, 4.0, 1.0)),
        ("x: 3 dense\ny = ceil(sum[i] x[i])", [1, 1, 1], (3.0, 4.0), (3.5, 2.0, 5.0)),
        ("x: 2 dense\ny = sign(sum[i] x[i])", [1, -1], (0.0, 1.0, -1.0), (0.5, 2.0, -2.0)),
        ("x: 3 dense\ny = 2 * round(sum[i] x[i])", [1, 1, 1], (6.0,), (6.5, 7.0, 4.0)),
        ("x: 3 dense\ny = relu(trunc(sum[i] x[i]))", [1, 1, 1], (3.0, 2.0), (2.5, 9.0)),
        # An overflow that does not depend on the order is certain.
        ("x: 2 dense\ny = sum[i] x[i]", [3e38, 3e38], (np.inf,), (3e38, -np.inf, np.nan)),
        ("x: 2 dense\ny[i] = relu(x[i])", [-0.0, 1], ([0, 1], [-0.0, 1]), ([1e-45, 1],)),
    ],
)
def test_only_what_is_possible_is_right(
    text: str, data: list[float], right: tuple[object, ...], wrong: tuple[object, ...]
) -> None:
    names = [line.split("[")[0].split(" =")[0] for line in text.splitlines()[1:]]
    program = parse(text)
    made = [s.out.tensor for s in program.statements]
    schedule = f"fuse {made[0]}..{made[-1]}" if len(made) > 1 else ""
    run = simulate(compile_program(program, schedule), {"x": np.array(data, np.float32)})
    output = run.outputs[names[-1]]
    for values, ok in [(v, True) for v in right] + [(v, False) for v in wrong]:
        array = np.asarray(values, np.float32).reshape(output.values.shape)
        told = replace(run, outputs={names[-1]: replace(output, values=array)}).check()
        assert told.ok is ok, f"{values}: {told}"
