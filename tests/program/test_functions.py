"""Every row of the table of functions is right in all its columns, and is all a function needs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fuseloom.program.functions import FUNCTIONS, Integers, Op
from fuseloom.program.rounded.rounding import FUNCTION, UNIT
from tests.dataflow.sim.compiled.kept_kernels import taking_kernels

ROOT = Path(__file__).parents[2]
TABLE = Path("engine/fuseloom/program/functions.py")


def arguments(op: Op) -> np.ndarray:
    """Numbers of float32 of the domain, of all sizes, with its ends."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=3000) * 10.0 ** rng.integers(-8, 3, size=3000)
    low, high = FUNCTIONS[op].domain
    inside = x[(x >= low) & (x <= high)]
    return np.append(inside, max(low, -3.5)).astype(np.float32)


@pytest.mark.parametrize("op", FUNCTIONS)
def test_the_value_at_zero_is_the_stated_one(op: Op) -> None:
    row = FUNCTIONS[op]
    with np.errstate(divide="ignore"):
        assert row.exact(np.zeros(1)).tolist() == [row.at_zero]
        assert np.float32(row.in_float32(np.float32(0))) == np.float32(row.at_zero)
    assert op.keeps_zero == (row.at_zero == 0)


@pytest.mark.parametrize("op", FUNCTIONS)
def test_it_is_a_number_in_its_domain_and_none_outside(op: Op) -> None:
    row = FUNCTIONS[op]
    with np.errstate(all="ignore"):
        assert not np.isnan(row.exact(arguments(op).astype(np.float64))).any()
        outside = np.array([end - 1.0 for end in row.domain[:1]] + [row.domain[1] + 1.0])
        outside = outside[np.isfinite(outside)]
        assert np.isnan(row.exact(outside)).all()
        assert np.isnan(row.in_float32(outside.astype(np.float32))).all()


@pytest.mark.parametrize("op", FUNCTIONS)
def test_the_machine_is_no_further_off_than_it_says(op: Op) -> None:
    row, x = FUNCTIONS[op], arguments(op)
    with np.errstate(all="ignore"):
        exact = row.exact(x.astype(np.float64))
        rounded = exact.astype(np.float32)
        made = np.asarray(row.in_float32(x)).astype(np.float32)
    allowed = row.own_error(x.astype(np.float64), exact, FUNCTION * UNIT)
    if row.integers is not Integers.NEITHER:
        allowed = np.zeros_like(exact)
    same = made == rounded  # infinite ones, too
    with np.errstate(invalid="ignore"):
        assert (same | (np.abs(made - exact) <= allowed)).all()


@pytest.mark.parametrize("op", FUNCTIONS)
def test_what_it_does_to_integers(op: Op) -> None:
    row = FUNCTIONS[op]
    x = np.sort(arguments(op).astype(np.float64))
    with np.errstate(all="ignore"):
        made = row.exact(x)
        kept = row.exact(np.arange(-9.0, 9.0))
    if row.integers is Integers.MAKES:
        assert (made == np.rint(made)).all()
        assert (np.diff(made) >= 0).all()
    if row.integers is not Integers.NEITHER:
        assert (kept == np.rint(kept)).all()
    else:
        assert not np.array_equal(kept, np.rint(kept))


def test_names_of_mlir_mean_one_function() -> None:
    names = [name for row in FUNCTIONS.values() for name in row.mlir]
    assert len(set(names)) == len(names)
    assert all(name.startswith(("math.", "linalg.")) for name in names)
    assert all(row.mlir[0].startswith("math.") for row in FUNCTIONS.values() if row.mlir)


ROW = """\
    ASINH = ScalarFunction(
        "asinh",
        exact=np.arcsinh,
        kernel=lambda a: np.float32(math.asinh(np.float64(a))),
        spread=_limited(1.0, 3.2),
        at_zero=0.0,
        mlir=("math.asinh",),
    )
"""
USE = """
import json
import numpy as np
import torch
import fuseloom as fl

program = fl.parse("A: 4x6 csr\\nT[i,j] = asinh(A[i,j])\\noutput T")
data = {"A": np.where(np.arange(24).reshape(4, 6) % 3, 0, np.arange(24).reshape(4, 6) - 9.5)}
compiled = fl.compile(program)


class Angle(torch.nn.Module):
    def forward(self, x):
        return torch.asinh(x)


imported = fl.from_torch(Angle(), (torch.linspace(-3, 3, 6).reshape(2, 3),))
text = str(fl.to_mlir(program))
again = fl.from_mlir(text).program
runs = [fl.simulate(compiled, data, engine=engine) for engine in ("interpreter", "compiled")]
(region,) = compiled.regions
sam = fl.import_sam(fl.export_sam(region.graph, program.by_name).text, {"A": (4, 6)}).graph
print(json.dumps({
    "ok": [run.check().ok for run in runs] + [imported.check().ok],
    "values": [run.outputs["T"].values.tolist() for run in runs],
    "stored": runs[0].outputs["T"].nnz,
    "cycles": [runs[0].cycles, fl.estimate(compiled, data).cycles],
    "mlir": [text.count("math.asinh"), str(again.statements[0].op)],
    "sam": [node.params["fn"] for node in sam.nodes if node.op == "unary"],
}))
"""


@pytest.mark.deep
def test_a_new_function_is_one_row(tmp_path: Path) -> None:
    """The language, the check, both engines, estimates, SAM, MLIR and PyTorch know it."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "engine", tmp_path / "engine", ignore=ignored)
    table = tmp_path / TABLE
    text = table.read_text(encoding="utf-8")
    last = "    EXPM1 = ScalarFunction(\n"
    assert text.count(last) == 1
    table.write_text(text.replace(last, ROW + last), encoding="utf-8")
    own = {
        "FUSELOOM_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPATH": str(tmp_path / "engine"),
    }
    done = subprocess.run(
        [sys.executable, "-c", taking_kernels(["unary"]) + USE],
        cwd=tmp_path,
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["ok"] == [True, True, True]
    given = np.arange(0, 24, 3) - 9.5
    wanted = np.arcsinh(given[given != 0].astype(np.float32).astype(np.float64)).astype(np.float32)
    assert found["values"] == [wanted.astype(np.float64).tolist()] * 2
    assert found["stored"] == len(wanted), "it keeps what is absent"
    assert found["cycles"][0] == found["cycles"][1]
    assert found["mlir"] == [1, "Op.ASINH"]
    assert found["sam"] == ["asinh"]
