"""Coordinates of tensors: as stored, as written, in other mode orders and in other shapes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost.exact.execution import ElementBudget, Memo, execute
from fuseloom.dataflow.cost.exact.patterns import Patterns, UnknownError
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.program import parse
from fuseloom.program.inputs import check_data
from fuseloom.program.levels import CompressedLevel
from fuseloom.program.storage import StoredTensor
from fuseloom.program.stored_views import resolve_view

RNG = np.random.default_rng(4)


def sparse(*shape: int) -> np.ndarray:
    return RNG.random(shape) * (RNG.random(shape) < 0.4)


def noted(compilation: Compilation, data: Mapping[str, Any]) -> Patterns:
    """Patterns after every region was executed."""
    found = Patterns(compilation.program, check_data(compilation.program, data))
    for region in compilation.regions:
        found.note(execute(region.graph, found, Memo(), ElementBudget(1e6)))
    return found


CHAIN = "A: 7x5 csr\nB: 5x6 csr\nC: 6x7 csr\nT[i,j] = A[i,k] * B[k,j]\nY[i,l] = T[i,j] * C[j,l]"
CHAIN_DATA = {"A": sparse(7, 5), "B": sparse(5, 6), "C": sparse(6, 7)}


def same_levels(found: Patterns, key: str, stored: StoredTensor) -> None:
    """Segments and coordinates of every compressed level."""
    for k, level in enumerate(stored.scanned):
        if isinstance(level, CompressedLevel):
            seg, crd = found.level(key, k)
            assert (seg.tolist(), crd.tolist()) == (level.seg.tolist(), level.crd.tolist())


@pytest.mark.parametrize(
    "schedule",
    [
        "",
        "order T: k,i,j; permute A to k,i",
        "order T: i,j,k; permute B to j,k; order Y: j,i,l; permute Y..Y: T to j,i",
        "fuse T..Y",
        "parallel i by 3",
    ],
)
def test_what_is_written_is_what_the_machine_writes(schedule: str) -> None:
    compilation = compile_program(parse(CHAIN), schedule)
    found, run = noted(compilation, CHAIN_DATA), simulate(compilation, CHAIN_DATA)
    assert set(found.written) == set(run.outputs) >= {"Y"}
    for name, stored in run.outputs.items():
        same_levels(found, name, stored)


def test_empty_rows_are_written_as_the_machine_writes_them() -> None:
    """Rows of T without a product have a segment in csr, and none where the rows are compressed."""
    for form in ("csr", "dcsr"):
        text = f"A: 4x3 csr\nB: 3x4 csr\nT: 4x4 {form}\nT[i,j] = A[i,k] * B[k,j]"
        compilation = compile_program(parse(text))
        data = {"A": np.eye(4, 3, k=1), "B": np.eye(3, 4) * [1, 0, 1, 1]}
        run = simulate(compilation, data)
        same_levels(noted(compilation, data), "T", run.outputs["T"])


def test_a_tensor_that_was_written_in_another_mode_order() -> None:
    compilation = compile_program(parse(CHAIN))
    found, run = noted(compilation, CHAIN_DATA), simulate(compilation, CHAIN_DATA)
    same_levels(found, "T@1,0", resolve_view(run.outputs, "T@1,0"))


def test_an_input_in_another_mode_order() -> None:
    program = parse(CHAIN)
    data = check_data(program, CHAIN_DATA)
    same_levels(Patterns(program, data), "A@1,0", resolve_view(data, "A@1,0"))
    same_levels(Patterns(program, data), "A", data["A"])


def test_three_modes_in_every_order() -> None:
    text = "A: 3x4x5 csf\nB: 3x4x5 csf\nT[i,j,k] = A[i,j,k] * B[i,j,k]"
    compilation = compile_program(parse(text))
    data = {"A": sparse(3, 4, 5), "B": np.ones((3, 4, 5))}
    found, run = noted(compilation, data), simulate(compilation, data)
    for order in ("0,2,1", "1,0,2", "1,2,0", "2,0,1", "2,1,0"):
        same_levels(found, f"T@{order}", resolve_view(run.outputs, f"T@{order}"))


def test_nothing_at_all_in_another_mode_order() -> None:
    compilation = compile_program(parse(CHAIN))
    none = {**CHAIN_DATA, "A": np.zeros((7, 5))}
    found = noted(compilation, none)
    assert [found.level("T@1,0", k)[1].size for k in range(2)] == [0, 0]


RESHAPE = (
    "A: 4x6 csr\nT[i,j] = relu(A[i,j])\nR: 8x3 csr\nR[a,b] = reshape(T[i,j])\nY[a,b] = relu(R[a,b])"
)


def test_a_reshape_of_what_was_written() -> None:
    compilation = compile_program(parse(RESHAPE))
    data = {"A": sparse(4, 6)}
    found, run = noted(compilation, data), simulate(compilation, data)
    same_levels(found, "R", run.outputs["R"])
    same_levels(found, "Y", run.outputs["Y"])


def test_a_reshape_is_known_when_what_it_reshapes_is() -> None:
    compilation = compile_program(parse(RESHAPE))
    found = Patterns(compilation.program, check_data(compilation.program, {"A": np.eye(4, 6)}))
    assert found.knows("A")
    assert not found.knows("T")
    assert not found.knows("R")
    first = compilation.regions[0].graph
    found.note(execute(first, found, Memo(), ElementBudget(1e6)))
    assert found.knows("R")
    assert not found.knows("Y")


def test_what_nobody_has_said() -> None:
    program = parse(RESHAPE)
    found = Patterns(program, check_data(program, {"A": np.eye(4, 6)}))
    for name in ("T", "R", "Y", "T@1,0"):
        with pytest.raises(UnknownError):
            found.level(name, 0)
    with pytest.raises(UnknownError):
        found.stored("T")


def test_coordinates_are_kept_by_the_tensors_name() -> None:
    """Whatever order made them first: another schedule's are the same, and are not taken."""
    compilation = compile_program(parse(CHAIN))
    found = noted(compilation, CHAIN_DATA)
    first = found.written["T"]
    other = compile_program(parse(CHAIN), "order T: k,i,j; permute A to k,i")
    found.note(execute(other.regions[0].graph, found, Memo(), ElementBudget(1e6)))
    assert found.written["T"] is first


def test_a_stored_tensor_has_ones_where_something_is() -> None:
    compilation = compile_program(parse(CHAIN))
    found, run = noted(compilation, CHAIN_DATA), simulate(compilation, CHAIN_DATA)
    dense = found.stored("T").to_dense()
    assert (dense == (run.outputs["T"].to_dense() != 0)).all()


@pytest.mark.parametrize("levels", ["dense", "dense,compressed", "compressed,dense"])
def test_dense_levels_have_the_coordinates_of_compressed_ones(levels: str) -> None:
    program = parse(
        "A: 7x5 dense\nB: 5x6 dense\nC: 6x7 csr\nT[i,j] = A[i,k] * B[k,j]\nY[i,l] = T[i,j] * C[j,l]"
    )
    data = {"A": RNG.random((7, 5)), "B": RNG.random((5, 6)), "C": sparse(6, 7)}
    plain, made = (
        noted(compile_program(program, f"store T {text}"), data) for text in ("compressed", levels)
    )
    for name in ("T", "Y"):
        for k in range(2):
            had, has = plain.level(name, k), made.level(name, k)
            assert all(np.array_equal(a, b) for a, b in zip(had, has, strict=True))
