"""Kernels in Triton in processes of their own: what is wrong is found, and PTX is made."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fuseloom.errors import FuseloomError, LoweringError
from fuseloom.stitch.examples.models import EXAMPLES, read_example
from fuseloom.stitch.fusion import fuse
from fuseloom.stitch.gpu.triton_check import compile_triton, run_triton, triton_errors
from fuseloom.stitch.inlining import inline_calls
from fuseloom.stitch.kernel_code import KernelCode, KernelLanguage, kernel_codes
from fuseloom.stitch.triton import tiles as triton_tiles

from ..stitched_modules import GraphMaker
from ..triton.test_emitter import product_cases
from ..triton.test_memory import softmax
from ..triton.test_reductions import cases as reductions
from ..triton.triton_kernels import SMALL_TILES, cases_of


def test_without_triton_one_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec

    def missing(name: str, *more: Any) -> Any:
        return None if name == "triton" else find(name, *more)

    monkeypatch.setattr(importlib.util, "find_spec", missing)
    cases = cases_of(softmax(4, 5))
    for call in (lambda: run_triton(cases), lambda: compile_triton([cases[0].code])):
        with pytest.raises(FuseloomError) as caught:
            call()
        assert "is not installed" in caught.value.message
        assert caught.value.hint == "pip install 'fuseloom[triton]'"


@pytest.mark.deep
def test_wrong_kernels_are_found() -> None:
    (right,) = cases_of(softmax(8, 5))
    wrong = replace(right, expected=tuple(2 * one for one in right.expected))
    other = replace(wrong, code=replace(right.code, text=right.code.text, function="kernel_0"))
    assert triton_errors([right]) < [1e-6]
    assert triton_errors([other]) > [0.4]


@pytest.mark.deep
def test_a_kernel_that_triton_refuses_is_named() -> None:
    (case,) = cases_of(softmax(8, 5))
    text = case.code.text.replace("tl.load(in0", "tl.load(1.5 * in0")
    with pytest.raises(LoweringError, match="kernel_0 cannot be run by Triton"):
        run_triton([replace(case, code=replace(case.code, text=text))])
    with pytest.raises(LoweringError, match=r"kernel_0\.sm_90 cannot be compiled by Triton"):
        compile_triton([replace(case.code, text=text)])
    with pytest.raises(LoweringError, match="SyntaxError"):
        run_triton([replace(case, code=replace(case.code, text="def ("))])


def most_complex(name: str) -> KernelCode:
    """The kernel of a model with the most values."""
    module = inline_calls(read_example(name))
    codes = kernel_codes(module, fuse(module.main), KernelLanguage.TRITON, prefix=name)
    found = [(code.phased, code) for code in codes if code.phased is not None]
    return max(found, key=lambda pair: sum(len(one.values) for one in pair[0].phases))[1]


@pytest.mark.deep
@pytest.mark.parametrize(
    "names",
    [
        ("word2vec", "translation", "attention", "residual_block"),
        pytest.param(tuple(EXAMPLES), marks=pytest.mark.fuzz),
    ],
    ids=["some", "all"],
)
def test_kernels_of_models_compile_for_two_kinds_of_gpus(names: tuple[str, ...]) -> None:
    made = compile_triton([most_complex(name) for name in names], (90, 80))
    assert len(made) == 2 * len(names)
    for one in made:
        assert f".target sm_{one.capability}" in one.ptx
        assert 0 < one.registers <= 255
        assert one.spilled == 0
        assert one.shared <= 48 * 1024


@pytest.mark.deep
def test_barriers_are_in_the_machine_code() -> None:
    (case,) = cases_of(softmax(8, 4500))
    without = case.code.text.replace("tl.debug_barrier()", "pass")
    other = replace(case.code, text=without.replace("kernel_0", "other"), function="other")
    made, left = compile_triton([case.code, other])
    barriers = case.code.text.count("tl.debug_barrier()")
    assert barriers > 0
    assert made.ptx.count("bar.sync") == left.ptx.count("bar.sync") + barriers


@pytest.mark.deep
def test_types_of_arguments() -> None:
    graph = GraphMaker("bf16")
    x, which = graph.parameter(40), graph.parameter(40, element="pred")
    y = graph.add("exponential", (40,), x)
    graph.add("select", (40,), which, y, x)
    graph.add("not", (40,), which, element="pred")
    graph.add("convert", (40,), graph.parameter(40, element="u16"), element="u64")
    cases = cases_of(graph.module())
    assert max(triton_errors(cases)) < 1e-2
    found = [one.dtype for outputs in run_triton(cases) for one in outputs]
    assert {np.dtype(kind) for kind in (np.float32, np.bool_, np.uint64)} == {*found}


@pytest.mark.deep
def test_loops_over_tiles_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = [one.code for kind in ("f32", "bf16") for one in product_cases(kind, (20, 70, 100))]
    for name in ("MOST_TILE", "MOST_REDUCED", "MOST_ROW", "MOST_SUMS"):
        monkeypatch.setattr(triton_tiles, name, SMALL_TILES[name])
    parts = [one.code for one in reductions("parts") if one.code.function.endswith("_1_0")]
    codes += [one for one in parts if one.function.split("_")[1] in ("f32", "s8", "pred")]
    assert sum("for first" in code.text for code in codes) > 15
    assert all(one.registers > 0 for one in compile_triton(codes))
