"""Kernels of machine learning as terms (Glenside, Fig. 2, and those beyond it)."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from fuseloom.access.meaning import shape_of
from fuseloom.access.shapes import AccessShape, Dims
from fuseloom.access.terms import Attribute, Term, tensor
from fuseloom.errors import ProgramError

Pair: TypeAlias = tuple[int, int]

ACTIVATIONS, WEIGHTS = "activations", "weights"


def apply(construct: str, *parts: Term | Attribute) -> Term:
    """A construct applied to operands and attributes.

    Examples
    --------
    >>> apply("access", tensor("A", (3, 4)), 1).attributes
    (1,)
    """
    operands = tuple(part for part in parts if isinstance(part, Term))
    attributes = tuple(part for part in parts if not isinstance(part, Term))
    return Term(construct, attributes, operands)


def dot_products(left: Term, right: Term) -> Term:
    """The dot product of every vector of one pattern with every one of another.

    Examples
    --------
    >>> rows = apply("access", tensor("A", (3, 4)), 1)
    >>> print(shape_of(dot_products(rows, rows)))
    ((3, 3), ())
    """
    return apply("compute", "dotProd", apply("cartProd", left, right))


def matmul(m: int, k: int, n: int) -> Term:
    """The product of a matrix of m × k activations and one of k × n weights (Fig. 2b).

    Examples
    --------
    >>> print(shape_of(matmul(32, 16, 8)))
    ((32, 8), ())
    """
    _require_positive(m=m, k=k, n=n)
    weights = apply("access", tensor(WEIGHTS, (k, n)), 1)
    return dot_products(
        apply("access", tensor(ACTIVATIONS, (m, k)), 1), apply("transpose", weights, (1, 0))
    )


def dense(batch: int, inputs: int, outputs: int) -> Term:
    """A dense layer: activations of batch × inputs, weights of outputs × inputs.

    Examples
    --------
    >>> print(shape_of(dense(2, 16, 8)))
    ((2, 8), ())
    """
    _require_positive(batch=batch, inputs=inputs, outputs=outputs)
    return dot_products(
        apply("access", tensor(ACTIVATIONS, (batch, inputs)), 1),
        apply("access", tensor(WEIGHTS, (outputs, inputs)), 1),
    )


def batched_matmul(batch: int, m: int, k: int, n: int) -> Term:
    """Products of as many pairs of matrices, m × k and k × n, as the batch has.

    Examples
    --------
    >>> print(shape_of(batched_matmul(4, 32, 16, 8)))
    ((4, 32, 8), ())
    """
    _require_positive(batch=batch, m=m, k=k, n=n)
    left = apply("access", tensor(ACTIVATIONS, (batch, m, k)), 2)
    right = apply("transpose", apply("access", tensor(WEIGHTS, (batch, k, n)), 2), (0, 2, 1))
    return grouped_products(left, right)


def grouped_products(left: Term, right: Term) -> Term:
    """Dot products within groups: the first access dimension of both operands numbers the group.

    Operands of shapes ((g, b), C) and ((g, n), C) give one of ((g, b, n), ()).

    Examples
    --------
    >>> vectors = apply("access", tensor("A", (2, 3, 4)), 2)
    >>> print(shape_of(grouped_products(vectors, vectors)))
    ((2, 3, 3), ())
    """
    a, b = shape_of(left), shape_of(right)
    (groups, m), (_, n) = a.access, b.access
    whole = AccessShape((groups, m, n), a.compute)
    return apply(
        "compute",
        "dotProd",
        apply(
            "pair",
            apply("broadcast", apply("insert-axis", left, 2), whole),
            apply("broadcast", apply("insert-axis", right, 1), whole),
        ),
    )


@dataclass(frozen=True)
class Convolution:
    """A convolution over images.

    Attributes
    ----------
    batch, channels, height, width : int
        Extents of the activations.
    outputs : int
        Channels of the result.
    kernel : pair of int
        Height and width of a filter.
    stride, padding, dilation : pair of int
    groups : int
        Parts of the channels that do not see each other; as many as channels: depthwise.
    """

    batch: int
    channels: int
    height: int
    width: int
    outputs: int
    kernel: Pair
    stride: Pair = (1, 1)
    padding: Pair = (0, 0)
    dilation: Pair = (1, 1)
    groups: int = 1

    @property
    def activations(self) -> Dims:
        return self.batch, self.channels, self.height, self.width

    @property
    def weights(self) -> Dims:
        return self.outputs, self.channels // self.groups, *self.kernel

    @property
    def result(self) -> Pair:
        """Height and width of the result."""
        sizes = zip(
            (self.height, self.width), self.kernel, self.stride, self.padding, self.dilation,
            strict=True,
        )  # fmt: skip
        height, width = (
            (extent + 2 * around - (taps - 1) * apart - 1) // step + 1
            for extent, taps, step, around, apart in sizes
        )
        return height, width


def conv2d(layer: Convolution) -> Term:
    """A convolution (Fig. 2a); with padding, dilation and groups where the layer has them.

    Dilation is a window of the dilated extent, of which a second window picks every d-th element.

    Raises
    ------
    ProgramError
        If extents are not positive, the groups do not divide the channels, or a filter is larger
        than the padded image.

    Examples
    --------
    >>> print(shape_of(conv2d(Convolution(1, 3, 32, 32, 8, (3, 3)))))
    ((1, 8, 30, 30), ())
    """
    _require_positive(
        batch=layer.batch, channels=layer.channels, height=layer.height, width=layer.width,
        outputs=layer.outputs, kernel=min(layer.kernel), stride=min(layer.stride),
        dilation=min(layer.dilation), groups=layer.groups, padding=min(layer.padding) + 1,
    )  # fmt: skip
    if layer.channels % layer.groups or layer.outputs % layer.groups:
        raise ProgramError(
            f"{layer.groups} groups do not divide {layer.channels} channels into "
            f"{layer.outputs} outputs"
        )
    if min(layer.result) < 1:
        raise ProgramError(
            f"a filter of {'×'.join(map(str, layer.kernel))} is larger than the padded image",
            hint="use a larger image, more padding or less dilation",
        )
    image = tensor(ACTIVATIONS, layer.activations)
    for axis, around in enumerate(layer.padding):
        if around:
            image = apply("pad", image, "zero", 2 + axis, around, around)
    weights = tensor(WEIGHTS, layer.weights)
    if layer.groups == 1:
        windows = _windows(apply("access", image, 1), layer, layer.channels)
        products = dot_products(windows, apply("access", weights, 1))
        return apply("transpose", apply("squeeze", products, 1), (0, 3, 1, 2))
    return _grouped(image, weights, layer)


def _windows(image: Term, layer: Convolution, channels: int) -> Term:
    """Windows over the channels, height and width that a pattern computes on."""
    first = len(shape_of(image).access)
    spans = tuple((k - 1) * d + 1 for k, d in zip(layer.kernel, layer.dilation, strict=True))
    windows = apply("windows", image, (channels, *spans), (1, *layer.stride))
    if layer.dilation == (1, 1):
        return windows
    taps = apply("windows", windows, (1, 1, 1), (1, *layer.dilation))
    split = apply("access", taps, first + 3)
    for _ in range(3):
        split = apply("squeeze", split, first + 6)
    return split


def _grouped(image: Term, weights: Term, layer: Convolution) -> Term:
    n, g = layer.batch, layer.groups
    channels, outputs = layer.channels // g, layer.outputs // g
    height, width = layer.result
    padded = shape_of(image).dims
    split = apply("access", image, 0)
    split = apply("reshape", split, AccessShape((), (n, g, channels, *padded[2:])))
    windows = _windows(apply("access", split, 2), layer, channels)
    places = apply("squeeze", windows, 2)
    places = apply("transpose", places, (1, 0, 2, 3, 4, 5, 6))
    taps = (channels, *layer.kernel)
    places = apply("reshape", places, AccessShape((g, n * height * width), taps))
    filters = apply("reshape", apply("access", weights, 1), AccessShape((g, outputs), taps))
    products = grouped_products(places, filters)
    split = apply("reshape", products, AccessShape((g, n, height, width, outputs), ()))
    ordered = apply("transpose", split, (1, 0, 4, 2, 3))
    return apply("reshape", ordered, AccessShape((n, layer.outputs, height, width), ()))


def pool2d(layer: Convolution, kind: str) -> Term:
    """Pooling over the windows of each channel (Fig. 2c): their largest value or their mean.

    Parameters
    ----------
    layer : Convolution
        Its ``outputs`` and ``groups`` are not used.
    kind : str
        ``max`` or ``mean``; a mean counts the zeros around the image.

    Raises
    ------
    ProgramError
        Of another kind, or windows larger than the image.

    Examples
    --------
    >>> print(shape_of(pool2d(Convolution(1, 3, 8, 8, 3, (2, 2), (2, 2)), "max")))
    ((1, 3, 4, 4), ())
    """
    if kind not in ("max", "mean"):
        raise ProgramError(f"{kind} is no kind of pooling", hint="kinds are max and mean")
    if layer.dilation != (1, 1):
        raise ProgramError("pooling with dilation is not written as a term")
    image = tensor(ACTIVATIONS, layer.activations)
    filling = "minimum" if kind == "max" else "zero"
    for axis, around in enumerate(layer.padding):
        if around:
            image = apply("pad", image, filling, 2 + axis, around, around)
    windows = apply("windows", apply("access", image, 2), layer.kernel, layer.stride)
    if kind == "max":
        return apply("compute", "reduceMax", windows)
    total = apply("compute", "reduceSum", windows)
    shape = shape_of(total)
    share: Term = apply("literal", 1.0 / prod(layer.kernel))
    for number in range(len(shape.access)):
        share = apply("insert-axis", share, number)
    return apply(
        "compute", "elementwiseMul", apply("pair", total, apply("broadcast", share, shape))
    )


def _require_positive(**extents: int) -> None:
    for name, extent in extents.items():
        if extent < 1:
            raise ProgramError(f"{name} is {extent}; extents are 1 or more")
