"""Operations on each element."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tests.stitch.meaning.cases.operation_case import (
    B,
    C,
    Halves,
    I,
    J,
    M,
    N,
    OperationCase,
    X,
    Y,
    case,
    floats,
)

FLOAT_UNARY = [
    "abs", "negate", "sign", "exponential", "exponential-minus-one", "log", "log-plus-one", "sqrt",
    "cbrt", "rsqrt", "sine", "cosine", "tan", "tanh", "erf", "logistic", "ceil", "floor",
    "round-nearest-even", "round-nearest-afz", "copy",
]  # fmt: skip
FLOAT_BINARY = [
    "add", "subtract", "multiply", "divide", "remainder", "power", "maximum", "minimum", "atan2",
]  # fmt: skip
INTEGER_BINARY = [
    "add", "subtract", "multiply", "divide", "remainder", "power", "maximum", "minimum", "and",
    "or", "xor", "shift-left", "shift-right-arithmetic", "shift-right-logical",
]  # fmt: skip
DIRECTIONS = ["EQ", "NE", "LT", "LE", "GT", "GE"]


def elementwise() -> Iterable[tuple[str, OperationCase]]:
    for name in FLOAT_UNARY:
        yield name, case(f"ROOT r = f32[{N}] {name}(x)", x=X)
    for name in ("exponential", "tanh", "logistic", "rsqrt"):
        few = X[:13] if name != "rsqrt" else np.abs(X[2:13])
        yield f"{name} of bf16", case(f"ROOT r = bf16[{len(few)}] {name}(x)", x=Halves(few))
        half = few.astype(np.float16)
        yield f"{name} of f16", case(f"ROOT r = f16[{len(few)}] {name}(x)", x=half)
    for name in ("abs", "negate", "sign", "not", "popcnt", "count-leading-zeros"):
        yield f"{name} of s32", case(f"ROOT r = s32[{M}] {name}(x)", x=I)
    for name in ("not", "popcnt", "count-leading-zeros"):
        bits = np.uint8([0, 1, 200, 255])
        yield f"{name} of u8", case(f"ROOT r = u8[4] {name}(x)", x=bits)
    yield "not of pred", case("ROOT r = pred[5] not(x)", x=B)
    yield "is-finite", case(f"ROOT r = pred[{N}] is-finite(x)", x=X)
    for name in FLOAT_BINARY:
        yield name, case(f"ROOT r = f32[{N}] {name}(x, y)", x=X, y=Y)
    wide = {"x": X.astype(np.float64), "y": Y.astype(np.float64)}
    for name in ("add", "divide", "power"):
        yield f"{name} of f64", case(f"ROOT r = f64[{N}] {name}(x, y)", **wide)
    few = {"x": Halves(X[6:13]), "y": Halves(Y[6:13])}
    for name in ("add", "multiply", "divide", "subtract"):
        yield f"{name} of bf16", case(f"ROOT r = bf16[7] {name}(x, y)", **few)
    for name in INTEGER_BINARY:
        x, y = (I, J) if name != "power" else (J, np.abs(I) % 7 - 2)
        yield f"{name} of s32", case(f"ROOT r = s32[{M}] {name}(x, y)", x=x, y=y)
        unsigned = {"x": I.astype(np.uint8), "y": (J % 11).astype(np.uint8)}
        yield f"{name} of u8", case(f"ROOT r = u8[{M}] {name}(x, y)", **unsigned)
    for name in ("add", "multiply", "and", "or", "xor", "maximum", "minimum"):
        yield f"{name} of pred", case(f"ROOT r = pred[5] {name}(x, y)", x=B, y=~B | B[::-1])
    for name in ("add", "multiply", "divide"):
        yield f"{name} of c64", case(f"ROOT r = c64[4] {name}(x, y)", x=C, y=C[::-1].copy() + 1)
    for name in ("exponential", "negate"):
        yield f"{name} of c64", case(f"ROOT r = c64[4] {name}(x)", x=C)
    for name in ("real", "imag", "abs"):
        yield f"{name} of c64", case(f"ROOT r = f32[4] {name}(x)", x=C)
    yield "complex", case("ROOT r = c64[4] complex(x, y)", x=X[:4], y=Y[:4])
    for direction in DIRECTIONS:
        end = f"direction={direction}"
        yield f"compare {direction}", case(f"ROOT r = pred[{N}] compare(x, y), {end}", x=X, y=Y)
        yield (
            f"compare {direction} in total order",
            case(
                f"ROOT r = pred[{N}] compare(x, y), {end}, type=TOTALORDER", x=X, y=X[::-1].copy()
            ),
        )
        yield (
            f"compare {direction} of s32",
            case(f"ROOT r = pred[{M}] compare(x, y), {end}", x=I, y=J),
        )
    yield "select", case("ROOT r = f32[5] select(p, x, y)", p=B, x=X[:5], y=Y[:5])
    yield (
        "select by a scalar",
        case("ROOT r = f32[5] select(p, x, y)", p=np.array(False), x=X[:5], y=Y[:5]),
    )
    yield "clamp", case(f"ROOT r = f32[{N}] clamp(a, x, b)", a=np.float32(-1), x=X, b=np.float32(2))
    yield "clamp of s32", case(f"ROOT r = s32[{M}] clamp(a, x, b)", a=J - 50, x=I, b=J + 50)


def conversions() -> Iterable[tuple[str, OperationCase]]:
    large = np.float32([0, 0.5, -0.5, 1.9, -1.9, 300, -300, 3e9, -3e9, 1e20, -1e20, np.inf, np.nan])
    for element in ("s8", "s32", "s64", "u8", "u32", "pred", "f16", "bf16", "f64"):
        yield f"convert to {element}", case(f"ROOT r = {element}[13] convert(x)", x=large)
    for element in ("s8", "u8", "u32", "s64", "f32", "pred", "bf16"):
        yield f"convert s32 to {element}", case(f"ROOT r = {element}[{M}] convert(x)", x=I)
    yield "convert pred to f32", case("ROOT r = f32[5] convert(x)", x=B)
    yield "convert bf16 to f32", case("ROOT r = f32[5] convert(x)", x=Halves(floats(5)))
    yield "convert f32 to c64", case("ROOT r = c64[5] convert(x)", x=X[:5])
    yield "bitcast-convert", case(f"ROOT r = s32[{N}] bitcast-convert(x)", x=X)
    yield "bitcast-convert to parts", case("ROOT r = u8[3,4] bitcast-convert(x)", x=I[:3])
    yield (
        "bitcast-convert of parts",
        case("ROOT r = s32[2] bitcast-convert(x)", x=np.arange(4, dtype=np.int16).reshape(2, 2)),
    )
    yield "bitcast-convert of bf16", case("ROOT r = u16[5] bitcast-convert(x)", x=Halves(floats(5)))
    yield (
        "bitcast-convert to bf16",
        case("ROOT r = bf16[3] bitcast-convert(x)", x=np.uint16([0x3F80, 0x4049, 0xC000])),
    )
    for e, m in ((5, 10), (8, 7), (4, 3), (8, 23), (5, 2)):
        values = np.concatenate([X, np.float32([1e-3, 0.015, 0.0156, 65519, 65520, 1e5, 7e-6])])
        yield (
            f"reduce-precision to {e} and {m}",
            case(
                f"ROOT r = f32[{len(values)}] reduce-precision(x), "
                f"exponent_bits={e}, mantissa_bits={m}",
                x=values,
            ),
        )
