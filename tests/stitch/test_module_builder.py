"""The builder of modules: operations that it leaves out, names, and types of reductions."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.stitch.hlo.attributes import WindowDimension
from fuseloom.stitch.hlo.printer import print_hlo
from fuseloom.stitch.hlo.reader import read_hlo
from fuseloom.stitch.meaning.evaluation import evaluate
from fuseloom.stitch.module_builder import STARTS, ModuleBuilder
from fuseloom.stitch.shapes import TensorShape, TupleShape


@pytest.fixture
def builder() -> ModuleBuilder:
    made = ModuleBuilder("m")
    made.parameter("x", TensorShape("f32", (2, 3)))
    return made


def test_operations_that_change_nothing_are_left_out(builder: ModuleBuilder) -> None:
    assert builder.transpose("x", (0, 1)) == "x"
    assert builder.reshape("x", (2, 3)) == "x"
    assert builder.broadcast("x", (2, 3), (0, 1)) == "x"
    assert builder.slice("x", [(0, 2, 1), (0, 3, 1)]) == "x"
    assert builder.convert("x", "f32") == "x"
    assert builder.reduce("add", "x", ()) == "x"


def test_scalars_are_constants_once(builder: ModuleBuilder) -> None:
    assert builder.constant(1, "f32") == builder.constant(1.0, "f32")
    assert builder.constant(1, "f32") != builder.constant(1, "s32")
    assert builder.constant([1, 2], "f32") != builder.constant([1, 2], "f32")


def test_names(builder: ModuleBuilder) -> None:
    builder.prefix = "y"
    first = builder.unary("negate", "x")
    second = builder.unary("abs", first)
    assert (first, second) == ("y.1", "y.2")
    assert builder.rename_last(first, "y") == first
    assert builder.rename_last(second, "x") == second
    assert builder.rename_last(second, "y") == "y"
    builder.prefix = "z"
    assert builder.rename_last("y", "z") == "y"
    zero = builder.constant(0, "f32")
    assert builder.rename_last(zero, "z") == zero


def test_a_module_has_what_its_results_need(builder: ModuleBuilder) -> None:
    unread = builder.parameter("unread", TensorShape("f32", ()))
    builder.reduce("maximum", "x", (0,))
    sums = builder.reduce("add", "x", (1, 0))
    module = builder.module([sums, "x"])
    assert [one.name for one in module.main.parameters] == ["x", unread]
    assert list(module.computations) == ["add.f32", "main"]
    assert isinstance(module.main.by_name[module.main.root].shape, TupleShape)
    assert module.main.outputs == (sums, "x")
    assert print_hlo(read_hlo(print_hlo(module))) == print_hlo(module)
    made, _ = evaluate(module, {"x": np.ones((2, 3), np.float32), "unread": np.float32(0)})
    assert made == 6


@pytest.mark.parametrize("opcode", [one for one in STARTS if one not in ("or", "and")])
@pytest.mark.parametrize("element", ["f32", "s32", "u8"])
def test_reductions_of_all_types(opcode: str, element: str) -> None:
    builder = ModuleBuilder("m")
    x = builder.parameter("x", TensorShape(element, (3,)))
    values = np.array([3, 1, 2], builder.shape(x).dtype)
    (made,) = evaluate(builder.module([builder.reduce(opcode, x, (0,))]), {"x": values})
    assert made == {"add": 6, "multiply": 6, "maximum": 3, "minimum": 1}[opcode]


def test_reductions_of_truth_values() -> None:
    builder = ModuleBuilder("m")
    x = builder.parameter("x", TensorShape("pred", (2, 2)))
    results = [builder.reduce("or", x, (1,)), builder.reduce("and", x, (1,))]
    some, every = evaluate(builder.module(results), {"x": np.array([[0, 0], [0, 1]], bool)})
    assert some.tolist() == [False, True]
    assert every.tolist() == [False, False]


def test_windows() -> None:
    builder = ModuleBuilder("m")
    x = builder.parameter("x", TensorShape("f32", (5,)))
    made = builder.reduce_window("maximum", x, [WindowDimension(3, stride=2, low=1, high=1)])
    (values,) = evaluate(builder.module([made]), {"x": np.float32([1, 5, 2, 3, 4])})
    assert values.tolist() == [5, 5, 4]


def test_a_batched_dot() -> None:
    builder = ModuleBuilder("m")
    x = builder.parameter("x", TensorShape("f32", (2, 4, 3)))
    y = builder.parameter("y", TensorShape("f32", (3, 5, 2)))
    dot = builder.dot(x, y, ((2,), (0,)), ((0,), (2,)))
    rng = np.random.default_rng(0)
    data = {"x": rng.random((2, 4, 3), np.float32), "y": rng.random((3, 5, 2), np.float32)}
    (made,) = evaluate(builder.module([dot]), data)
    np.testing.assert_allclose(made, np.einsum("bik,kjb->bij", data["x"], data["y"]), rtol=1e-6)
