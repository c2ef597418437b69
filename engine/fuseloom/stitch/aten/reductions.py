"""ATen operators that combine elements along dimensions: sums, softmax, normalization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from fuseloom.stitch.aten.call import AtenCall, Handler, UnknownCaseError, expanded
from fuseloom.stitch.hlo.attributes import WindowDimension
from fuseloom.stitch.module_builder import ModuleBuilder


def _reduced(call: AtenCall, opcode: str) -> str:
    build = call.builder
    x = build.convert(call.tensor("self"), call.result.element)
    dims = call.dimensions(call["dim"], len(build.dims(x)))
    return build.reshape(build.reduce(opcode, x, dims), call.result.dims)


def _reduction(opcode: str) -> Handler:
    return lambda call: _reduced(call, opcode)


def _mean(call: AtenCall) -> str:
    build = call.builder
    count = build.shape(call.tensor("self")).elements // max(call.result.elements, 1)
    if not count:
        raise UnknownCaseError("a mean of nothing")
    return build.with_number("multiply", _reduced(call, "add"), 1 / count)


def _variance(call: AtenCall) -> str:
    build = call.builder
    x = build.convert(call.tensor("self"), call.result.element)
    dims = call.dimensions(call["dim"], len(build.dims(x)))
    correction = 1 if call["correction"] is None else call["correction"]
    count = prod(build.dims(x)[k] for k in dims) - correction
    if count <= 0:
        raise UnknownCaseError("a variance of too few elements")
    centred = build.binary("subtract", x, _spread(build, mean_of(build, x, dims), x, dims))
    squares = build.reduce("add", build.binary("multiply", centred, centred), dims)
    return build.reshape(build.with_number("multiply", squares, 1 / count), call.result.dims)


def mean_of(build: ModuleBuilder, x: str, dims: Sequence[int]) -> str:
    """The mean along dimensions."""
    count = prod(build.dims(x)[k] for k in dims)
    return build.with_number("multiply", build.reduce("add", x, dims), 1 / count)


def _spread(build: ModuleBuilder, reduced: str, x: str, dims: Sequence[int]) -> str:
    """What was reduced along dimensions of an array, repeated along them."""
    kept = [k for k in range(len(build.dims(x))) if k not in dims]
    return build.broadcast(reduced, build.dims(x), kept)


def _softmax(logarithm: bool) -> Handler:
    def handle(call: AtenCall) -> str:
        build = call.builder
        x = call.operand("self")
        dims = call.dimensions(call["dim"], len(build.dims(x)))
        most = _spread(build, build.reduce("maximum", x, dims), x, dims)
        shifted = build.binary("subtract", x, most)
        powers = build.unary("exponential", shifted)
        total = build.reduce("add", powers, dims)
        if logarithm:
            total = build.unary("log", total)
            return build.binary("subtract", shifted, _spread(build, total, x, dims))
        return build.binary("divide", powers, _spread(build, total, x, dims))

    return handle


def _any(opcode: str) -> Handler:
    def handle(call: AtenCall) -> str:
        build = call.builder
        x = build.convert(call.tensor("self"), "pred")
        dims = call.dimensions(call["dim"], len(build.dims(x)))
        made = build.reshape(build.reduce(opcode, x, dims), call.result.dims)
        return build.convert(made, call.result.element)

    return handle


def normalized(
    build: ModuleBuilder, x: str, dims: Sequence[int], epsilon: float
) -> tuple[str, str, str]:
    """An array less its mean along dimensions, by its deviation; and both of these.

    Returns
    -------
    tuple of str
        The array, the mean, and the reciprocal of the deviation.
    """
    mean = mean_of(build, x, dims)
    centred = build.binary("subtract", x, _spread(build, mean, x, dims))
    variance = mean_of(build, build.binary("multiply", centred, centred), dims)
    scale = build.unary("rsqrt", build.with_number("add", variance, epsilon))
    return build.binary("multiply", centred, _spread(build, scale, x, dims)), mean, scale


def _affine(call: AtenCall, made: str, dims: Sequence[int]) -> str:
    """An array times a weight, plus a bias, if there are any; both have these extents."""
    build = call.builder
    for name, opcode in (("weight", "multiply"), ("bias", "add")):
        if call[name] is not None:
            factor = build.convert(call.tensor(name), build.element(made))
            factor = expanded(build, build.reshape(factor, dims), build.dims(made))
            made = build.binary(opcode, made, factor)
    return made


def _working(call: AtenCall) -> str:
    """The input; of two bytes, as numbers of four."""
    x = call.tensor("input")
    narrow = call.builder.element(x) in ("f16", "bf16")
    return call.builder.convert(x, "f32") if narrow else x


def _layer_norm(call: AtenCall) -> list[str]:
    build, x = call.builder, _working(call)
    rank, extents = len(build.dims(x)), list(call["normalized_shape"])
    dims = range(rank - len(extents), rank)
    made, mean, scale = normalized(build, x, dims, call["eps"])
    made = build.convert(_affine(call, made, extents), call.result.element)
    return [made, *_statistics(call, mean, scale)]


def _statistics(call: AtenCall, *values: str) -> list[str]:
    """Other results, of the types and extents that the operator has."""
    build = call.builder
    return [
        build.reshape(build.convert(value, shape.element), shape.dims)
        for value, shape in zip(values, call.results[1:], strict=False)
    ]


def _group_norm(call: AtenCall) -> list[str]:
    build, x = call.builder, _working(call)
    dims, groups = build.dims(x), call["group"]
    apart = build.reshape(x, (dims[0], groups, prod(dims[1:]) // groups))
    made, mean, scale = normalized(build, apart, (2,), call["eps"])
    made = _affine(call, build.reshape(made, dims), (dims[1], *(1 for _ in dims[2:])))
    return [build.convert(made, call.result.element), *_statistics(call, mean, scale)]


def _batch_norm(call: AtenCall) -> list[str]:
    """Normalization by statistics that are given, or by those of the input if there are none."""
    build, x = call.builder, _working(call)
    dims = build.dims(x)
    if call["training"]:
        if call["running_mean"] is not None:
            raise UnknownCaseError("statistics that change")
        made, mean, scale = normalized(build, x, (0, *range(2, len(dims))), call["eps"])
        made = _affine(call, made, (dims[1], *(1 for _ in dims[2:])))
        return [build.convert(made, call.result.element), *_statistics(call, mean, scale)]
    mean, variance = (
        build.convert(call.tensor(name), build.element(x))
        for name in ("running_mean", "running_var")
    )
    scale = build.unary("rsqrt", build.with_number("add", variance, call["eps"]))
    centred = build.binary("subtract", x, build.broadcast(mean, dims, (1,)))
    made = build.binary("multiply", centred, build.broadcast(scale, dims, (1,)))
    made = _affine(call, made, (dims[1], *(1 for _ in dims[2:])))
    empty = [build.filled(0, shape) for shape in call.results[1:] if not shape.elements]
    rest = empty or _statistics(call, mean, scale)
    return [build.convert(made, call.result.element), *rest]


def _norm(call: AtenCall) -> str:
    """The root of a sum of squares."""
    if call["ord"] not in (2, 2.0):
        raise UnknownCaseError("ord")
    build = call.builder
    x = build.convert(call.tensor("self"), call.result.element)
    dims = call.dimensions(call["dim"], len(build.dims(x)))
    squares = build.reduce("add", build.binary("multiply", x, x), dims)
    return build.reshape(build.unary("sqrt", squares), call.result.dims)


def _cumulative_sum(call: AtenCall) -> str:
    """Sums of windows that end at each element."""
    build = call.builder
    x = build.convert(call.tensor("self"), call.result.element)
    dims = build.dims(x)
    window = [WindowDimension(1)] * len(dims)
    for along in call.dimensions(call["dim"], len(dims)):
        window[along] = WindowDimension(dims[along], low=dims[along] - 1)
    return build.reduce_window("add", x, window) if call.result.elements else x


def _extreme(opcode: str) -> Handler:
    """The maximum or minimum of all elements, or of two arrays."""

    def handle(call: AtenCall) -> str:
        if call["other"] is not None:
            return call.builder.binary(opcode, call.operand("self"), call.operand("other"))
        if call["dim"] is not None:
            raise UnknownCaseError("places of maxima")
        return _reduced(call, opcode)

    return handle


REDUCTIONS: Mapping[str, Handler] = {
    "sum": _reduction("add"),
    "prod": _reduction("multiply"),
    "amax": _reduction("maximum"),
    "amin": _reduction("minimum"),
    "max": _extreme("maximum"),
    "min": _extreme("minimum"),
    "mean": _mean,
    "var": _variance,
    "any": _any("or"),
    "all": _any("and"),
    "linalg_vector_norm": _norm,
    "cumsum": _cumulative_sum,
    **dict.fromkeys(("_softmax", "softmax"), _softmax(logarithm=False)),
    **dict.fromkeys(("_log_softmax", "log_softmax"), _softmax(logarithm=True)),
    **dict.fromkeys(("native_layer_norm", "layer_norm"), _layer_norm),
    "native_group_norm": _group_norm,
    **dict.fromkeys(
        (
            "_native_batch_norm_legit_no_training", "_native_batch_norm_legit",
            "native_batch_norm", "batch_norm",
        ),
        _batch_norm,
    ),
}  # fmt: skip
"""By the names of operators, without their overloads."""
