"""The layers of a PyTorch module as terms: what it calls on given inputs, call by call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from fuseloom.access.constructs.construct import Array
from fuseloom.access.kernels import (
    ACTIVATIONS,
    WEIGHTS,
    Convolution,
    Pair,
    batched_matmul,
    conv2d,
    dense,
    matmul,
    pool2d,
)
from fuseloom.access.layers import Layer, OtherCall
from fuseloom.access.terms import Term
from fuseloom.errors import ProgramError


def layers_of(
    module: Any, inputs: Sequence[Any]
) -> tuple[tuple[Layer, ...], tuple[OtherCall, ...]]:
    """Run a module and collect its convolutions, dense layers, products and pooling.

    Parameters
    ----------
    module : torch.nn.Module
    inputs : sequence of torch.Tensor

    Returns
    -------
    tuple of Layer
        In order of execution.
    tuple of OtherCall
        The calls that are no terms, each name once.

    Raises
    ------
    ProgramError
        If PyTorch is not installed, or the module cannot be run on the inputs.

    Examples
    --------
    >>> import torch
    >>> layers, rest = layers_of(torch.nn.Linear(4, 3), [torch.ones(2, 4)])
    >>> layers[0].name, layers[0].result.shape, rest
    ('1 linear', (2, 3), ())
    """
    try:
        import torch
        from torch.overrides import TorchFunctionMode
    except ImportError:
        raise ProgramError(
            "layers are read by PyTorch, which is not installed",
            hint="pip install 'fuseloom[torch]'",
        ) from None
    layers: list[Layer] = []
    others: dict[str, OtherCall] = {}

    class Recorder(TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            result = function(*args, **(kwargs or {}))
            name = getattr(function, "__name__", "")
            reader = _READERS.get(name)
            if reader is not None:
                try:
                    made = reader(function, args, dict(kwargs or {}), result)
                    layers.append(Layer(f"{len(layers) + 1} {name}", *made))
                except ProgramError as error:
                    others[name] = OtherCall(name, error.message)
            elif isinstance(result, torch.Tensor) and name in _ARITHMETIC:
                others[name] = OtherCall(name, "no dot product: computed beside the array")
            return result

    try:
        with torch.no_grad(), Recorder():
            module(*inputs)
    except (RuntimeError, TypeError, ValueError) as error:
        raise ProgramError(f"the module does not run on its inputs: {error}") from None
    return tuple(layers), tuple(others.values())


_Made = tuple[Term, Mapping[str, Array], Array]

_ARITHMETIC = frozenset(
    {"relu", "relu_", "relu6", "hardtanh", "hardtanh_", "gelu", "softmax", "layer_norm",
     "batch_norm", "add", "add_", "mul", "sigmoid", "tanh", "silu", "dropout", "mean"}
)  # fmt: skip


def _array(tensor: Any) -> Array:
    return np.asarray(tensor.detach().to("cpu").double().numpy())


def _pair_of(value: Any) -> Pair:
    if isinstance(value, int):
        return value, value
    items = tuple(int(x) for x in value)
    return (items[0], items[0]) if len(items) == 1 else (items[0], items[1])


def _named(args: Sequence[Any], kwargs: Mapping[str, Any], defaults: Mapping[str, Any]) -> Any:
    """Arguments by their names, in the order of a function's parameters."""
    given = dict(zip(defaults, args, strict=False))
    return {**defaults, **given, **{k: v for k, v in kwargs.items() if k in defaults}}


def _conv2d(function: Any, args: Any, kwargs: Any, result: Any) -> _Made:
    given = _named(
        args, kwargs,
        {"input": None, "weight": None, "bias": None, "stride": 1, "padding": 0, "dilation": 1,
         "groups": 1},
    )  # fmt: skip
    image, weight = _array(given["input"]), _array(given["weight"])
    if image.ndim != 4:
        raise ProgramError("a convolution of one image without a batch")
    taps, dilation = (weight.shape[2], weight.shape[3]), _pair_of(given["dilation"])
    padding = given["padding"]
    if padding == "valid":
        padding = 0
    if padding == "same":
        spans = [(k - 1) * d for k, d in zip(taps, dilation, strict=True)]
        if any(span % 2 for span in spans):
            raise ProgramError("a convolution padded by different numbers on both sides")
        padding = tuple(span // 2 for span in spans)
    n, c, height, width = image.shape
    layer = Convolution(
        n, c, height, width, weight.shape[0], taps, _pair_of(given["stride"]), _pair_of(padding),
        dilation, int(given["groups"]),
    )  # fmt: skip
    if given["bias"] is not None:
        result = function(**{**given, "bias": None})
    return conv2d(layer), {ACTIVATIONS: image, WEIGHTS: weight}, _array(result)


def _linear(function: Any, args: Any, kwargs: Any, result: Any) -> _Made:
    given = _named(args, kwargs, {"input": None, "weight": None, "bias": None})
    vectors, weight = _array(given["input"]), _array(given["weight"])
    if given["bias"] is not None:
        result = function(given["input"], given["weight"])
    outputs, inputs = weight.shape
    batch = prod(vectors.shape[:-1])
    term = dense(batch, inputs, outputs)
    data = {ACTIVATIONS: vectors.reshape(batch, inputs), WEIGHTS: weight}
    return term, data, _array(result).reshape(batch, outputs)


def _matmul(function: Any, args: Any, kwargs: Any, result: Any) -> _Made:
    left, right = (_array(x) for x in args[:2])
    if min(left.ndim, right.ndim) < 2:
        raise ProgramError("a product of a matrix and a vector")
    (m, k), n = left.shape[-2:], right.shape[-1]
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    count = prod(batch)
    first = np.broadcast_to(left, (*batch, m, k)).reshape(count, m, k)
    second = np.broadcast_to(right, (*batch, k, n)).reshape(count, k, n)
    made = _array(result).reshape(count, m, n)
    if count == 1:
        data = {ACTIVATIONS: first[0], WEIGHTS: second[0]}
        return matmul(m, k, n), data, made[0]
    return batched_matmul(count, m, k, n), {ACTIVATIONS: first, WEIGHTS: second}, made


def _pool(kind: str) -> Callable[[Any, Any, Any, Any], _Made]:
    def read(function: Any, args: Any, kwargs: Any, result: Any) -> _Made:
        more = {"dilation": 1, "ceil_mode": False} if kind == "max" else {
            "ceil_mode": False, "count_include_pad": True, "divisor_override": None
        }  # fmt: skip
        sizes = {"input": None, "kernel_size": None, "stride": None, "padding": 0}
        given = _named(args, kwargs, {**sizes, **more})
        if given["ceil_mode"] or given.get("dilation", 1) not in (1, (1, 1)):
            raise ProgramError("pooling that rounds up, or is dilated")
        padded = _pair_of(given["padding"]) != (0, 0)
        if given.get("divisor_override") or (padded and not given.get("count_include_pad", True)):
            raise ProgramError("a mean of fewer values than the window has")
        return _pooled(
            kind, given["input"], _pair_of(given["kernel_size"]),
            _pair_of(given["stride"] or given["kernel_size"]), _pair_of(given["padding"]), result,
        )  # fmt: skip

    return read


def _adaptive(function: Any, args: Any, kwargs: Any, result: Any) -> _Made:
    given = _named(args, kwargs, {"input": None, "output_size": None})
    size, wanted = given["input"].shape[-2:], _pair_of(given["output_size"])
    if any(extent % places for extent, places in zip(size, wanted, strict=True)):
        raise ProgramError("adaptive pooling with windows of different sizes")
    window = (size[0] // wanted[0], size[1] // wanted[1])
    return _pooled("mean", given["input"], window, window, (0, 0), result)


def _pooled(kind: str, image: Any, window: Pair, stride: Pair, padding: Pair, result: Any) -> _Made:
    if image.ndim != 4:
        raise ProgramError("pooling of one image without a batch")
    n, c, height, width = image.shape
    layer = Convolution(n, c, height, width, c, window, stride, padding)
    return pool2d(layer, kind), {ACTIVATIONS: _array(image)}, _array(result)


_READERS: Mapping[str, Callable[[Any, Any, Any, Any], _Made]] = {
    "conv2d": _conv2d,
    "linear": _linear,
    "matmul": _matmul,
    "__matmul__": _matmul,
    "bmm": _matmul,
    "max_pool2d": _pool("max"),
    "boolean_dispatch": _pool("max"),
    "avg_pool2d": _pool("mean"),
    "adaptive_avg_pool2d": _adaptive,
}
"""By the name of a function of PyTorch, what reads its arguments."""
