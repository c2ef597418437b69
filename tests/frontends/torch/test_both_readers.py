"""The same operation costs the same, whether PyTorch or MLIR says it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812

import fuseloom as fl
from tests.frontends.mlir.linalg_functions import (
    LinalgFunction,
    each,
    floats,
    of_floats,
    of_moves,
    of_names,
    of_places,
    of_reductions,
    of_tensors,
    of_windows,
)
from tests.frontends.torch.support import Module

CLOSE = 1.05
"""The most that one may take more cycles than the other, each statement a region of its own."""


def own_functions() -> list[LinalgFunction]:
    """Functions of each element that models have, and the other list has not."""
    a, b = floats("own a", 3, 4), floats("own b", 3, 4)

    def of_one(name: str, *lines: str) -> LinalgFunction:
        return each("own", name, [a], "\n    ".join(lines), "f32")

    zero, one = "%z = arith.constant 0.0 : f32", "%k = arith.constant 1.0 : f32"
    return [
        of_one("relu", zero, "%y = arith.maximumf %u, %z : f32"),
        of_one("sigmoid", one, "%n = arith.negf %u : f32", "%e = math.exp %n : f32",
               "%d = arith.addf %k, %e : f32", "%y = arith.divf %k, %d : f32"),
        of_one("silu", one, "%n = arith.negf %u : f32", "%e = math.exp %n : f32",
               "%d = arith.addf %k, %e : f32", "%y = arith.divf %u, %d : f32"),
        of_one("gelu", one, "%h = arith.constant 0.5 : f32",
               "%r = arith.constant 0.707106769 : f32", "%s = arith.mulf %u, %r : f32",
               "%f = math.erf %s : f32", "%g = arith.addf %f, %k : f32",
               "%p = arith.mulf %u, %h : f32", "%y = arith.mulf %p, %g : f32"),
        of_one("leaky_relu", zero, "%k = arith.constant 0.1 : f32",
               "%c = arith.cmpf ogt, %u, %z : f32", "%p = arith.mulf %u, %k : f32",
               "%y = arith.select %c, %u, %p : f32"),
        of_one("clamp", "%l = arith.constant -1.0 : f32", "%h = arith.constant 1.5 : f32",
               "%m = arith.maximumf %u, %l : f32", "%y = arith.minimumf %m, %h : f32"),
        of_one("plus", "%k = arith.constant 1.5 : f32", "%y = arith.addf %u, %k : f32"),
        of_one("times", "%k = arith.constant 1.5 : f32", "%y = arith.mulf %u, %k : f32"),
        each("own", "selected", [a, b],
             "%two = arith.constant 2.0 : f32\n    %three = arith.constant 3.0 : f32\n"
             "    %p = arith.mulf %u, %two : f32\n    %q = arith.mulf %v, %three : f32\n"
             "    %c = arith.cmpf ogt, %p, %v : f32\n    %y = arith.select %c, %p, %q : f32",
             "f32"),
    ]  # fmt: skip


def contiguous(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of images with channels last, from one with channels first."""
    return lambda a, *b: function(a.permute(0, 3, 1, 2), *b).permute(0, 2, 3, 1)


def inserted(at: tuple[slice, ...]) -> Callable[..., Any]:
    def function(a: Any, b: Any) -> Any:
        whole = b.clone()
        whole[at] = a
        return whole + 1.5

    return function


SAID: dict[str, Callable[..., Any]] = {
    # each element
    "float_addf": torch.add, "float_subf": torch.sub, "float_mulf": torch.mul,
    "float_divf": torch.div, "float_maximumf": torch.maximum, "float_minimumf": torch.minimum,
    **{f"float_{name}": getattr(torch, name) for name in (
        "exp", "tanh", "erf", "sin", "cos", "atan", "floor", "ceil", "expm1", "log", "sqrt",
        "rsqrt", "log1p",
    )},
    "float_roundeven": torch.round, "float_absf": torch.abs, "float_negf": torch.neg,
    "float_fma": lambda a, b, c: a * b + c,
    "float_powf_2_0": lambda a: a**2, "float_powf_3_0": lambda a: a**3,
    "float_powf_7_0": lambda a: a**7,
    "float_powf_0_5": lambda a: a**0.5, "float_powf_minus1_0": lambda a: a**-1.0,
    "float_cmpf_ogt": lambda a, b, c: torch.where(a > b, b, c),
    "float_cmpf_ole": lambda a, b, c: torch.where(a <= b, b, c),
    "float_cmpf_oeq": lambda a, b, c: torch.where(a == b, b, c),
    "float_select_2_5": lambda a: torch.where(a > 0, a, 2.5),
    "own_relu": torch.relu, "own_sigmoid": torch.sigmoid, "own_silu": F.silu, "own_gelu": F.gelu,
    "own_leaky_relu": lambda a: F.leaky_relu(a, 0.1), "own_clamp": lambda a: a.clamp(-1.0, 1.5),
    "own_plus": lambda a: a + 1.5, "own_times": lambda a: a * 1.5,
    "own_selected": lambda a, b: torch.where(2 * a > b, 2 * a, 3 * b),
    # products
    "named_square": torch.square, "named_reciprocal": torch.reciprocal,
    "named_matmul_f32_f32": lambda a, b: a @ b + 1.5,
    "named_batch_matmul_f32_f32": lambda a, b: a @ b + 1.5,
    "named_matvec_f32_f32": lambda a, b: a @ b + 1.5,
    "named_vecmat_f32_f32": lambda a, b: a @ b + 1.5,
    "named_dot_f32_f32": lambda a, b: a @ b + 1.5,
    "named_softmax_0": lambda a: a.softmax(0), "named_softmax_1": lambda a: a.softmax(1),
    # reductions
    "reduction_addf_rows": lambda a: a.sum(1) + 0.5,
    "reduction_addf_columns": lambda a: a.sum(0) + 0.5,
    "reduction_addf_all": lambda a: a.sum() + 0.5,
    "reduction_mulf_rows": lambda a: a.prod(1) * 2.0,
    "reduction_maximumf_rows": lambda a: a.amax(1),
    "reduction_maximumf_columns": lambda a: a.amax(0),
    "reduction_maximumf_all": lambda a: a.amax(),
    "reduction_maximumf_start_rows": lambda a: a.amax(1).clamp(min=1.25),
    "reduction_minimumf_rows": lambda a: a.amin(1),
    "reduction_subf_rows": lambda a: -a.sum(1),
    "reduction_max_plus": lambda a, b: (a.unsqueeze(2) + b.unsqueeze(0)).amax(1),
    "reduction_max_times": lambda a, b: (a.unsqueeze(2) * b.unsqueeze(0)).amax(1),
    # windows
    **{
        f"window_conv_2d_nchw_fchw_f32_{stride}_{dilation}":
            lambda a, b, s=stride, d=dilation: F.conv2d(a, b, stride=s, dilation=d)
        for stride in (1, 2) for dilation in (1, 2)
    },
    "window_pooling_max_f32": contiguous(lambda a: F.max_pool2d(a, 2)),
    "window_pooling_sum_f32": contiguous(lambda a: F.avg_pool2d(a, 2, divisor_override=1)),
    # moves
    "move_collapse": lambda a: a.reshape(6, 4) + 1.5,
    "move_collapse_all": lambda a: a.ravel() + 1.5,
    "move_expand": lambda a: a.reshape(2, 3, 2, 2) + 1.5,
    "move_slice_0": lambda a: a[:, 1:3, :] + 1.5, "move_slice_1": lambda a: a[1, :, 1:5:2] + 1.5,
    "move_insert_0": inserted((slice(1, 3), slice(3))),
    "move_insert_1": inserted((slice(0, 4, 2), slice(1, 4))),
    **{f"move_concat_{axis}": lambda a, b, x=axis: torch.cat([a, b], x) + 1.5 for axis in range(3)},
    "move_pad_0_0": lambda a: F.pad(a, (0, 2, 1, 0, 0, 1)) + 1.5,
    "move_pad_2_5": lambda a: F.pad(a, (1, 0, 0, 0, 1, 0), value=2.5) + 1.5,
    "move_transpose__2__1__0_": lambda a: a.permute(2, 1, 0) + 1.5,
    "move_broadcast_1": lambda a: a.unsqueeze(1).expand(2, 5, 3, 4) + 1.5,
    # places
    "place_triangle_0_0": torch.tril,
    "place_a_map_that_is_turned": lambda a, b: b - a.T,
    "place_a_map_that_is_row": lambda a, b: b - a,
    # whole tensors
    "tensor_addf": torch.add, "tensor_exp": torch.exp,
    "tensor_select": lambda a, b: torch.where(a > b, a, b),
}  # fmt: skip
"""The functions of the list in PyTorch."""
OTHERWISE: dict[str, tuple[str, ...]] = {
    "conditions are weights from PyTorch, and computed of signs from MLIR": (
        "float_cmpf_ogt", "float_cmpf_ole", "float_cmpf_oeq", "float_select_2_5",
        "tensor_select",
    ),
    "what is read comes before what selects it, or behind": ("reduction_mulf_rows",),
    "a sum that repeats both operands stands as it is from PyTorch": ("reduction_max_plus",),
    "sums of windows are taken along one dimension after the other by PyTorch's reader": (
        "window_pooling_sum_f32",
    ),
    "a part of what is given is computed beforehand by PyTorch's reader": (
        "move_slice_0", "move_slice_1",
    ),
    "PyTorch itself inserts along one dimension after the other": (
        "move_insert_0", "move_insert_1",
    ),
    "a number is added to what is padded by a sum with it, or beside zeros": (
        "move_pad_0_0", "move_pad_2_5",
    ),
    "what is given back is broadcast by who reads it, from PyTorch": ("move_broadcast_1",),
}  # fmt: skip
"""Functions whose statements differ by reader, by the cause."""


@cache
def functions() -> dict[str, LinalgFunction]:
    """The functions by name."""
    families = (
        of_floats, of_names, of_reductions, of_windows, of_moves, of_places, of_tensors,
        own_functions,
    )  # fmt: skip
    return {made.name: made for family in families for made in family()}


def ran(program: fl.Program, data: Any) -> Any:
    """A run with each statement for itself."""
    run = fl.simulate(fl.compile(program), data)
    assert run.check().ok, f"{run.check()}\n{program}"
    return run


def both(name: str) -> tuple[int, int]:
    """Cycles from PyTorch and from MLIR; both give what PyTorch computes."""
    function = functions()[name]
    inputs = tuple(torch.from_numpy(np.array(x)) for x in function.data)
    traced = fl.from_torch(Module(SAID[name]), inputs)
    read = fl.from_mlir(function.text)
    run = ran(traced.program, traced.data)
    assert traced.check(run.outputs).ok, str(traced.check(run.outputs))
    arguments = dict(zip("abcdefgh", function.data, strict=False))
    given = {x: arguments[x] for x in read.program.given if x in arguments}
    other = ran(read.program, {**read.data, **given})
    made = other.outputs[read.program.outputs[0]].to_dense()
    wanted = SAID[name](*inputs).numpy()
    np.testing.assert_allclose(made.reshape(wanted.shape), wanted, rtol=1e-4, atol=1e-5)
    return run.cycles, other.cycles


def test_the_operations_are_many() -> None:
    assert len(SAID) >= 60
    assert set(SAID) <= set(functions())
    assert {name for names in OTHERWISE.values() for name in names} <= set(SAID)


@pytest.mark.parametrize("name", SAID)
def test_both_readers_take_as_many_cycles(name: str) -> None:
    traced, read = both(name)
    alike = max(traced, read) <= CLOSE * min(traced, read)
    assert alike != any(name in names for names in OTHERWISE.values()), (traced, read)
