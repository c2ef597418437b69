"""Attributes of operations: from HLO text to values, and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from fuseloom.stitch.graph import DenseOperation
from fuseloom.stitch.hlo.scanner import NAME, HloScanner

LEFT_OUT = frozenset({"metadata", "origin", "statistics"})
"""Attributes that say where an operation comes from."""
CALLS = (
    "to_apply", "calls", "condition", "body", "select", "scatter", "true_computation",
    "false_computation", "branch_computations", "called_computations",
)  # fmt: skip
"""Attributes whose values are computations."""
_TEXTS = frozenset({"custom_call_target", "opaque"})
"""Attributes whose values are quoted."""
_FLOATS = frozenset({"epsilon"})
_INTEGER = re.compile(r"-?[0-9]{1,18}\Z")
_INTEGERS = re.compile(r"\{\s*(?:-?[0-9]{1,18}\s*(?:,\s*-?[0-9]{1,18}\s*)*)?\}\Z")
_NUMBER = re.compile(r"-?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?(?:e[+-]?[0-9]{1,3})?|inf|nan)\Z")
_NAMES = re.compile(r"\{\s*(?:%?[\w.\-]+\s*(?:,\s*%?[\w.\-]+\s*)*)?\}\Z")
_NAME = re.compile(NAME.pattern + r"\Z")
_SLICES = re.compile(r"\{\s*(?:\[[0-9:]+\]\s*(?:,\s*\[[0-9:]+\]\s*)*)?\}\Z")
_SLICE = re.compile(r"\[([0-9]{1,18}):([0-9]{1,18})(?::([0-9]{1,18}))?\]")
_PADS = re.compile(r"-?[0-9]{1,18}_-?[0-9]{1,18}(?:_[0-9]{1,18})?")
_WINDOW = re.compile(r"\{\s*(?:[a-z_]++=[0-9x_\-]++\s*+)*+\}\Z")
_PREDICATES = {"true": True, "false": False}


class WindowDimension(NamedTuple):
    """A dimension of the windows that an operation goes over an array with.

    Attributes
    ----------
    size, stride : int
    low, high : int
        Elements of padding before the array and behind it; negative ones cut off.
    base_dilation : int
        Distance that neighbouring elements of the array are moved to.
    window_dilation : int
        Distance between elements of the window.
    reversed : int
        1 if the window goes backwards.
    """

    size: int
    stride: int = 1
    low: int = 0
    high: int = 0
    base_dilation: int = 1
    window_dilation: int = 1
    reversed: int = 0

    def outputs(self, extent: int) -> int:
        """The number of its places over an extent.

        Examples
        --------
        >>> WindowDimension(size=3, stride=2, low=1, high=1).outputs(8)
        4
        """
        base = 0 if extent == 0 else (extent - 1) * self.base_dilation + 1
        base += self.low + self.high
        window = 0 if self.size == 0 else (self.size - 1) * self.window_dilation + 1
        return 0 if base < window or self.size == 0 else (base - window) // self.stride + 1


@dataclass(frozen=True)
class AttributeForm:
    """The text of attributes of some names.

    Attributes
    ----------
    read : function
        From text to a value; it raises ValueError of other text.
    write : function
        From a value to text.
    example : str
    """

    read: Callable[[str], Any]
    write: Callable[[Any], str]
    example: str


def _read_slice(text: str) -> tuple[tuple[int, int, int], ...]:
    if not _SLICES.match(text):
        raise ValueError(text)
    bounds = [(int(a), int(b), int(c or 1)) for a, b, c in _SLICE.findall(text)]
    if len(bounds) != text.count("[") or any(step < 1 or stop < a for a, stop, step in bounds):
        raise ValueError(text)
    return tuple(bounds)


def _write_slice(value: tuple[tuple[int, int, int], ...]) -> str:
    parts = (f"[{a}:{b}:{c}]" if c != 1 else f"[{a}:{b}]" for a, b, c in value)
    return f"{{{', '.join(parts)}}}"


def _read_padding(text: str) -> tuple[tuple[int, int, int], ...]:
    pads = []
    for part in text.split("x"):
        if not _PADS.fullmatch(part):
            raise ValueError(text)
        low, high, *interior = map(int, part.split("_"))
        pads.append((low, high, interior[0] if interior else 0))
    return tuple(pads)


def _write_padding(value: tuple[tuple[int, int, int], ...]) -> str:
    return "x".join(f"{a}_{b}_{c}" if c else f"{a}_{b}" for a, b, c in value)


_FIELDS = {
    "size": "size", "stride": "stride", "lhs_dilate": "base_dilation",
    "rhs_dilate": "window_dilation", "rhs_reversal": "reversed",
}  # fmt: skip
_LEAST = {"size": 0, "stride": 1, "lhs_dilate": 1, "rhs_dilate": 1, "rhs_reversal": 0}


def _read_window(text: str) -> tuple[WindowDimension, ...]:
    if not _WINDOW.match(text):
        raise ValueError(text)
    columns: dict[str, list[int]] = {}
    for word in text[1:-1].split():
        name, _, values = word.partition("=")
        parts = values.split("x")
        if name == "pad":
            pads = _read_padding(values)
            columns["low"] = [low for low, _, _ in pads]
            columns["high"] = [high for _, high, _ in pads]
        elif name in _FIELDS and all(map(_INTEGER.match, parts)):
            columns[_FIELDS[name]] = [int(part) for part in parts]
            if min(columns[_FIELDS[name]]) < _LEAST[name]:
                raise ValueError(text)
        else:
            raise ValueError(text)
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1 or (columns and "size" not in columns):
        raise ValueError(text)
    rows = zip(*columns.values(), strict=True)
    return tuple(WindowDimension(**dict(zip(columns, row, strict=True))) for row in rows)


def _write_window(value: tuple[WindowDimension, ...]) -> str:
    words = []
    for name, field in (("size", "size"), ("stride", "stride")):
        if name == "size" or any(getattr(one, field) != 1 for one in value):
            words.append((name, [getattr(one, field) for one in value]))
    text = [f"{name}={'x'.join(map(str, column))}" for name, column in words if value]
    if any(one.low or one.high for one in value):
        text.append(f"pad={'x'.join(f'{one.low}_{one.high}' for one in value)}")
    for name, field, usual in (
        ("lhs_dilate", "base_dilation", 1),
        ("rhs_dilate", "window_dilation", 1),
        ("rhs_reversal", "reversed", 0),
    ):
        if any(getattr(one, field) != usual for one in value):
            text.append(f"{name}={'x'.join(str(getattr(one, field)) for one in value)}")
    return f"{{{' '.join(text)}}}"


def _integer(text: str) -> int:
    if not _INTEGER.match(text):
        raise ValueError(text)
    return int(text)


def _integers(text: str) -> tuple[int, ...]:
    if not _INTEGERS.match(text):
        raise ValueError(text)
    inside = text[1:-1].strip()
    return tuple(map(int, inside.split(","))) if inside else ()


def _write_integers(value: tuple[int, ...]) -> str:
    return f"{{{','.join(map(str, value))}}}"


def _computations(text: str) -> str | tuple[str, ...]:
    if match := _NAME.match(text):
        return match[1]
    if not _NAMES.match(text):
        raise ValueError(text)
    inside = text[1:-1].strip()
    return tuple(one.strip().removeprefix("%") for one in inside.split(",")) if inside else ()


def _write_computations(value: str | tuple[str, ...]) -> str:
    return value if isinstance(value, str) else f"{{{', '.join(value)}}}"


def _predicate(text: str) -> bool:
    if text not in _PREDICATES:
        raise ValueError(text)
    return _PREDICATES[text]


def _word(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_]+", text):
        raise ValueError(text)
    return text


def _labels(text: str) -> str:
    if not re.fullmatch(r"[0-9a-z?]+_[0-9a-z?]+->[0-9a-z?]+", text):
        raise ValueError(text)
    return text


def _float(text: str) -> float:
    if not _NUMBER.match(text):
        raise ValueError(text)
    return float(text)


def _unquoted(text: str) -> str:
    return text[1:-1] if text.startswith('"') else text


_INTEGER_FORM = AttributeForm(_integer, str, "1")
_INTEGERS_FORM = AttributeForm(_integers, _write_integers, "{0,1}")
_PREDICATE_FORM = AttributeForm(_predicate, lambda value: str(value).lower(), "true")
FORMS: Mapping[str, AttributeForm] = {
    **dict.fromkeys(
        (
            "index", "iota_dimension", "feature_group_count", "batch_group_count", "dimension", "k",
            "exponent_bits", "mantissa_bits", "index_vector_dim", "feature_index",
        ),
        _INTEGER_FORM,
    ),
    **dict.fromkeys(
        (
            "dimensions", "lhs_batch_dims", "rhs_batch_dims", "lhs_contracting_dims",
            "rhs_contracting_dims", "dynamic_slice_sizes", "offset_dims", "collapsed_slice_dims",
            "start_index_map", "operand_batching_dims", "start_indices_batching_dims",
            "slice_sizes", "update_window_dims", "inserted_window_dims", "fft_length",
            "scatter_dims_to_operand_dims", "input_batching_dims", "layout", "operand_layout",
            "scatter_indices_batching_dims",
        ),
        _INTEGERS_FORM,
    ),
    **dict.fromkeys(
        ("is_stable", "indices_are_sorted", "unique_indices", "largest"), _PREDICATE_FORM
    ),
    **dict.fromkeys(("direction", "type", "fft_type", "kind"), AttributeForm(_word, str, "LT")),
    **dict.fromkeys(CALLS, AttributeForm(_computations, _write_computations, "region_0.1")),
    "slice": AttributeForm(_read_slice, _write_slice, "{[0:4], [2:8:2]}"),
    "padding": AttributeForm(_read_padding, _write_padding, "0_1x2_2_1"),
    "window": AttributeForm(_read_window, _write_window, "{size=3x3 pad=1_1x1_1}"),
    "dim_labels": AttributeForm(_labels, str, "b01f_01io->b01f"),
    **dict.fromkeys(_FLOATS, AttributeForm(_float, repr, "0.001")),
    **dict.fromkeys(
        _TEXTS, AttributeForm(_unquoted, lambda value: f'"{value}"', '"name"')
    ),
}  # fmt: skip
"""Attributes that decide on values; all others are kept as text."""


def read_attribute(scanner: HloScanner, name: str) -> Any:
    """Read the value of an attribute: integers, floats, truth values, texts, or tuples of them.

    Parameters
    ----------
    scanner : HloScanner
        Behind the equals sign.
    name : str

    Raises
    ------
    ParseError
        If an attribute that decides on values has text of another form.

    Examples
    --------
    >>> read_attribute(HloScanner("{[0:4], [2:8:2]}"), "slice")
    ((0, 4, 1), (2, 8, 2))
    >>> read_attribute(HloScanner("{size=3 pad=1_1}"), "window")[0].low
    1
    """
    start = scanner.at
    text = scanner.balanced()
    form = FORMS.get(name)
    if form is None:
        return text
    try:
        return form.read(text)
    except ValueError:
        scanner.fail(
            f"{text[:40]} is no value of {name}", f"an example is {name}={form.example}", at=start
        )


def print_attribute(name: str, value: Any) -> str:
    """Print an attribute.

    Examples
    --------
    >>> print_attribute("dimensions", (0, 2)), print_attribute("is_stable", True)
    ('dimensions={0,2}', 'is_stable=true')
    """
    form = FORMS.get(name)
    return f"{name}={value if form is None else form.write(value)}"


def called(operation: DenseOperation) -> tuple[str, ...]:
    """The computations that an operation calls, in the order of its attributes.

    Examples
    --------
    >>> from fuseloom.stitch.shapes import TensorShape
    >>> shape = TensorShape("f32", ())
    >>> called(DenseOperation("y", "call", shape, (), {"to_apply": "f"}))
    ('f',)
    """
    names: list[str] = []
    for key in CALLS:
        value = operation.attributes.get(key, ())
        names += (value,) if isinstance(value, str) else value
    return tuple(dict.fromkeys(names))
