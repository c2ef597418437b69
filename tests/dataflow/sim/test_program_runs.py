"""Running a program region by region: progress, cancelling, sums over regions, the check."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.sim.program_runs import Run, simulate
from fuseloom.errors import DataError, SimulationError
from fuseloom.program import parse

TWO = "A: 3x3 dcsr\nB: 3x3 dense\nC[i,j] = A[i,k] * B[k,j]\nD[i,j] = exp(C[i,j])"
DATA = {"A": np.diag([1.0, 2.0, 0.0]), "B": np.arange(9.0).reshape(3, 3)}


@pytest.fixture(scope="module")
def run() -> Run:
    return simulate(compile_program(parse(TWO), ""), DATA, engine="interpreter")


def test_regions_run_one_after_another(run: Run) -> None:
    assert [region.name for region in run.regions] == ["C", "D"]
    assert run.cycles == sum(region.result.cycles for region in run.regions)
    assert run.work.flops == sum(region.work.flops for region in run.regions)
    assert run.tokens == sum(region.result.total_tokens for region in run.regions)
    assert len(run.trace) == 2


def test_every_tensor_that_is_written_is_compared(run: Run) -> None:
    assert set(run.outputs) == {"C", "D"}
    assert run.check().ok
    stored = run.outputs["D"]
    wrong = replace(stored, values=stored.values * np.float32(1.5))
    check = replace(run, outputs={**run.outputs, "D": wrong}).check()
    assert not check.ok
    assert check.max_rel_error == pytest.approx(0.5, rel=0.01)


def test_a_check_sees_coordinates_too(run: Run) -> None:
    """A stored 0 where there is no element is wrong, though no value differs."""
    stored = run.outputs["C"]
    dense = simulate(
        compile_program(parse("C: 3x3 dense\nD[i,j] = 1 * C[i,j]")),
        {"C": stored.to_dense()},
        engine="interpreter",
    ).outputs["D"]
    check = replace(run, outputs={"C": dense}).check()
    assert check.max_rel_error == 0
    assert not check.ok


def test_progress_counts_every_region_the_same_and_ends_at_one() -> None:
    told: list[tuple[float, str]] = []
    simulate(
        compile_program(parse(TWO), ""),
        DATA,
        engine="interpreter",
        progress=lambda share, text: told.append((share, text)),
    )
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert told[0] == (0.0, "C: 0 tokens")
    assert (0.5, "D: 0 tokens") in told
    assert told[-1] == (1.0, "done")


def test_false_cancels() -> None:
    seen: list[float] = []

    def until_half(share: float, text: str) -> bool:
        seen.append(share)
        return share < 0.5

    with pytest.raises(SimulationError, match="cancelled"):
        simulate(compile_program(parse(TWO), ""), DATA, engine="interpreter", progress=until_half)
    assert max(seen) == 0.5  # the second region was not begun


def test_data_that_do_not_fit_are_refused_before_anything_runs() -> None:
    began: list[float] = []
    with pytest.raises(DataError):
        simulate(
            compile_program(parse(TWO)),
            {**DATA, "B": np.ones((2, 3))},
            progress=lambda share, text: began.append(share),
        )
    assert began == []


def test_memory_does_reshapes_between_regions() -> None:
    program = parse("A: 2x3 dense\nV: 6 dense\nV[e] = reshape(A[i,j])\nW[e] = exp(V[e])")
    run = simulate(compile_program(program), {"A": np.arange(6.0).reshape(2, 3)})
    assert run.check().ok
    assert run.outputs["V"].to_dense().tolist() == list(range(6))


@pytest.mark.parametrize("name", ["dense", "csr", "csf"])
def test_results_come_in_their_declared_format_and_pass_the_check(name: str) -> None:
    """The pattern that is checked is that of the program's meaning, before the conversion."""
    program = parse(f"A: 3x4 csr\nY: 3x4 {name}\nY[i,j] = 2 * A[i,j]")
    array = np.zeros((3, 4), np.float32)
    array[1, 2] = 5
    run = simulate(compile_program(program), {"A": array}, engine="interpreter")
    assert run.check().ok
    assert run.results["Y"].tensor == program.tensor("Y")
    assert (run.results["Y"].to_dense() == 2 * array).all()
    assert run.results["Y"].nnz == (12 if name == "dense" else 1)
    assert run.outputs["Y"].nnz == 1
