"""Kernels in Triton compute what the interpreter does: random graphs, worked cases, models."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from fuseloom.stitch.examples.models import EXAMPLES, example_inputs, read_example
from fuseloom.stitch.fusion import FusionSettings, fuse
from fuseloom.stitch.gpu.triton_check import triton_errors
from fuseloom.stitch.graph import DenseComputation, DenseModule, DenseOperation, random_inputs
from fuseloom.stitch.inlining import inline_calls
from fuseloom.stitch.kernel_cases import StitchedCase, kernel_cases
from fuseloom.stitch.kernel_code import KernelLanguage, kernel_codes
from fuseloom.stitch.kernel_memory import memory_check
from fuseloom.stitch.opcodes import ProductFusion
from fuseloom.stitch.shapes import TensorShape
from fuseloom.stitch.triton import tiles as triton_tiles
from fuseloom.stitch.triton.emitter import comment_line, triton_launch, triton_source

from ..c.test_emitter import moves
from ..stitched_modules import GraphMaker
from .test_memory import softmax
from .triton_kernels import SMALL_TILES, cases_of, codes_of, phased_of, random_cases, with_nan

TOGETHER = FusionSettings(enough_blocks=1)


@pytest.mark.deep
def test_random_graphs() -> None:
    cases = [case for seed in range(40) for case in random_cases(seed)]
    assert len(cases) > 200
    for case, error in zip(cases, triton_errors(cases, least=1.0), strict=True):
        assert error < 1e-5, case.code.function


@pytest.mark.deep
def test_random_graphs_of_many_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SMALL_TILES.items():
        monkeypatch.setattr(triton_tiles, name, value)
    cases = [case for seed in range(1000, 1012) for case in random_cases(seed)]
    assert sum("for first" in case.code.text for case in cases) > 8
    assert sum("tl.dot" in case.code.text for case in cases) > 2
    for case, error in zip(cases, triton_errors(cases, least=1.0), strict=True):
        assert error < 1e-5, case.code.function


QUICK = ("logistic_regression", "word2vec", "translation", "speech", "residual_block")
"""Models of each kind that Triton's interpreter runs in seconds."""


@pytest.mark.deep
@pytest.mark.parametrize(
    ("names", "least"),
    [(QUICK, 80), pytest.param(tuple(EXAMPLES), 150, marks=pytest.mark.fuzz)],
    ids=["some", "all"],
)
def test_models(names: tuple[str, ...], least: int) -> None:
    cases: list[StitchedCase] = []
    for name in names:
        module = inline_calls(read_example(name))
        check = memory_check(module.main, ProductFusion.BATCHED)
        made = fuse(module.main, ProductFusion.BATCHED, consistent=check)
        codes = kernel_codes(module, made, KernelLanguage.TRITON, prefix=name)
        allowed = ("library", "kernel of its own")
        assert all(any(one in code.reason for one in allowed) for code in codes if not code.text)
        cases += kernel_cases(module, made.computation, codes, example_inputs(name))
    assert len(cases) > least
    for case, error in zip(cases, triton_errors(cases), strict=True):
        assert error < 1e-5, case.code.function


def moving_cases() -> list[StitchedCase]:
    module = moves().module()
    cases: list[StitchedCase] = []
    numbers = [one.name for one in module.main.parameters if one.array.element == "s32"]
    for first, second in ((0, 0), (1, 2), (-5, 100)):
        chosen = dict(zip(numbers, (np.int32(first), np.int32(second)), strict=True))
        for together in (True, False):
            settings = FusionSettings(enough_blocks=1 if together else 10**6)
            prefix = f"moves{len(cases)}"
            inputs = random_inputs(module.main) | chosen
            cases += cases_of(module, inputs, settings=settings, prefix=prefix)
    return cases


def gathering_cases() -> list[StitchedCase]:
    graph = GraphMaker()
    x, y = graph.parameter(9, 7, 4), graph.parameter(9, 7, 4)
    at = graph.parameter(2, 5, element="s32")
    both = graph.add("add", (9, 7, 4), x, y)
    graph.add(
        "gather", (5, 3, 4), both, at, offset_dims=(1, 2), collapsed_slice_dims=(0,),
        start_index_map=(1, 0), index_vector_dim=0, slice_sizes=(1, 3, 4),
    )  # fmt: skip
    rows = graph.parameter(6, element="u64")
    made = graph.add(
        "gather", (7, 4, 6), x, rows, offset_dims=(0, 1), collapsed_slice_dims=(0,),
        start_index_map=(0,), index_vector_dim=1, slice_sizes=(1, 7, 4),
    )  # fmt: skip
    graph.add("tanh", (7, 4, 6), made)
    inputs = random_inputs(graph.module().main)
    inputs[at] = np.int32([[0, 3, 9, -2, 4], [8, 7, 100, 0, 5]])
    inputs[rows] = np.uint64([0, 8, 3, 9, 2**64 - 1, 1])
    return [
        *cases_of(graph.module(), inputs, settings=TOGETHER, prefix="gathers"),
        *cases_of(graph.module(), inputs, prefix="gathers_apart"),
    ]


def softmax_cases() -> list[StitchedCase]:
    cases: list[StitchedCase] = []
    for number, (rows, columns) in enumerate(((64, 40), (16, 32), (5, 4500), (16, 33))):
        module = softmax(rows, columns)
        inputs = random_inputs(module.main)
        name = module.main.parameters[0].name
        inputs[name] = with_nan(inputs[name])
        for settings in (None, FusionSettings(enough_blocks=2)):
            prefix = f"softmax{number}{'' if settings else '_apart'}"
            with np.errstate(all="ignore"):
                cases += cases_of(module, inputs, settings=settings, prefix=prefix)
    return cases


def product_cases(element: str, dims: tuple[int, int, int]) -> list[StitchedCase]:
    """A product of what is computed, with a bias and a function behind it."""
    rows, summed, columns = dims
    graph = GraphMaker(element)
    x, y = graph.parameter(3, rows, summed), graph.parameter(3, columns, summed)
    bias = graph.add("broadcast", (3, rows, columns), graph.parameter(columns), dimensions=(2,))
    made = graph.add(
        "dot", (3, rows, columns), graph.add("tanh", (3, rows, summed), x), y,
        lhs_batch_dims=(0,), rhs_batch_dims=(0,), lhs_contracting_dims=(2,),
        rhs_contracting_dims=(2,),
    )  # fmt: skip
    graph.add("negate", (3, rows, columns), graph.add("add", (3, rows, columns), made, bias))
    prefix = f"product_{element}_{rows}_{summed}_{columns}"
    inputs = {
        name: np.round(value * 4) / 4 for name, value in random_inputs(graph.module().main).items()
    }  # exact in bf16
    return list(cases_of(graph.module(), inputs, settings=TOGETHER, prefix=prefix))


@pytest.mark.deep
def test_worked_cases() -> None:
    products = [
        case
        for element in ("f32", "f64", "bf16")
        for dims in ((16, 16, 16), (20, 70, 100), (70, 20, 33), (3, 40, 5))
        for case in product_cases(element, dims)
    ]
    assert sum("tl.dot" in case.code.text for case in products) >= 6
    softmaxes = softmax_cases()
    assert sum("scratch" in case.code.text.split("\n")[1] for case in softmaxes) >= 2
    cases = [*moving_cases(), *gathering_cases(), *softmaxes, *products]
    for case, error in zip(cases, triton_errors(cases, least=0.1), strict=True):
        assert error < (1e-2 if "bf16" in case.code.function else 1e-5), case.code.function


def test_a_launch_says_what_arguments_are() -> None:
    graph = GraphMaker("bf16")
    x, which = graph.parameter(4, 5000), graph.parameter(4, 5000, element="pred")
    zero = graph.parameter()
    powers = graph.add("exponential", (4, 5000), x)
    sums = graph.add("reduce", (4,), powers, zero, dimensions=(1,), to_apply="sum")
    wide = graph.add("broadcast", (4, 5000), sums, dimensions=(0,))
    graph.add("select", (4, 5000), which, graph.add("divide", (4, 5000), powers, wide), powers)
    phased = phased_of(graph.module())
    launch = triton_launch(phased)
    assert sorted(launch.signature.values()) == ["*bf16", "*bf16", "*bf16", "*i1", "*i8"]
    assert launch.outputs == (TensorShape("bf16", (4, 5000)),)
    assert launch.scratch >= 10_000
    assert launch.blocks == 4
    assert launch.warps in (4, 8)


def test_modules_of_kernels_are_python_with_launchers() -> None:
    source = triton_source([code.text for code in codes_of(moves().module())])
    names = {one.name for one in ast.parse(source).body if isinstance(one, ast.FunctionDef)}
    assert {"kernel_0", "run_kernel_0", "launched"} <= names


def test_names_of_operations_end_no_comment() -> None:
    name = 'y\nimport os\r\x0c\u2028"""\\'
    shape = TensorShape("f32", (4,))
    x = DenseOperation("x", "parameter", shape)
    graph = DenseComputation("f", (x, DenseOperation(name, "negate", shape, ("x",))), name)
    (code,) = codes_of(DenseModule("m", {"f": graph}, "f"))
    assert len(comment_line(name).splitlines()) == 1
    lines = [line for line in code.text.splitlines() if "import" in line]
    assert lines
    assert all(line.strip().startswith("#") for line in lines)
    assert "import" not in ast.unparse(ast.parse(code.text))


def test_blocks_of_transposed_elements() -> None:
    graph = GraphMaker()
    graph.add("transpose", (64, 32), graph.parameter(32, 64), dimensions=(1, 0))
    (code,) = codes_of(graph.module())
    assert "tl.load(in0 + (64 * e + b0))" in code.text
    assert "tl.store(out0 + (e + 32 * b0), v0)" in code.text
