"""Reductions and dots in C: NaN, all combiners, rows and columns, and tiles of all widths."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from fuseloom.stitch.c.reductions import product_tile, reduces_rows
from fuseloom.stitch.graph import random_inputs
from fuseloom.stitch.meaning.evaluation import evaluate
from fuseloom.stitch.stitched_program import StitchedProgram, compile_programs, relative_error

from ..stitched_modules import COMBINERS, FAST, GraphMaker, fused

TYPES = ("f32", "f64", "bf16", "s32", "s64", "u8", "pred")


def reductions(element: str, dims: tuple[int, ...] = (6, 40, 34)) -> GraphMaker:
    """All reductions of a type along all dimensions."""
    graph = GraphMaker(element)
    x, start = graph.parameter(*dims), graph.parameter()
    bits = [name for name in COMBINERS if name in ("every", "some", "odd")]
    others = [name for name in COMBINERS if name not in bits]
    floats = element in ("f32", "f64", "bf16")
    if element == "pred":
        others = []
    for name, reduced in product(
        others if floats else [*others, *bits], ((0,), (1,), (2,), (0, 2), (0, 1, 2))
    ):
        kept = tuple(extent for dim, extent in enumerate(dims) if dim not in reduced)
        graph.add("reduce", kept, x, start, dimensions=reduced, to_apply=name)
    return graph


@pytest.fixture(scope="module")
def programs() -> dict[str, StitchedProgram]:
    made = {one: fused(reductions(one).module(), prefix=one) for one in TYPES}
    compile_programs(list(made.values()))
    return made


@pytest.mark.parametrize("element", TYPES)
def test_reductions_of_all_types(element: str, programs: dict[str, StitchedProgram]) -> None:
    program = programs[element]
    assert program.interpreted == {}
    inputs = random_inputs(program.module.main, 3)
    if element == "u8":
        inputs = {name: value * np.uint8(37) for name, value in inputs.items()}
    if element == "bf16":
        inputs = {name: np.float32(np.round(value * 8) / 8) for name, value in inputs.items()}
    tolerance = {"bf16": 1e-2, "f32": 3e-6, "f64": 1e-13}.get(element, 0.0)
    assert relative_error(program, inputs) <= tolerance


def test_a_row_with_nan_has_no_largest(programs: dict[str, StitchedProgram]) -> None:
    program = programs["f32"]
    inputs = random_inputs(program.module.main, 3)
    inputs["parameter.0"][0, 0, 5] = np.nan
    inputs["parameter.0"][1] = -np.inf
    inputs["parameter.1"] = np.float32(-np.inf)
    for found, wanted in zip(program(inputs), evaluate(program.module, inputs), strict=True):
        assert np.array_equal(np.isnan(found), np.isnan(wanted))


def test_a_start_that_is_nan_stays(programs: dict[str, StitchedProgram]) -> None:
    program = programs["f32"]
    inputs = random_inputs(program.module.main) | {"parameter.1": np.float32(np.nan)}
    assert all(np.isnan(one).all() for one in program(inputs))


def dot(dims: tuple[int, int, int, int], element: str, turned: tuple[bool, bool]) -> GraphMaker:
    """A batched dot, of operands that may be transposed, and the largest of rows beside it."""
    batch, rows, summed, columns = dims
    graph = GraphMaker(element)
    left = graph.parameter(*((batch, summed, rows) if turned[0] else (batch, rows, summed)))
    right = graph.parameter(*((batch, columns, summed) if turned[1] else (batch, summed, columns)))
    twice = graph.add("add", graph.operations[0].array.dims, left, left)
    graph.add(
        "dot", (batch, rows, columns), twice, right,
        lhs_batch_dims=(0,), rhs_batch_dims=(0,),
        lhs_contracting_dims=(1 if turned[0] else 2,),
        rhs_contracting_dims=(2 if turned[1] else 1,),
    )  # fmt: skip
    return graph


SHAPES = ((3, 8, 5, 32), (2, 4, 7, 16), (2, 6, 3, 48), (1, 3, 4, 64), (4, 5, 6, 7), (1, 1, 9, 300))


def phase_of(program: StitchedProgram) -> Any:
    phased = program.steps[-1].phased
    assert phased is not None
    return phased.phases[-1]


def test_dots_of_all_widths() -> None:
    cases = [
        (dims, element, turned)
        for dims in SHAPES
        for element in ("f32", "f64", "s32")
        for turned in ((False, False), (True, False), (False, True))
    ]
    programs = [
        fused(dot(*case).module(), prefix=f"case{number}") for number, case in enumerate(cases)
    ]
    compile_programs(programs)
    for program, (dims, element, turned) in zip(programs, cases, strict=True):
        phase = phase_of(program)
        tile = product_tile(phase)
        assert (tile is not None) == (
            element != "s32" and not turned[1] and dims[3] % 16 == 0 and dims[1] > 1
        ), (dims, element, turned)  # fmt: skip
        assert relative_error(program, random_inputs(program.module.main)) < 3e-6


def test_tiles_are_as_wide_as_they_divide() -> None:
    tile = product_tile(phase_of(fused(dot((2, 6, 3, 48), "f32", (False, False)).module())))
    assert tile is not None
    assert (tile.rows, tile.width) == (2, 16)
    assert tile.line.names == {"r", phase_of(fused(dot(SHAPES[2], "f32", (False, False)).module()))
                               .loops[-1].name, "b0"}  # fmt: skip


def test_rows_are_summed_one_by_one_and_columns_at_once() -> None:
    made = []
    for reduced in (1, 0):
        graph = GraphMaker()
        zero = graph.add("constant", (), literal=np.float32(0))
        x = graph.parameter(8, 64)
        kept = (8,) if reduced else (64,)
        graph.add("reduce", kept, x, zero, dimensions=(reduced,), to_apply="sum")
        program = fused(graph.module())
        made.append(reduces_rows(phase_of(program)))
        compile_programs([program], FAST)
        assert relative_error(program, random_inputs(program.module.main)) < 1e-6
    assert made[0] is False


def test_long_rows_are_summed_in_parts() -> None:
    graph = GraphMaker()
    x, start = graph.parameter(3, 1000), graph.parameter()
    y = graph.add("reduce", (1000,), x, start, dimensions=(0,), to_apply="largest")
    turned = graph.add("reshape", (1, 1000), y)
    graph.add("reduce", (1,), turned, start, dimensions=(1,), to_apply="sum")
    program = fused(graph.module())
    assert "first += 256" in program.code
    assert relative_error(program, random_inputs(program.module.main)) < 1e-6
