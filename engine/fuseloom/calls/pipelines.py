"""Compositions that come with the program: their calls, their data, and what they must give."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fuseloom.calls.annotated import DataHandle, FunctionCall, annotate
from fuseloom.calls.composition import Composition, compose
from fuseloom.calls.data_kinds import ArrayKind, ImageTensor, Matrix, Vector
from fuseloom.calls.library import LIBRARY
from fuseloom.errors import ProgramError
from fuseloom.program import Program
from fuseloom.program.formats import suggestion

Array: TypeAlias = npt.NDArray[Any]
Extents: TypeAlias = Mapping[str, int]
MOST_ELEMENTS = 2**26
"""Of an array of a pipeline that comes with the program."""


@dataclass
class PipelineCase:
    """Calls on data.

    Attributes
    ----------
    calls : list of FunctionCall
    given : dict
        Arrays by name.
    result : array
        Room for the result.
    expected : array
        The result, computed by other means.
    program : Program, optional
        What the calls were made of, if they were made of one.
    """

    calls: list[FunctionCall] = field(default_factory=list)
    given: dict[str, Array] = field(default_factory=dict)
    result: Array = field(default_factory=lambda: np.empty(0))
    expected: Array = field(default_factory=lambda: np.empty(0))
    program: Program | None = None

    @property
    def composition(self) -> Composition:
        """The calls, composed."""
        return compose(self.calls)

    @property
    def arguments(self) -> dict[str, Array]:
        """All arrays by name, the result's room among them."""
        composition = self.composition
        used = {handle.name for handle in composition.given}
        given = {name: array for name, array in self.given.items() if name in used}
        return {**given, composition.result.name: self.result}

    def add(self, name: str, *arguments: Any) -> DataHandle:
        """Add a call of the library, whose output it gives."""
        row = LIBRARY[name]
        kind = row.kinds[row.parameters[-1]]
        assert isinstance(kind, ArrayKind)
        output = DataHandle(f"t{len(self.calls) + 1}", type(kind)(np.float32))
        call = row.annotated(*arguments, output)
        assert isinstance(call, FunctionCall)
        self.calls.append(call)
        return output

    def give(self, name: str, array: Array) -> DataHandle:
        """Give an array."""
        kinds = {1: Vector, 2: Matrix, 4: ImageTensor}
        self.given[name] = array
        return DataHandle(name, kinds[array.ndim](array.dtype))


@dataclass(frozen=True)
class ShippedPipeline:
    """A composition by name.

    Attributes
    ----------
    name, text : str
    extents : mapping
        Its extents, each with a default.
    tile : str
        The variable that is the size of tiles along the first dimension of the result.
    build : callable
        Gives calls and data of extents, by random numbers.
    arrays : tuple of str
        The extents of its largest arrays.
    """

    name: str
    text: str
    extents: Mapping[str, int]
    tile: str
    build: Callable[[Extents, np.random.Generator], PipelineCase]
    arrays: tuple[str, ...] = ("h w",)

    def make(self, extents: Mapping[str, int] | None = None, seed: int = 0) -> PipelineCase:
        """Calls and data.

        Parameters
        ----------
        extents : mapping, optional
            Those that are left out have their defaults.
        seed : int
            Of the random data.

        Raises
        ------
        ProgramError
            If there is no such extent, one is not positive, or the data would be too large.

        Examples
        --------
        >>> case = PIPELINES["softmax"].make({"h": 4, "w": 3})
        >>> [call.function.name for call in case.calls][:2], case.result.shape
        (['max_rows', 'subtract_per_row'], (4, 3))
        """
        given = dict(extents or {})
        for name, value in given.items():
            if name not in self.extents:
                raise ProgramError(
                    f"{self.name} has no extent {name[:30]}",
                    hint=f"it has {', '.join(self.extents)}",
                )
            if value < 1:
                raise ProgramError(f"{name} is {value}; extents are 1 or more")
        whole = {**self.extents, **given}
        if max(prod(whole[x] for x in names.split()) for names in self.arrays) > MOST_ELEMENTS:
            raise ProgramError(
                f"an array of {self.name} would have more than {MOST_ELEMENTS:,} elements",
                hint="give smaller extents",
            )
        return self.build(whole, np.random.default_rng(seed))


def read_extents(text: str) -> dict[str, int]:
    """Extents such as ``h=512,w=512``.

    Raises
    ------
    ProgramError
        Of text that is none.

    Examples
    --------
    >>> read_extents("h=512, w=64")
    {'h': 512, 'w': 64}
    """
    found: dict[str, int] = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        match = re.fullmatch(r"(\w+)\s*=\s*(\d{1,9})", part)
        if match is None:
            raise ProgramError(f"{part[:30]!r} is no extent", hint="write e.g. h=512,w=512")
        if found.setdefault(match[1], int(match[2])) != int(match[2]):
            raise ProgramError(f"{match[1]} has two extents", hint="give one")
    return found


def _random(rng: np.random.Generator, *shape: int) -> Array:
    return rng.standard_normal(shape, dtype=np.float32)


def _finish(case: PipelineCase, expected: Array) -> PipelineCase:
    case.expected = np.asarray(expected, dtype=np.float32)
    case.result = np.empty_like(case.expected)
    return case


def _softmax(n: Extents, rng: np.random.Generator) -> PipelineCase:
    case = PipelineCase()
    data = _random(rng, n["h"], n["w"])
    a = case.give("A", data)
    largest = case.add("max_rows", a, n["w"])
    moved = case.add("subtract_per_row", a, largest)
    powers = case.add("exp_matrix", moved)
    sums = case.add("sum_rows", powers, n["w"])
    case.add("divide_per_row", powers, sums)
    wide = np.exp(data.astype(np.float64) - data.max(axis=1, keepdims=True))
    return _finish(case, wide / wide.sum(axis=1, keepdims=True))


def _sgerb(n: Extents, rng: np.random.Generator, more: int = 0) -> PipelineCase:
    case = PipelineCase()
    x, y, a = _random(rng, n["h"]), _random(rng, n["w"]), _random(rng, n["h"], n["w"])
    outer = case.add("ger", 0.5, case.give("x", x), case.give("y", y))
    scaled = case.add("scale_matrix", case.give("A", a), 2.0)
    total = case.add("add_matrices", outer, scaled)
    expected = 0.5 * np.outer(x, y) + 2.0 * a
    for name in "BC"[:more]:
        other = _random(rng, n["h"], n["w"])
        total = case.add("add_matrices", total, case.give(name, other))
        expected = expected + other
    return _finish(case, expected)


def _sgerb_with_sums(n: Extents, rng: np.random.Generator) -> PipelineCase:
    return _sgerb(n, rng, more=2)


def _blur(n: Extents, rng: np.random.Generator) -> PipelineCase:
    case = PipelineCase()
    image = _random(rng, n["h"] + 2, n["w"] + 2)
    case.add("blur_columns", case.add("blur_rows", case.give("A", image)))
    return _finish(case, _blurred(image))


def _blurred(image: Array) -> Array:
    wide = image.astype(np.float64)
    rows = wide[:, :-2] + wide[:, 1:-1] + wide[:, 2:]
    return np.asarray((rows[:-2] + rows[1:-1] + rows[2:]) / 9)


def _unsharp(n: Extents, rng: np.random.Generator) -> PipelineCase:
    """The image, and half of what it has and its blurred form has not."""
    case = PipelineCase()
    image = _random(rng, n["h"] + 2, n["w"] + 2)
    middle = np.ascontiguousarray(image[1:-1, 1:-1])
    whole, inner = case.give("A", image), case.give("M", middle)
    smooth = case.add("blur_columns", case.add("blur_rows", whole))
    detail = case.add("subtract_matrices", inner, smooth)
    case.add("add_matrices", inner, case.add("scale_matrix", detail, 0.5))
    return _finish(case, middle + 0.5 * (middle - _blurred(image)))


def _haversine(n: Extents, rng: np.random.Generator) -> PipelineCase:
    """Distances on a sphere of radius 1 between points in degrees: 20 operations."""
    case = PipelineCase()
    data = [rng.uniform(-80, 80, n["n"]).astype(np.float32) for _ in range(4)]
    lat1, lon1, lat2, lon2 = (
        case.add("radians", case.give(name, array))
        for name, array in zip(("lat1", "lon1", "lat2", "lon2"), data, strict=True)
    )
    squares = []
    for one, other in ((lat2, lat1), (lon2, lon1)):
        difference = case.add("subtract", one, other)
        half = case.add("axpy", -0.5, difference, difference)
        squares.append(case.add("square", case.add("sin", half)))
    product = case.add("multiply", case.add("cos", lat1), case.add("cos", lat2))
    inside = case.add("add", squares[0], case.add("multiply", product, squares[1]))
    angle = DataHandle("angle", Vector(np.float32))
    case.calls.append(_ARC_SINE(case.add("sqrt", inside), angle))
    case.add("add", angle, angle)
    a, b, c, d = (np.radians(array.astype(np.float64)) for array in data)
    h = np.sin((c - a) / 2) ** 2 + np.cos(a) * np.cos(c) * np.sin((d - b) / 2) ** 2
    return _finish(case, np.asarray(2 * np.arcsin(np.sqrt(h)), dtype=np.float64))


_ARC_SINE = annotate(np.arcsin, LIBRARY["sin"].annotation, ("a", "out"), "arcsin")


def _gemm_bias_relu(n: Extents, rng: np.random.Generator) -> PipelineCase:
    case = PipelineCase()
    a, b = _random(rng, n["m"], n["k"]), _random(rng, n["k"], n["n"])
    bias = _random(rng, n["n"])
    product = case.add("gemm_rows", case.give("A", a), case.give("B", b), n["k"], n["n"])
    case.add("relu_matrix", case.add("add_per_column", product, case.give("bias", bias)))
    return _finish(case, np.maximum(a.astype(np.float64) @ b + bias, 0))


def _add6(n: Extents, rng: np.random.Generator) -> PipelineCase:
    case = PipelineCase()
    data = [_random(rng, n["n"]) for _ in range(6)]
    total = case.give("a1", data[0])
    for number, array in enumerate(data[1:], start=2):
        total = case.add("add", total, case.give(f"a{number}", array))
    return _finish(case, np.asarray(np.sum(data, axis=0, dtype=np.float64)))


def _conv_pool(n: Extents, rng: np.random.Generator) -> PipelineCase:
    """A convolution of 3 × 3 with its bias and ReLU, and the largest of each 2 × 2."""
    case = PipelineCase()
    image = _random(rng, 1, n["h"] + 2, n["w"] + 2, n["c"])
    weights, bias = _random(rng, n["o"], 3, 3, n["c"]), _random(rng, n["o"])
    made = case.add("conv2d", case.give("A", image), case.give("weights", weights))
    made = case.add("bias_add", made, case.give("bias", bias), n["o"])
    case.add("max_pool", case.add("relu_images", made, n["o"]), n["o"])
    windows = np.lib.stride_tricks.sliding_window_view(image[0].astype(np.float64), (3, 3), (0, 1))
    whole = np.maximum(np.einsum("hwcrs,orsc->hwo", windows, weights) + bias, 0)
    h, w = whole.shape[0] // 2 * 2, whole.shape[1] // 2 * 2
    pooled = whole[:h, :w].reshape(h // 2, 2, w // 2, 2, n["o"]).max(axis=(1, 3))
    return _finish(case, pooled[np.newaxis])


PIPELINES: Mapping[str, ShippedPipeline] = {
    made.name: made
    for made in (
        ShippedPipeline(
            "softmax", "softmax of rows in five calls", {"h": 2048, "w": 2048}, "n", _softmax
        ),
        ShippedPipeline("sgerb", "A·2 + x·yᵀ/2", {"h": 2048, "w": 2048}, "n", _sgerb),
        ShippedPipeline(
            "sgerb-sums", "A·2 + x·yᵀ/2 + B + C", {"h": 2048, "w": 2048}, "n", _sgerb_with_sums
        ),
        ShippedPipeline(
            "blur", "means of 3 × 3, by rows and columns", {"h": 2048, "w": 2048}, "n", _blur
        ),
        ShippedPipeline(
            "unsharp", "an image and half of its detail", {"h": 2048, "w": 2048}, "n", _unsharp
        ),
        ShippedPipeline(
            "haversine", "distances on a sphere, in 20 calls", {"n": 2_000_000}, "n", _haversine,
            ("n",),
        ),
        ShippedPipeline(
            "gemm-bias-relu", "a dense layer by panels of rows", {"m": 4096, "k": 64, "n": 1024},
            "n", _gemm_bias_relu, ("m k", "k n", "m n"),
        ),
        ShippedPipeline("add6", "the sum of six vectors", {"n": 4_000_000}, "n", _add6, ("n",)),
        ShippedPipeline(
            "conv-pool", "3 × 3 convolution, bias, ReLU, max pooling",
            {"h": 256, "w": 256, "c": 3, "o": 16}, "n", _conv_pool, ("h w c", "h w o"),
        ),
    )
}  # fmt: skip
"""By name."""


def pipeline_named(name: str) -> ShippedPipeline:
    """The composition of a name.

    Raises
    ------
    ProgramError
        If there is none.

    Examples
    --------
    >>> pipeline_named("blur").text
    'means of 3 × 3, by rows and columns'
    """
    if name not in PIPELINES:
        raise ProgramError(f"{name[:40]!r} is no pipeline", hint=suggestion(name, list(PIPELINES)))
    return PIPELINES[name]
