"""Elementwise operators, each against PyTorch."""

from __future__ import annotations

import pytest

from fuseloom.stitch.torch_graph import torch_module_graph
from tests.stitch.aten.exporting import batched, compare, drawn, module_of, together

torch = pytest.importorskip("torch")
functional = torch.nn.functional

OF_ONE = {
    **{
        name: getattr(torch, name)
        for name in (
            "neg", "exp", "tanh", "sigmoid", "relu", "abs", "sin", "cos", "tan", "atan", "sinh",
            "cosh", "asinh", "erf", "expm1", "floor", "ceil", "sign", "trunc", "round", "exp2",
            "square", "reciprocal", "isnan", "isinf", "logical_not", "clone", "zeros_like",
            "ones_like",
        )
    },
    "gelu": functional.gelu,
    "gelu by tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "silu": functional.silu,
    "leaky_relu": functional.leaky_relu,
    "elu": functional.elu,
    "selu": functional.selu,
    "hardtanh": functional.hardtanh,
    "hardsigmoid": functional.hardsigmoid,
    "hardswish": functional.hardswish,
    "relu6": functional.relu6,
    "softplus": functional.softplus,
    "mish": functional.mish,
    "dropout": lambda x: functional.dropout(x, 0.5, training=False),
    "clamp": lambda x: x.clamp(-0.5, 0.5),
    "clamp below": lambda x: x.clamp(min=0.1),
    "clamp by tensors": lambda x: torch.clamp(x, max=x * x),
    "squares": lambda x: x**2,
    "cubes": lambda x: x**3,
    "another power": lambda x: (x * x + 1) ** 1.5,
    "powers of reciprocals": lambda x: (x * x + 1) ** -1,
    "powers of a number": lambda x: 2.0**x,
    "powers of tensors": lambda x: (x * x + 1) ** x,
    "a difference from a number": lambda x: 1 - x,
    "a factor": lambda x: torch.add(x, x * x, alpha=0.5),
    "a quotient": lambda x: 1 / (x * x + 1),
    "a quotient rounded down": lambda x: torch.div(x, 0.3, rounding_mode="floor"),
    "a quotient rounded": lambda x: torch.div(x, 0.3, rounding_mode="trunc"),
    "a remainder": lambda x: torch.fmod(x, 0.7),
    "as doubles": lambda x: x.double() * 2,
    "as integers": lambda x: (10 * x).to(torch.int32) + 1,
    "integers": lambda x: x.long() * 3 - 1,
    "truth values": lambda x: (x > 0) & (x < 1) | (x == 0.5),
    "sums of truth values": lambda x: (x > 0) + (x < -1),
    "numbers of truth values": lambda x: (x > 0) * 1.5,
    "integers by a number": lambda x: x.long() / 4,
    "filled": lambda x: torch.full((2, 3), 7.0) + x.sum(),
    "ones": lambda x: torch.ones(3, dtype=torch.int64) + torch.zeros(2, 1),
    "arange": lambda x: torch.arange(2, 12, 3) + x.long()[0, 0],
    "arange of floats": lambda x: torch.arange(0, 1, 0.25) * x[0, 0],
}  # fmt: skip
OF_POSITIVE = ("log", "log2", "log10", "log1p", "sqrt", "rsqrt")
OF_SMALL = ("asin", "acos", "atanh")
OF_TWO = {
    **{
        name: getattr(torch, name)
        for name in (
            "add", "sub", "mul", "div", "maximum", "minimum", "atan2", "eq", "ne", "lt", "le",
            "gt", "ge", "logical_and", "logical_or", "logical_xor",
        )
    },
    "where": lambda x, y: torch.where(x > y, x, 2 * y),
    "where with a number": lambda x, y: torch.where(x > y, x, 0.0),
    "masked_fill": lambda x, y: x.masked_fill(y > 0, -1e9),
    "integers and floats": lambda x, y: x.int() + y,
    "integers compared": lambda x, y: x.int() > y,
    "a larger type": lambda x, y: x.double() * y,
    "a difference with a factor": lambda x, y: torch.rsub(x, y, alpha=2),
}  # fmt: skip


@pytest.mark.parametrize("names", batched(OF_ONE, 10), ids=", ".join)
def test_of_one_tensor(names: tuple[str, ...]) -> None:
    compare(together(OF_ONE[name] for name in names), [drawn(4, 5)])


def test_where_it_is_defined() -> None:
    functions = [getattr(torch, name) for name in (*OF_POSITIVE, *OF_SMALL)]
    compare(together(functions), [torch.rand(4, 5) * 0.9 + 0.05])


def test_of_numbers_that_grow_from_one() -> None:
    compare(module_of(torch.acosh), [torch.rand(4, 5) + 1])


@pytest.mark.parametrize("names", batched(OF_TWO, 8), ids=", ".join)
@pytest.mark.parametrize("dims", [((4, 5), (4, 5)), ((4, 1), (5,)), ((2, 1, 3), ())])
def test_of_two_tensors(
    names: tuple[str, ...], dims: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    compare(together(OF_TWO[name] for name in names), [drawn(*dims[0]), drawn(*dims[1])])


def test_random_numbers_are_opaque() -> None:
    function = module_of(lambda x: functional.dropout(x, 0.5, training=True) + 1)
    assert torch_module_graph(function, [drawn(4)]).opaque


def test_of_integers() -> None:
    x = torch.tensor([[1, -2, 3], [7, 0, -5]])
    compare(module_of(lambda x: (x & 3) | (x ^ 5)), [x])
    compare(module_of(lambda x: torch.div(x, 2, rounding_mode="trunc")), [x])
    compare(module_of(lambda x: x**2 + x.sqrt().isnan()), [x])
    graph = torch_module_graph(module_of(lambda x: torch.div(x, 2, rounding_mode="floor")), [x])
    assert graph.opaque == ("aten.div.Tensor_mode",)
