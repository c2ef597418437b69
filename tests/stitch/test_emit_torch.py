"""PyTorch of computations equals their meaning, and calls kernels in the place of operations."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuseloom.errors import LoweringError
from fuseloom.stitch.emit_torch import constants_of, emit_torch
from fuseloom.stitch.examples.models import read_example
from fuseloom.stitch.frames import fuse_module
from fuseloom.stitch.fusion import fuse
from fuseloom.stitch.graph import random_inputs
from fuseloom.stitch.kernel_code import KernelLanguage, kernel_codes
from fuseloom.stitch.meaning.evaluation import evaluate

from .stitched_modules import GraphMaker


def loaded(text: str, folder: Path) -> Any:
    """The module of a text."""
    path = folder / "model.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("emitted_model", path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def many() -> GraphMaker:
    """Operations of many kinds."""
    graph = GraphMaker()
    x, y = graph.parameter(4, 6), graph.parameter(4, 6)
    zero = graph.add("constant", (), literal=np.float32(0.25))
    graph.add("clamp", (4, 6), x, y, x)
    less = graph.add("compare", (4, 6), x, y, element="pred", direction="LT")
    graph.add("select", (4, 6), less, x, y)
    graph.add("concatenate", (4, 12), x, y, dimensions=(1,))
    graph.add("reverse", (4, 6), x, dimensions=(1,))
    graph.add("pad", (5, 7), x, zero, padding=((1, 0, 0), (2, -1, 0)))
    graph.add("iota", (4, 6), iota_dimension=1)
    graph.add("slice", (2, 2), y, slice=((1, 4, 2), (0, 6, 4)))
    graph.add("transpose", (6, 4), y, dimensions=(1, 0))
    graph.add("reduce", (6,), x, zero, dimensions=(0,), to_apply="sum")
    graph.add("reduce", (), x, zero, dimensions=(0, 1), to_apply="largest")
    graph.add("convert", (4, 6), less)
    wide = graph.add("broadcast", (3, 4, 6), x, dimensions=(1, 2))
    other = graph.parameter(3, 6, 2)
    graph.add(
        "dot", (3, 4, 2), wide, other, lhs_batch_dims=(0,), rhs_batch_dims=(0,),
        lhs_contracting_dims=(2,), rhs_contracting_dims=(1,),
    )  # fmt: skip
    return graph


def check(torch: Any, module: Any, folder: Path) -> None:
    """Compare what the text computes with the meaning."""
    made = fuse_module(module)
    fusion = made.frames[0].fusion
    model = loaded(emit_torch(made.module, fusion), folder)
    inputs = random_inputs(fusion.computation)
    given = [torch.from_numpy(inputs[one.name]) for one in fusion.computation.parameters]
    constants = {key: torch.from_numpy(np.array(one.literal)) for key, one in constants_of(fusion)}
    wanted = evaluate(made.module, inputs)
    for way in (model.whole(given, constants), model.stitched(None, given, constants)):
        for found, value in zip(way, wanted, strict=True):
            np.testing.assert_allclose(found.numpy(), value, rtol=2e-5, atol=2e-6)


@pytest.mark.deep
@pytest.mark.parametrize("name", ["attention", "logistic_regression", "rnn", "birnn"])
def test_the_examples(name: str, tmp_path: Path) -> None:
    check(pytest.importorskip("torch"), read_example(name), tmp_path)


@pytest.mark.deep
def test_operations_of_many_kinds(tmp_path: Path) -> None:
    check(pytest.importorskip("torch"), many().module(), tmp_path)


def test_kernels_are_launched_in_the_place_of_operations() -> None:
    graph = GraphMaker()
    x = graph.parameter(8, 8)
    product = graph.add("dot", (8, 8), x, x, lhs_contracting_dims=(1,), rhs_contracting_dims=(0,))
    graph.add("tanh", (8, 8), product)
    module = graph.module()
    fusion = fuse(module.main)
    text = emit_torch(module, fusion, kernel_codes(module, fusion, KernelLanguage.CUDA))
    whole, stitched = text.split("def stitched")
    assert "torch.tanh" in whole
    assert "torch.tanh" not in stitched
    assert "torch.einsum" in stitched
    assert 'launch("kernel_1", [v1])' in stitched


@pytest.mark.parametrize(
    ("opcode", "element"), [("convolution", "f32"), ("divide", "s32"), ("sort", "f32")]
)
def test_what_has_no_form_is_named(opcode: str, element: str) -> None:
    graph = GraphMaker(element)
    x = graph.parameter(4, 4)
    graph.add(opcode, (4, 4), x, x)
    module = graph.module()
    with pytest.raises(LoweringError, match=rf"{opcode}\.1 is {opcode} of {element}"):
        emit_torch(module, fuse(module.main))
