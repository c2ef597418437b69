"""Values of constants as HLO writes them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.stitch.bfloat16 import rounded_to_bf16
from fuseloom.stitch.hlo.scanner import HloScanner
from fuseloom.stitch.shapes import TensorShape
from fuseloom.wording import counted

MOST_ELEMENTS = 4_000_000
"""Elements of the constants of a module."""
_PART = (
    r"-?(?:nan(?:\(0x[0-9a-f]{1,16}\))?|inf|[0-9]{1,400}(?:\.[0-9]{0,400})?(?:e[+-]?[0-9]{1,4})?)"
)
_NUMBER = re.compile(rf"({_PART})(?![\w.])|(true|false)\b")
_COMPLEX = re.compile(rf"\(\s*({_PART})\s*,\s*({_PART})\s*\)")
_INTEGER = re.compile(r"-?[0-9]{1,20}\Z")


def read_literal(scanner: HloScanner, shape: TensorShape, room: int) -> npt.NDArray[Any]:
    """Read the value of a constant.

    Parameters
    ----------
    scanner : HloScanner
        At its beginning.
    shape : TensorShape
    room : int
        The most elements that it may have.

    Raises
    ------
    ParseError
        If it is elided, too large, of another shape, or has what is no number of its type.

    Examples
    --------
    >>> read_literal(HloScanner("{ {1, 2}, {3, 4} }"), TensorShape("s32", (2, 2)), 4)
    array([[1, 2],
           [3, 4]], dtype=int32)
    """
    if scanner.sees("{...}"):
        scanner.fail(
            "the elements of a constant are left out",
            "print the module with its large constants (print_large_constants)",
        )
    if shape.elements > room:
        scanner.fail(
            f"the constants have more than {counted(MOST_ELEMENTS, 'element')}",
            "make large constants parameters",
        )
    values: list[Any] = []
    _elements(scanner, shape, values)
    with np.errstate(over="ignore"):
        made = np.array(values, dtype=shape.dtype).reshape(shape.dims)
    return rounded_to_bf16(made) if shape.element == "bf16" else made


def _elements(scanner: HloScanner, shape: TensorShape, values: list[Any]) -> None:
    """Read nested braces, without recursion, and what is within the innermost."""
    counts: list[int] = []
    rank = shape.rank
    while True:
        if len(counts) < rank and scanner.sees("{"):
            scanner.demand("{")
            counts.append(0)
            if not scanner.sees("}"):
                continue
        elif len(counts) < rank:
            scanner.unexpected("'{'")
        else:
            values.append(_element(scanner, shape))
            if not counts:
                return
            counts[-1] += 1
        while counts:
            extent = shape.dims[len(counts) - 1]
            if counts[-1] > extent:
                scanner.fail(f"a constant has more elements than {shape} has")
            if scanner.sees(","):
                if counts[-1] == extent:
                    scanner.fail(f"a constant has more elements than {shape} has")
                scanner.demand(",")
                break
            if counts[-1] < extent and scanner.sees("}"):
                scanner.fail(f"a constant has fewer elements than {shape} has")
            scanner.demand("}")
            counts.pop()
            if not counts:
                return
            counts[-1] += 1


def _element(scanner: HloScanner, shape: TensorShape) -> Any:
    start = scanner.at
    kind = shape.dtype.kind
    if kind == "c" and scanner.sees("("):
        match = scanner.take(_COMPLEX, "a complex number")
        return complex(_float(match[1]), _float(match[2]))
    match = scanner.take(_NUMBER, "a number")
    text = match[0]
    if kind == "b":
        if text not in ("true", "false", "0", "1"):
            scanner.fail(f"{text} is no truth value", "write true or false", at=start)
        return text in ("true", "1")
    if match[2]:
        scanner.fail(f"{text} is no number of {shape.element}", at=start)
    if kind in "iu":
        limits = np.iinfo(shape.dtype.name)
        least, most = limits.min, limits.max
        if not _INTEGER.match(text) or not least <= int(text) <= most:
            scanner.fail(
                f"{text} is no number of {shape.element}",
                f"they are integers from {least} to {most}",
                at=start,
            )
        return int(text)
    return _float(text)


def _float(text: str) -> float:
    return float(text.partition("(")[0])


def print_literal(value: npt.NDArray[Any]) -> str:
    """Print the value of a constant.

    Examples
    --------
    >>> print_literal(np.float32([[0.1, 2], [-np.inf, np.nan]]))
    '{ { 0.1, 2 }, { -inf, nan } }'
    """
    if value.ndim == 0:
        return _scalar(value[()])
    if value.ndim == 1:
        return f"{{{', '.join(_scalar(one) for one in value)}}}"
    return "{ " + ", ".join(_spaced(print_literal(part)) for part in value) + " }"


def _spaced(text: str) -> str:
    return text if text.startswith("{ ") else f"{{ {text[1:-1]} }}" if text != "{}" else text


def _scalar(value: Any) -> str:
    if isinstance(value, np.bool_):
        return "true" if value else "false"
    if isinstance(value, np.complexfloating):
        return f"({_scalar(value.real)}, {_scalar(value.imag)})"
    return str(value).removesuffix(".0")
