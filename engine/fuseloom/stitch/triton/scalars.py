"""Scalar operations in Triton, with the meaning that the interpreter gives them.

Expressions are those of ``triton.language``, and functions of
:mod:`~fuseloom.stitch.triton.prelude`, so that they mean the same in Triton's interpreter, which
has no functions of libraries, and on a GPU.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, isinf, isnan
from typing import Any

from fuseloom.errors import LoweringError

TRITON_TYPES: Mapping[str, str] = {
    "pred": "tl.int1", "bf16": "tl.float32", "f32": "tl.float32", "f64": "tl.float64",
    **{f"s{bits}": f"tl.int{bits}" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"tl.uint{bits}" for bits in (8, 16, 32, 64)},
}  # fmt: skip
"""Types that values of each type of elements are computed in; bf16 is rounded behind each."""
FLOATS = ("bf16", "f32", "f64")
_INFIX = {"add": "+", "subtract": "-", "multiply": "*"}
_BITS = {"and": "&", "or": "|", "xor": "^"}
_BUILT_IN = {
    "abs": "tl.abs", "ceil": "tl.ceil", "cosine": "tl.cos", "erf": "tl.erf", "floor": "tl.floor",
    "log": "tl.log", "sine": "tl.sin",
}  # fmt: skip
FLOAT_FUNCTIONS = {
    "acos": "arc_cosine", "acosh": "area_cosine", "asin": "arc_sine", "asinh": "area_sine",
    "atan": "arc_tangent", "atan2": "angle", "atanh": "area_tangent", "cbrt": "cube_root",
    "cosh": "hyperbolic_cosine", "exponential": "exponential",
    "exponential-minus-one": "exponential_minus_one", "log-plus-one": "log_plus_one",
    "logistic": "logistic", "power": "power", "round-nearest-afz": "round_away",
    "round-nearest-even": "round_even", "rsqrt": "reciprocal_root", "sign": "sign",
    "sinh": "hyperbolic_sine", "sqrt": "square_root", "tan": "tangent",
    "tanh": "hyperbolic_tangent",
}  # fmt: skip
"""Functions of the module's beginning, for all types of floats."""
_COMPARISONS = {"EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}
_EXACT = ("copy", "select", "maximum", "minimum", "clamp", "negate", "abs")
"""Operations on bf16 whose results need no rounding."""
INTEGER_FUNCTIONS = {
    "divide": "divided", "remainder": "rest", "shift-left": "shifted_left",
    "shift-right-logical": "shifted_right_logical",
    "shift-right-arithmetic": "shifted_right_arithmetic",
}  # fmt: skip


def number_text(number: float, element: str) -> str:
    """Write a constant in Triton, as a scalar of its type.

    Examples
    --------
    >>> number_text(0.5, "f32"), number_text(-3, "s64")
    ('tl.full([], 0.5, tl.float32)', 'tl.full([], -3, tl.int64)')
    """
    return f"tl.full([], {literal_text(number, element)}, {triton_type(element)})"


def literal_text(number: float, element: str) -> str:
    """Write the number of a constant, from which Triton makes the same one of its type.

    Examples
    --------
    >>> literal_text(float("nan"), "f32"), literal_text(3, "pred"), literal_text(-0.1, "f64")
    ('float("nan")', 'True', '-0.1')
    """
    if element == "pred":
        return str(bool(number))
    if element not in FLOATS:
        return str(int(number))
    if isnan(number):
        return 'float("nan")'
    if isinf(number):
        return f'float("{"inf" if number == inf else "-inf"}")'
    return repr(float(number))


def triton_type(element: str) -> str:
    """Return the type that elements are computed in.

    Raises
    ------
    LoweringError
        If the code of kernels in Triton has no such type.

    Examples
    --------
    >>> triton_type("bf16"), triton_type("u8")
    ('tl.float32', 'tl.uint8')
    """
    if element not in TRITON_TYPES:
        raise LoweringError(f"{element} is no type of generated Triton", hint="NumPy evaluates it")
    return TRITON_TYPES[element]


def scalar_text(
    opcode: str,
    operands: Sequence[tuple[str, str]],
    element: str,
    attributes: Mapping[str, Any],
) -> str:
    """Write a scalar operation in Triton.

    Parameters
    ----------
    opcode : str
    operands : sequence of (str, str)
        Variables, and their types of elements.
    element : str
        The type of the result.
    attributes : mapping
        Of the operation.

    Raises
    ------
    LoweringError
        If Triton has no such operation of these types.

    Examples
    --------
    >>> scalar_text("maximum", [("a", "f32"), ("b", "f32")], "f32", {})
    'tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)'
    >>> scalar_text("add", [("a", "s32"), ("b", "s32")], "s32", {})
    'a + b'
    >>> scalar_text("convert", [("a", "f32")], "bf16", {})
    'rounded_bf16(a)'
    """
    made = _exact_text(opcode, operands, element, attributes)
    if made is None:
        kinds = ", ".join(kind for _, kind in operands)
        raise LoweringError(
            f"there is no Triton for {opcode} of {kinds or 'nothing'}", hint="NumPy evaluates it"
        )
    return f"rounded_bf16({made})" if element == "bf16" and opcode not in _EXACT else made


def extreme_text(opcode: str, one: str, other: str, element: str) -> str:
    """Write the larger or the smaller of two numbers, NaN if one of them is NaN.

    Examples
    --------
    >>> extreme_text("minimum", "a", "b", "s8"), extreme_text("maximum", "a", "b", "pred")
    ('tl.minimum(a, b)', 'a | b')
    """
    if element == "pred":
        return f"{one} {'|' if opcode == 'maximum' else '&'} {other}"
    more = ", propagate_nan=tl.PropagateNan.ALL" if element in FLOATS else ""
    return f"tl.{opcode}({one}, {other}{more})"


def _exact_text(
    opcode: str,
    operands: Sequence[tuple[str, str]],
    element: str,
    attributes: Mapping[str, Any],
) -> str | None:
    triton_type(element)
    names = [name for name, _ in operands]
    given = operands[-1][1]
    triton_type(given)
    floats = given in FLOATS
    if opcode == "convert":
        return converted_text(names[0], given, element)
    if opcode == "copy":
        return names[0]
    if opcode == "compare":
        if floats and attributes.get("type") == "TOTALORDER":
            return None
        return f"{names[0]} {_COMPARISONS[attributes['direction']]} {names[1]}"
    if opcode == "select":
        return f"tl.where({names[0]}, {names[1]}, {names[2]})"
    if opcode == "bitcast-convert":
        return _bits_as(names[0], given, element)
    if opcode == "is-finite":
        return f'tl.abs({names[0]}) < float("inf")' if floats else None
    if opcode == "reduce-precision":
        kept = (attributes["exponent_bits"], attributes["mantissa_bits"])
        return f"rounded_bf16({names[0]})" if given != "f64" and kept == (8, 7) else None
    if opcode in ("maximum", "minimum"):
        return extreme_text(opcode, names[0], names[1], given)
    if given == "pred":
        return _of_truth(opcode, names)
    if opcode == "clamp":
        lower = extreme_text("maximum", names[1], names[0], given)
        return extreme_text("minimum", lower, names[2], given)
    return _of_floats(opcode, names, given) if floats else _of_integers(opcode, names, given)


def _of_truth(opcode: str, names: Sequence[str]) -> str | None:
    if opcode == "not":
        return f"{names[0]} == 0"
    sign = {"add": "|", "multiply": "&", **_BITS}.get(opcode)
    return f"{names[0]} {sign} {names[1]}" if sign else None


def _of_floats(opcode: str, names: Sequence[str], given: str) -> str | None:
    listed = ", ".join(names)
    if opcode in _INFIX:
        return f"{names[0]} {_INFIX[opcode]} {names[1]}"
    if opcode == "divide":
        # A quotient of float32 that is not asked to be precise is off by two units.
        return f"{names[0]} / {names[1]}" if given == "f64" else f"tl.math.div_rn({listed})"
    if opcode == "negate":
        return f"-{names[0]}"
    if opcode == "remainder":
        # As many steps of 50 bits as the exponents can lie apart.
        return f"float_rest({listed}, {42 if given == 'f64' else 6})"
    function = _BUILT_IN.get(opcode) or FLOAT_FUNCTIONS.get(opcode)
    return f"{function}({listed})" if function else None


def _of_integers(opcode: str, names: Sequence[str], given: str) -> str | None:
    kind = triton_type(given)
    if opcode in _INFIX or opcode in _BITS:
        return f"{names[0]} {_INFIX.get(opcode) or _BITS[opcode]} {names[1]}"
    if opcode == "negate":
        return f"-{names[0]}"
    if opcode == "abs":
        return names[0] if given[0] == "u" else f"tl.abs({names[0]})"
    if opcode == "not":
        return f"~{names[0]}"
    if opcode == "sign":
        return f"({names[0]} > 0).to({kind}) - ({names[0]} < 0).to({kind})"
    if opcode in INTEGER_FUNCTIONS:
        signed, unsigned = (f"tl.{sign}int{given[1:]}" for sign in ("", "u"))
        types = {"shift-right-logical": f", {unsigned}", "shift-right-arithmetic": f", {signed}"}
        more = types.get(opcode, "")
        return f"{INTEGER_FUNCTIONS[opcode]}({', '.join(names)}{more})"
    return None


def converted_text(name: str, given: str, element: str) -> str:
    """Write the conversion of a value, without the rounding to bf16.

    Examples
    --------
    >>> converted_text("a", "f32", "s8"), converted_text("a", "s8", "pred")
    ('to_integer(a, -128, 127, tl.int8)', 'a != 0')
    """
    if element == "pred":
        return name if given == "pred" else f"{name} != 0"
    kind = triton_type(element)
    if given in FLOATS and element not in FLOATS:
        bits = int(element[1:])
        least, most = (
            (0, 2**bits - 1) if element[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        )
        return f"to_integer({name}, {least}, {most}, {kind})"
    return name if TRITON_TYPES[given] == kind else f"{name}.to({kind})"


def _bits_as(name: str, given: str, element: str) -> str | None:
    if "bf16" in (given, element) or "pred" in (given, element) or given[1:] != element[1:]:
        return None
    return name if given == element else f"{name}.to({triton_type(element)}, bitcast=True)"
