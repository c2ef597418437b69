"""ATen operators that compute each element from those at its place, and that make new arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import log, pi, sqrt
from typing import Any

from fuseloom.stitch.aten.call import AtenCall, Handler, TensorValue, UnknownCaseError
from fuseloom.stitch.module_builder import ModuleBuilder
from fuseloom.stitch.shapes import TensorShape

_TANH_CUBE = 0.044715
"""The factor of the cube in the approximation of gelu."""


def _unary(opcode: str) -> Handler:
    return lambda call: call.builder.unary(opcode, call.operand("self"))


def _of_self(function: Callable[[ModuleBuilder, str], str]) -> Handler:
    """A function of the first argument, converted to the result's type."""
    return lambda call: function(call.builder, call.operand("self"))


def _binary(opcode: str) -> Handler:
    return lambda call: call.builder.binary(opcode, call.operand("self"), call.operand("other"))


def _sum(opcode: str) -> Handler:
    """A sum or a difference, whose second operand has a factor."""

    def handle(call: AtenCall) -> str:
        other = call.operand("other")
        if call["alpha"] not in (None, 1):
            other = call.builder.with_number("multiply", other, call["alpha"])
        operands = (call.operand("self"), other)
        if call.result.element == "pred":
            opcodes = {"add": "or"}
            if opcode not in opcodes:
                raise UnknownCaseError(opcode)
            return call.builder.binary(opcodes[opcode], *operands)
        return call.builder.binary(opcode, *operands)

    return handle


def _reversed_difference(call: AtenCall) -> str:
    x = call.operand("self")
    if call["alpha"] not in (None, 1):
        x = call.builder.with_number("multiply", x, call["alpha"])
    return call.builder.binary("subtract", call.operand("other"), x)


def _product(call: AtenCall) -> str:
    opcode = "and" if call.result.element == "pred" else "multiply"
    return call.builder.binary(opcode, call.operand("self"), call.operand("other"))


def _quotient(call: AtenCall) -> str:
    build = call.builder
    made = build.binary("divide", call.operand("self"), call.operand("other"))
    mode = call["rounding_mode"]
    if mode is None:
        return made
    if call.result.dtype.kind != "f":
        if mode != "trunc":
            raise UnknownCaseError("a quotient of integers, rounded down")
        return made
    return build.unary("floor", made) if mode == "floor" else truncated(build, made)


def truncated(build: ModuleBuilder, x: str) -> str:
    """Round towards 0."""
    below = build.compare(x, build.filled(0, build.shape(x)), "LT")
    return build.select(below, build.unary("ceil", x), build.unary("floor", x))


def sigmoid_times(build: ModuleBuilder, x: str) -> str:
    """The product of a number and its sigmoid."""
    return build.binary("multiply", x, build.unary("logistic", x))


def _gelu(call: AtenCall) -> str:
    build, x = call.builder, call.operand("self")
    if call["approximate"] == "tanh":
        cube = build.binary("multiply", build.binary("multiply", x, x), x)
        inner = build.binary("add", x, build.with_number("multiply", cube, _TANH_CUBE))
        share = build.unary("tanh", build.with_number("multiply", inner, sqrt(2 / pi)))
    else:
        share = build.unary("erf", build.with_number("multiply", x, 1 / sqrt(2)))
    half = build.with_number("multiply", x, 0.5)
    return build.binary("multiply", half, build.with_number("add", share, 1))


def _power(call: AtenCall) -> str:
    build, exponent = call.builder, call["exponent"]
    if isinstance(exponent, TensorValue) or call.result.dtype.kind != "f":
        return build.binary("power", call.operand("self"), call.operand("exponent"))
    x = call.operand("self")
    simple: Mapping[float, Callable[[], str]] = {
        0: lambda: build.filled(1, call.result),
        1: lambda: x,
        2: lambda: build.binary("multiply", x, x),
        3: lambda: build.binary("multiply", build.binary("multiply", x, x), x),
        0.5: lambda: build.unary("sqrt", x),
        -0.5: lambda: build.unary("rsqrt", x),
        -1: lambda: _reciprocal(build, x),
    }
    if exponent in simple:
        return simple[exponent]()
    return build.with_number("power", x, exponent)


def _reciprocal(build: ModuleBuilder, x: str) -> str:
    return build.binary("divide", build.filled(1, build.shape(x)), x)


def _relu(build: ModuleBuilder, x: str) -> str:
    return build.with_number("maximum", x, 0)


def _scaled_log(base: float) -> Handler:
    return _of_self(lambda build, x: build.with_number("divide", build.unary("log", x), log(base)))


def _exp2(build: ModuleBuilder, x: str) -> str:
    return build.unary("exponential", build.with_number("multiply", x, log(2)))


def _clamp(call: AtenCall, low: str = "min", high: str = "max") -> str:
    made = call.operand("self")
    for name, opcode in ((low, "maximum"), (high, "minimum")):
        if call[name] is not None:
            made = call.builder.binary(opcode, made, call.operand(name))
    return made


def _leaky_relu(call: AtenCall) -> str:
    build, x = call.builder, call.operand("self")
    slope = 0.01 if call["negative_slope"] is None else call["negative_slope"]
    above = build.compare(x, build.filled(0, call.result), "GT")
    return build.select(above, x, build.with_number("multiply", x, slope))


def _elu(call: AtenCall) -> str:
    build, x = call.builder, call.operand("self")
    factors = [1 if call[name] is None else call[name] for name in ("alpha", "scale")]
    if call["input_scale"] not in (None, 1):
        raise UnknownCaseError("input_scale")
    below = build.with_number(
        "multiply", build.unary("exponential-minus-one", x), factors[0] * factors[1]
    )
    above = x if factors[1] == 1 else build.with_number("multiply", x, factors[1])
    return build.select(build.compare(x, build.filled(0, call.result), "GT"), above, below)


def _compare(direction: str) -> Handler:
    def handle(call: AtenCall) -> str:
        shape = call.common("self", "other")
        left, right = (call.operand(name, shape) for name in ("self", "other"))
        return call.builder.compare(left, right, direction)

    return handle


def _where(call: AtenCall) -> str:
    condition = call.operand("condition", TensorShape("pred", call.result.dims))
    return call.builder.select(condition, call.operand("self"), call.operand("other"))


def _masked_fill(call: AtenCall) -> str:
    mask = call.operand("mask", TensorShape("pred", call.result.dims))
    return call.builder.select(mask, call.operand("value"), call.operand("self"))


def _logical(opcode: str) -> Handler:
    def handle(call: AtenCall) -> str:
        return call.builder.binary(opcode, *(truth(call, name) for name in ("self", "other")))

    return handle


def truth(call: AtenCall, name: str) -> str:
    """An argument as truth values: true where it is not 0."""
    return call.operand(name, TensorShape("pred", call.result.dims))


def _logical_not(call: AtenCall) -> str:
    return call.builder.unary("not", truth(call, "self"))


def _is_nan(call: AtenCall) -> str:
    x = call.tensor("self")
    return call.builder.compare(x, x, "NE")


def _is_infinite(call: AtenCall) -> str:
    build = call.builder
    size = build.unary("abs", call.tensor("self"))
    return build.compare(size, build.filled(float("inf"), build.shape(size)), "EQ")


def _round(call: AtenCall) -> str:
    if call["decimals"]:
        raise UnknownCaseError("decimals")
    return call.builder.unary("round-nearest-even", call.operand("self"))


def identity(call: AtenCall) -> str:
    """The first argument, converted to the result's type."""
    for name in ("self", "input"):
        if call[name] is not None:
            return call.builder.convert(call.tensor(name), call.result.element)
    raise UnknownCaseError("self")


def _dropout(call: AtenCall) -> str:
    if call["train"] and call["p"]:
        raise UnknownCaseError("random numbers")
    return identity(call)


def _native_dropout(call: AtenCall) -> list[str]:
    return [_dropout(call), call.builder.filled(True, call.results[1])]


def _filled(value: Any) -> Handler:
    return lambda call: call.builder.filled(value, call.result)


def _full(call: AtenCall) -> str:
    return call.operand("fill_value")


def _arange(call: AtenCall) -> str:
    build, shape = call.builder, call.result
    start, step = call["start"] or 0, 1 if call["step"] is None else call["step"]
    made = build.iota(shape, 0)
    made = made if step == 1 else build.with_number("multiply", made, step)
    return build.with_number("add", made, start) if start else made


ELEMENTWISE: Mapping[str, Handler] = {
    **{
        name: _unary(opcode)
        for name, opcode in {
            "neg": "negate", "exp": "exponential", "log": "log", "tanh": "tanh",
            "sigmoid": "logistic", "sqrt": "sqrt", "rsqrt": "rsqrt", "abs": "abs", "sin": "sine",
            "cos": "cosine", "tan": "tan", "asin": "asin", "acos": "acos",
            "sinh": "sinh", "cosh": "cosh", "asinh": "asinh", "acosh": "acosh", "atanh": "atanh",
            "erf": "erf", "expm1": "exponential-minus-one", "log1p": "log-plus-one",
            "floor": "floor", "ceil": "ceil", "sign": "sign", "sgn": "sign", "bitwise_not": "not",
        }.items()
    },
    "relu": _of_self(_relu),
    "atan": _of_self(lambda build, x: build.with_number("atan2", x, 1)),
    "reciprocal": _of_self(_reciprocal),
    "silu": _of_self(sigmoid_times),
    "trunc": _of_self(truncated),
    "square": _of_self(lambda build, x: build.binary("multiply", x, x)),
    "log2": _scaled_log(2),
    "log10": _scaled_log(10),
    "exp2": _of_self(_exp2),
    "round": _round,
    "gelu": _gelu,
    "leaky_relu": _leaky_relu,
    "elu": _elu,
    "pow": _power,
    "add": _sum("add"),
    "sub": _sum("subtract"),
    "rsub": _reversed_difference,
    "mul": _product,
    "div": _quotient,
    "maximum": _binary("maximum"),
    "minimum": _binary("minimum"),
    "fmod": _binary("remainder"),
    "atan2": _binary("atan2"),
    "bitwise_and": _binary("and"),
    "bitwise_or": _binary("or"),
    "bitwise_xor": _binary("xor"),
    "clamp": _clamp,
    "clamp_min": _clamp,
    "clamp_max": _clamp,
    "hardtanh": lambda call: _clamp(call, "min_val", "max_val"),
    **{name: _compare(name.upper()) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    "where": _where,
    "masked_fill": _masked_fill,
    "logical_and": _logical("and"),
    "logical_or": _logical("or"),
    "logical_xor": _logical("xor"),
    "logical_not": _logical_not,
    "isnan": _is_nan,
    "isinf": _is_infinite,
    **dict.fromkeys(
        ("_to_copy", "to", "clone", "contiguous", "detach", "alias", "lift_fresh_copy"), identity
    ),
    "dropout": _dropout,
    "native_dropout": _native_dropout,
    **dict.fromkeys(("zeros", "zeros_like", "new_zeros"), _filled(0)),
    **dict.fromkeys(("ones", "ones_like", "new_ones"), _filled(1)),
    **dict.fromkeys(("full", "full_like", "new_full"), _full),
    "scalar_tensor": lambda call: call.operand("s"),
    "arange": _arange,
}  # fmt: skip
"""By the names of operators, without their overloads."""
