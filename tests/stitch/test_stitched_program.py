"""Deep fusion as a function: Fig. 3, models, limits, what NumPy evaluates, and wrong inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuseloom.errors import DataError, LoweringError
from fuseloom.stitch import stitched_program
from fuseloom.stitch.examples.models import EXAMPLES, example_inputs, read_example
from fuseloom.stitch.fusion import fuse
from fuseloom.stitch.graph import DenseComputation, DenseModule, DenseOperation, random_inputs
from fuseloom.stitch.hlo import read_hlo
from fuseloom.stitch.inlining import inline_calls
from fuseloom.stitch.kernel_memory import memory_check
from fuseloom.stitch.opcodes import ProductFusion
from fuseloom.stitch.shapes import TensorShape
from fuseloom.stitch.stitched_program import StitchedProgram, compile_programs, relative_error

from .figure3 import figure3
from .stitched_modules import GraphMaker, fused, module_of


def softmax_product(x: Any, y: Any) -> Any:
    """Fig. 3 in double precision."""
    wide = x.astype(np.float64)
    powers = np.exp(wide - wide.max(-1, keepdims=True))
    matrices = (powers / powers.sum(-1, keepdims=True)).reshape(y.shape)
    return matrices @ y.astype(np.float64)


def test_figure_3_is_one_kernel_that_computes_what_numpy_does() -> None:
    module = module_of(figure3())
    program = fused(module, ProductFusion.BATCHED)
    (step,) = [step for step in program.steps if step.code]
    assert step.outputs == ("Dot.1",)
    assert step.phased is not None
    assert step.phased.plan.byte_size <= 17 * 1024
    assert program.interpreted == {}
    inputs = random_inputs(module.main)
    (made,) = program(inputs)
    wanted = softmax_product(inputs["Parameter.1"], inputs["Parameter.2"])
    assert np.abs(made - wanted).max() < 1e-6 * np.abs(wanted).max()


@pytest.mark.parametrize("limit", [2048, 600, 512])
def test_with_little_shared_memory_it_computes_again(limit: int) -> None:
    module = module_of(figure3())
    program = fused(module, ProductFusion.BATCHED, limit=limit)
    (step,) = [step for step in program.steps if step.code]
    assert step.phased is not None
    assert step.phased.plan.byte_size <= limit
    assert step.phased.plan.recomputed
    assert relative_error(program, random_inputs(module.main)) < 1e-6


def test_with_less_than_reductions_need_a_kernel_is_evaluated_with_numpy() -> None:
    module = module_of(figure3())
    program = fused(module, ProductFusion.BATCHED, limit=100)
    assert "need 512 bytes" in program.interpreted["Dot.1"]
    assert relative_error(program, random_inputs(module.main)) == 0


def test_a_check_fuses_less_instead() -> None:
    module = module_of(figure3())
    check = memory_check(module.main, ProductFusion.BATCHED, 100)
    made = fuse(module.main, ProductFusion.BATCHED, consistent=check)
    assert made.count > 1
    program = StitchedProgram(module, made, limit=100)
    assert program.interpreted == {}
    assert relative_error(program, random_inputs(module.main)) < 1e-6


@pytest.mark.deep
@pytest.mark.parametrize(
    ("name", "products"),
    [
        pytest.param(name, products, marks=[pytest.mark.fuzz] * ((place + way) % 3 > 0))
        for place, name in enumerate(EXAMPLES)
        for way, products in enumerate(ProductFusion)
    ],
)
def test_models(name: str, products: ProductFusion) -> None:
    module = inline_calls(read_example(name))
    check = memory_check(module.main, products)
    made = fuse(module.main, products, consistent=check)
    program = StitchedProgram(module, made)
    allowed = ("library", "kernel of its own")
    assert all(any(one in why for one in allowed) for why in program.interpreted.values())
    assert relative_error(program, example_inputs(name)) < 1e-5


def test_what_has_no_form_in_c_is_evaluated_with_numpy() -> None:
    module = read_hlo("""HloModule m
sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
body { p = (f32[4], s32[]) parameter(0)
  x = f32[4] get-tuple-element(p), index=0
  i = s32[] get-tuple-element(p), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[4] add(x, x)
  ROOT r = (f32[4], s32[]) tuple(y, j) }
condition { p = (f32[4], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=1
  three = s32[] constant(3)
  ROOT r = pred[] compare(i, three), direction=LT }
ENTRY main {
  x = f32[4] parameter(0)
  h = f16[4] parameter(1)
  half = f16[4] add(h, h)
  zero = s32[] constant(0)
  start = (f32[4], s32[]) tuple(x, zero)
  loop = (f32[4], s32[]) while(start), condition=condition, body=body
  times8 = f32[4] get-tuple-element(loop), index=0
  y = f32[4] negate(times8)
  ROOT result = (f32[4], f16[4]) tuple(y, half)
}""")
    program = fused(module)
    assert list(program.interpreted) == ["half"]
    assert "f16 is no type" in program.interpreted["half"]
    x = np.float32([1, 2, 3, -4])
    made, half = program({"x": x, "h": x.astype(np.float16)})
    assert np.array_equal(made, -8 * x)
    assert half.dtype == np.float16
    assert relative_error(program, {"x": x, "h": x.astype(np.float16)}) == 0


def test_arrays_without_elements() -> None:
    graph = GraphMaker()
    x, start = graph.parameter(3, 0), graph.parameter()
    graph.add("negate", (3, 0), x)
    graph.add("reduce", (3,), x, start, dimensions=(1,), to_apply="sum")
    y = graph.parameter(2, 3)
    graph.add("concatenate", (2, 3), y, graph.add("reshape", (2, 0), x), dimensions=(1,))
    program = fused(graph.module())
    found = program(random_inputs(program.module.main))
    assert sorted(one.shape for one in found) == [(2, 3), (3,), (3, 0)]
    assert relative_error(program, random_inputs(program.module.main)) == 0


def test_results_that_are_parameters_or_several() -> None:
    shape = TensorShape("f32", (3,))
    x = DenseOperation("x", "parameter", shape, (), {"number": 0})
    same = DenseModule("m", {"f": DenseComputation("f", (x,), "x")}, "f")
    value = np.float32([1, 2, 3])
    assert np.array_equal(fused(same)({"x": value})[0], value)


def test_inputs_that_lie_otherwise_in_memory() -> None:
    graph = GraphMaker()
    x = graph.parameter(6, 4)
    graph.add("negate", (6, 4), x)
    value = np.arange(24, dtype=np.float32).reshape(4, 6).T
    (made,) = fused(graph.module())({x: value})
    assert np.array_equal(made, -value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "no value for the parameter parameter.0"),
        (np.zeros((4, 6), np.float32), r"is f32\[6,4\], and its value float32\[4, 6\]"),
        (np.zeros((6, 4)), "and its value float64"),
    ],
)
def test_inputs_of_other_types_are_refused(value: Any, text: str) -> None:
    graph = GraphMaker()
    graph.add("negate", (6, 4), graph.parameter(6, 4))
    program = fused(graph.module())
    with pytest.raises(DataError, match=text):
        program({} if value is None else {"parameter.0": value})


def test_without_a_compiler_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = GraphMaker()
    graph.add("negate", (6,), graph.parameter(6))
    program = fused(graph.module())
    monkeypatch.setattr(stitched_program, "find_compiler", lambda _: None)
    with pytest.raises(LoweringError, match="no compiler of C"):
        compile_programs([program])


def test_errors_are_those_of_the_array_that_is_worst() -> None:
    graph = GraphMaker()
    x = graph.parameter(3)
    graph.add("negate", (3,), x)
    program = fused(graph.module())
    value = np.float32([1, 2, 4])
    wanted = -value
    assert relative_error(program, {x: value}, [wanted + np.float32([0, 0, 1])]) == 1 / 3
    assert relative_error(program, {x: value}, [np.float32([-1, np.nan, -4])]) == np.inf
    assert relative_error(program, {x: value}, [wanted[:2]]) == np.inf
    assert relative_error(program, {x: value}, [wanted + np.float32(1)], least=10) == 0.1
    none = np.zeros(3, np.float32)
    assert relative_error(program, {x: none}, [none + np.float32([0, 0, np.inf])]) == np.inf
    assert relative_error(program, {x: none}, [none]) == 0
