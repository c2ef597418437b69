"""Scalar operations in C, with the meaning that the interpreter gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, isinf, isnan
from typing import Any

from fuseloom.errors import LoweringError

C_TYPES: Mapping[str, str] = {
    "pred": "uint8_t", "bf16": "float", "f32": "float", "f64": "double",
    **{f"s{bits}": f"int{bits}_t" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}_t" for bits in (8, 16, 32, 64)},
}  # fmt: skip
"""Types that values of each type of elements are computed in; bf16 is rounded behind each."""
_FLOATS = ("bf16", "f32", "f64")
_INFIX = {"add": "+", "subtract": "-", "multiply": "*"}
_BITS = {"and": "&", "or": "|", "xor": "^"}
C_FUNCTIONS = {
    "abs": "fabs", "atan2": "atan2", "cbrt": "cbrt", "ceil": "ceil", "cosine": "cos",
    "cosh": "cosh", "sinh": "sinh", "acos": "acos", "acosh": "acosh", "asin": "asin",
    "asinh": "asinh", "atan": "atan", "atanh": "atanh", "erf": "erf", "exponential": "exp",
    "exponential-minus-one": "expm1", "floor": "floor", "log": "log", "log-plus-one": "log1p",
    "power": "pow", "remainder": "fmod", "round-nearest-afz": "round",
    "round-nearest-even": "rint", "sine": "sin", "sqrt": "sqrt", "tan": "tan", "tanh": "tanh",
}  # fmt: skip
"""Functions of C by opcode."""
OWN_FUNCTIONS = {
    "exponential": "exp_f32", "exponential-minus-one": "expm1_f32", "log": "log_f32",
    "log-plus-one": "log1p_f32", "tanh": "tanh_f32", "erf": "erf_f32",
}  # fmt: skip
"""Functions of float that vectorise."""
_COMPARISONS = {"EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}


def number_text(number: float, element: str) -> str:
    """Write a constant in C.

    Examples
    --------
    >>> number_text(0.5, "f32"), number_text(float("-inf"), "f64"), number_text(-3, "s64")
    ('0x1.0000000000000p-1f', '(-INFINITY)', '(INT64_C(-3))')
    """
    if element == "pred":
        return str(int(bool(number)))
    if element in _FLOATS:
        if isnan(number):
            return "NAN"
        if isinf(number):
            return "INFINITY" if number == inf else "(-INFINITY)"
        text = f"{float(number).hex()}{'' if element == 'f64' else 'f'}"
        return f"({text})" if text[0] == "-" else text
    if number == -(2**63):
        return "INT64_MIN"
    bits = 64 if element[1:] == "64" else 32
    text = f"{'U' if element[0] == 'u' else ''}INT{bits}_C({int(number)})"
    return f"({text})" if number < 0 else text


def computing_element(element: str) -> str:
    """Return the type that elements are computed with; bf16 with f32.

    Raises
    ------
    LoweringError
        If C code has no such type.
    """
    if element not in C_TYPES:
        raise LoweringError(f"{element} is no type of generated C", hint="NumPy evaluates it")
    return "f32" if element == "bf16" else element


def scalar_text(
    opcode: str,
    operands: Sequence[tuple[str, str]],
    element: str,
    attributes: Mapping[str, Any],
) -> str:
    """Write a scalar operation in C.

    Parameters
    ----------
    opcode : str
    operands : sequence of (str, str)
        Variables or constants, and their types of elements.
    element : str
        The type of the result.
    attributes : mapping
        Of the operation.

    Raises
    ------
    LoweringError
        If C has no such operation of these types.

    Examples
    --------
    >>> scalar_text("maximum", [("a", "f32"), ("b", "f32")], "f32", {})
    'maximum_f32(a, b)'
    >>> scalar_text("add", [("a", "s32"), ("b", "s32")], "s32", {})
    '(int32_t)((uint32_t)a + (uint32_t)b)'
    >>> scalar_text("convert", [("a", "f32")], "bf16", {})
    'round_bf16(a)'
    """
    made = _exact_text(opcode, operands, element, attributes)
    if made is None:
        kinds = ", ".join(kind for _, kind in operands)
        raise LoweringError(
            f"there is no C for {opcode} of {kinds or 'nothing'}", hint="NumPy evaluates it"
        )
    rounds = element == "bf16" and opcode not in ("copy", "select", "maximum", "minimum", "clamp")
    return f"round_bf16({made})" if rounds else made


def _exact_text(
    opcode: str,
    operands: Sequence[tuple[str, str]],
    element: str,
    attributes: Mapping[str, Any],
) -> str | None:
    computing_element(element)
    names = [name for name, _ in operands]
    given = operands[-1][1]
    own = computing_element(given)
    floats = given in _FLOATS
    if opcode == "convert":
        return _converted(names[0], own, computing_element(element))
    if opcode == "copy":
        return names[0]
    if opcode == "compare":
        if floats and attributes.get("type") == "TOTALORDER":
            return None
        return f"(uint8_t)({names[0]} {_COMPARISONS[attributes['direction']]} {names[1]})"
    if opcode == "select":
        return f"({names[0]} ? {names[1]} : {names[2]})"
    if opcode == "bitcast-convert":
        return _bits_as(names[0], given, element)
    if opcode == "is-finite":
        return f"(uint8_t)isfinite({names[0]})" if floats else None
    if opcode == "reduce-precision":
        kept = (attributes["exponent_bits"], attributes["mantissa_bits"])
        return f"round_bf16({names[0]})" if own == "f32" and kept == (8, 7) else None
    if given == "pred":
        return _of_truth(opcode, names)
    if opcode in ("maximum", "minimum", "sign"):
        return f"{opcode}_{own}({', '.join(names)})"
    if opcode == "clamp":
        return f"minimum_{own}(maximum_{own}({names[1]}, {names[0]}), {names[2]})"
    return _of_floats(opcode, names, own) if floats else _of_integers(opcode, names, own)


def _of_truth(opcode: str, names: Sequence[str]) -> str | None:
    if opcode == "not":
        return f"(uint8_t)!{names[0]}"
    sign = {"add": "|", "maximum": "|", "multiply": "&", "minimum": "&", **_BITS}.get(opcode)
    return f"(uint8_t)({names[0]} {sign} {names[1]})" if sign else None


def _of_floats(opcode: str, names: Sequence[str], own: str) -> str | None:
    if opcode in (*_INFIX, "divide"):
        return f"{names[0]} {_INFIX.get(opcode, '/')} {names[1]}"
    if opcode == "negate":
        return f"-{names[0]}"
    suffix = "f" if own == "f32" else ""
    if opcode == "rsqrt":
        return f"1 / sqrt{suffix}({names[0]})"
    if opcode == "logistic":
        return f"logistic_{own}({names[0]})"
    if own == "f32" and opcode in OWN_FUNCTIONS:
        return f"{OWN_FUNCTIONS[opcode]}({names[0]})"
    if opcode in C_FUNCTIONS:
        return f"{C_FUNCTIONS[opcode]}{suffix}({', '.join(names)})"
    return None


def _of_integers(opcode: str, names: Sequence[str], own: str) -> str | None:
    kind = C_TYPES[own]
    # Products of 16 bits would overflow the int that C makes of them.
    unsigned = f"uint{max(32, int(own[1:]))}_t"
    if opcode in _INFIX:
        return f"({kind})(({unsigned}){names[0]} {_INFIX[opcode]} ({unsigned}){names[1]})"
    if opcode in _BITS:
        return f"({kind})({names[0]} {_BITS[opcode]} {names[1]})"
    if opcode == "negate":
        return f"({kind})(0 - ({unsigned}){names[0]})"
    if opcode == "abs":
        if own[0] == "u":
            return names[0]
        return f"({kind})({names[0]} < 0 ? 0 - ({unsigned}){names[0]} : ({unsigned}){names[0]})"
    if opcode == "not":
        return f"({kind})~{names[0]}"
    named = ("divide", "remainder", "shift-left", "shift-right-logical", "shift-right-arithmetic")
    if opcode in named:
        return f"{opcode.replace('-', '_')}_{own}({', '.join(names)})"
    return None


def _converted(name: str, given: str, element: str) -> str:
    if element == "pred":
        return f"(uint8_t)({name} != 0)"
    if given in _FLOATS and element not in _FLOATS:
        return f"to_{element}({name})"
    return name if given == element else f"({C_TYPES[element]}){name}"


def _bits_as(name: str, given: str, element: str) -> str | None:
    if "bf16" in (given, element) or "pred" in (given, element):
        return None
    if given[1:] != element[1:]:
        return None
    kind = C_TYPES[element]
    if given in _FLOATS and element not in _FLOATS:
        return f"({kind}){'bits_of' if given == 'f32' else 'wide_bits_of'}({name})"
    if element in _FLOATS and given not in _FLOATS:
        to, word = ("float_of", "uint32_t") if element == "f32" else ("double_of", "uint64_t")
        return f"{to}(({word}){name})"
    return f"({kind}){name}"
