"""NaN wins every maximum, wherever it stands: golden models, kernels and the meaning agree."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

import fuseloom as fl
from fuseloom.dataflow.sim.conformance.bench import bench

ENGINES = ("interpreter", "compiled")
MAX = {"fn": "max"}
COUNT = 4
NAN = float("nan")


def rows() -> Iterator[list[float]]:
    """Four values with NaN at every subset of the places, rising and falling."""
    for marks in product((False, True), repeat=COUNT):
        for values in ((1.0, 2.0, 3.0, 4.0), (4.0, 3.0, 2.0, 1.0), (-1.0, -1.0, -1.0, -1.0)):
            yield [NAN if mark else x for mark, x in zip(marks, values, strict=True)]


def words(values: list[float], between: str = " ") -> str:
    return between.join(f"{x:g}" for x in values)


def wanted(values: list[float]) -> str:
    return "nan" if any(x != x for x in values) else f"{max(values):g}"


@pytest.mark.parametrize("engine", ENGINES)
def test_reducers(engine: str) -> None:
    for values in rows():
        text = f"{words(values)} S0 1 S1 D"
        run = bench("reduce", text, params=MAX, engine=engine)
        assert run.tokens == (f"{wanted(values)} 1 S0 D",), values
        guided = bench("reduce", text, "0 1 S0 D", params=MAX, engine=engine)
        assert guided.tokens == run.tokens, values


@pytest.mark.parametrize("engine", ENGINES)
def test_accumulators(engine: str) -> None:
    for values in rows():
        one = bench(
            "spacc1", "0 1 2 3 S0 D", words([2] * COUNT, " S0 ") + " S1 D",
            words(values, " S0 ") + " S1 D", params={**MAX, "dim": 4}, engine=engine,
        )  # fmt: skip
        assert one.tokens == ("2 S0 D", f"{wanted(values)} S0 D"), values
        two = bench(
            "spacc2", "0 1 2 3 S0 D", words([5] * COUNT, " S0 ") + " S1 D",
            words([2] * COUNT, " S1 ") + " S2 D", words(values, " S1 ") + " S2 D",
            params=MAX, engine=engine,
        )  # fmt: skip
        assert two.tokens == ("5 S0 D", "2 S1 D", f"{wanted(values)} S1 D"), values


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["relu", "max"])
def test_functions_of_one_value(engine: str, name: str) -> None:
    for values in rows():
        run = bench(
            "unary", f"{words(values)} S0 D", params={"fn": name, "scalar": 0.0}, engine=engine
        )
        made = words([x if x != x else max(x, 0.0) for x in values])
        assert run.tokens == (f"{made} S0 D",), values


PROGRAMS = {
    "rows": ("A: 4x4 csr", "i,j", "m[i] = max[j] L[i,j]"),
    "columns": ("A: 4x4 csr", "i,j", "m[j] = max[i] L[i,j]"),
    "everything": ("A: 4x4 csr", "i,j", "m[] = max[i,j] L[i,j]"),
    "between": ("A: 2x4x2 csf", "i,j,k", "m[i,k] = max[j] L[i,j,k]"),
    "outermost": ("A: 4x2x2 csf", "i,j,k", "m[j,k] = max[i] L[i,j,k]"),
    "relu": ("A: 4x4 csr", "i,j", "m[i,j] = relu(L[i,j])"),
    "rows of tiles": ("A: 4x4 csr block 2", "i,j", "m[i] = max[j] L[i,j]"),
    "columns of tiles": ("A: 4x4 csr block 2", "i,j", "m[j] = max[i] L[i,j]"),
    "everything in tiles": ("A: 4x4 csr block 2", "i,j", "m[] = max[i,j] L[i,j]"),
    "relu of tiles": ("A: 4x4 csr block 2", "i,j", "m[i,j] = relu(L[i,j])"),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("lanes", [1, 2])
def test_programs(engine: str, name: str, lanes: int) -> None:
    """One logarithm of a negative number at every place, in one lane and in two."""
    tensor, at, statement = PROGRAMS[name]
    program = fl.parse(f"{tensor}\nL[{at}] = log(A[{at}])\n{statement}")
    schedule = "fuse L..m" if lanes == 1 else "fuse L..m; parallel i by 2"
    compiled = fl.compile(program, schedule)
    shape = program.tensor("A").shape
    rng = np.random.default_rng(7)
    for place in range(16):
        values = rng.integers(1, 9, 16).astype(np.float32)
        values[place] = -1
        run = fl.simulate(compiled, {"A": values.reshape(shape)}, engine=engine)
        made, meant = run.outputs["m"].to_dense(), run.reference["m"].dense()
        assert np.isnan(made).any()
        np.testing.assert_allclose(made, meant, rtol=1e-6)


PRODUCTS = {
    "columns in tiles": ("A: 4x4 dense block 2", "y[j]"),
    "everything in tiles": ("A: 4x4 dense block 2", "y[]"),
    "columns": ("A: 4x4 dense", "y[j]"),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", PRODUCTS)
def test_infinities_are_multiplied_before_they_are_summed(engine: str, name: str) -> None:
    """Two columns times minus infinity are no numbers, though their sums times it are."""
    tensor, out = PRODUCTS[name]
    block = " block 2" if "block" in tensor else ""
    program = fl.parse(f"{tensor}\nz: 4 dense{block}\nb[j] = log(z[j])\n{out} = A[i,j] * b[j]")
    a = np.array([[1.0, 2, 3, -1], [1, 2, 3, 4], [-1, 2, 3, 2], [3, 2, 3, 2]], dtype=np.float32)
    run = fl.simulate(
        fl.compile(program, "order y: i,j"), {"A": a, "z": np.zeros(4)}, engine=engine
    )
    made = run.outputs["y"].to_dense()
    if out == "y[]":
        assert np.isnan(made)
    else:
        np.testing.assert_array_equal(made, [np.nan, -np.inf, -np.inf, np.nan])
    assert run.check().ok
