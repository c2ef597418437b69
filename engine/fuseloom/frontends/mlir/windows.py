"""Convolutions and poolings: named operations that read at sums of dimensions."""

from __future__ import annotations

from collections.abc import Mapping

from fuseloom.frontends.algebra.expressions import Arg, Node, add, largest, mul, smallest, sub
from fuseloom.frontends.mlir.named import Computation
from fuseloom.frontends.mlir.syntax import AffineMap, Result, Sum
from fuseloom.program.syntax import SourcePlace

_SPACE = "dhw"
# Letters of the input, the filter and the output: d, h and w are where windows slide.
_CONVOLUTIONS: Mapping[str, tuple[str, str, str]] = {
    "conv_1d": ("w", "w", "w"),
    "conv_2d": ("hw", "hw", "hw"),
    "conv_3d": ("dhw", "dhw", "dhw"),
    "conv_1d_nwc_wcf": ("nwc", "wcf", "nwf"),
    "conv_1d_ncw_fcw": ("ncw", "fcw", "nfw"),
    "conv_2d_nhwc_hwcf": ("nhwc", "hwcf", "nhwf"),
    "conv_2d_nhwc_fhwc": ("nhwc", "fhwc", "nhwf"),
    "conv_2d_nchw_fchw": ("nchw", "fchw", "nfhw"),
    "conv_2d_ngchw_fgchw": ("ngchw", "fgchw", "ngfhw"),
    "conv_2d_ngchw_gfchw": ("ngchw", "gfchw", "ngfhw"),
    "conv_2d_nhwgc_gfhwc": ("nhwgc", "gfhwc", "nhwgf"),
    "conv_3d_ndhwc_dhwcf": ("ndhwc", "dhwcf", "ndhwf"),
    "conv_3d_ncdhw_fcdhw": ("ncdhw", "fcdhw", "nfdhw"),
    "depthwise_conv_1d_nwc_wc": ("nwc", "wc", "nwc"),
    "depthwise_conv_1d_ncw_cw": ("ncw", "cw", "ncw"),
    "depthwise_conv_1d_nwc_wcm": ("nwc", "wcm", "nwcm"),
    "depthwise_conv_2d_nhwc_hwc": ("nhwc", "hwc", "nhwc"),
    "depthwise_conv_2d_nchw_chw": ("nchw", "chw", "nchw"),
    "depthwise_conv_2d_nhwc_hwcm": ("nhwc", "hwcm", "nhwcm"),
    "depthwise_conv_3d_ndhwc_dhwc": ("ndhwc", "dhwc", "ndhwc"),
    "depthwise_conv_3d_ncdhw_cdhw": ("ncdhw", "cdhw", "ncdhw"),
    "depthwise_conv_3d_ndhwc_dhwcm": ("ndhwc", "dhwcm", "ndhwcm"),
}
_POOLED = ("nwc", "ncw", "nhwc", "nchw", "ndhwc")
_POOLINGS: Mapping[str, str] = {
    "sum": "sum", "max": "max", "max_unsigned": "max", "min": "min", "min_unsigned": "min",
}  # fmt: skip
_POINTS = "_q"
"""Behind the name of a convolution of differences: two more inputs say what zero is."""
WINDOWS = (
    *(f"linalg.{name}" for name in _CONVOLUTIONS),
    *(f"linalg.{name}{_POINTS}" for name in _CONVOLUTIONS),
    *(f"linalg.pooling_{shape}_{way}" for shape in _POOLED for way in _POOLINGS),
)


def has_points(op: str) -> bool:
    """Return whether an operation has two more inputs, which are the zero points."""
    return op in WINDOWS and op.endswith(_POINTS)


def window(
    op: str, strides: tuple[int, ...] | None, dilations: tuple[int, ...] | None, place: SourcePlace
) -> Computation | None:
    """The meaning of a convolution or a pooling; None if strides or dilations do not fit.

    Parameters
    ----------
    strides, dilations : tuple of int, optional
        Per dimension along which windows slide, or one for all.
    """
    name = op.removeprefix("linalg.")
    inputs, filters, outputs, tree = _shapes(name.removesuffix(_POINTS))
    space = [x for x in filters if x in _SPACE]
    steps = _numbers(strides, len(space))
    holes = _numbers(dilations, len(space))
    if steps is None or holes is None:
        return None
    step, hole = dict(zip(space, steps, strict=True)), dict(zip(space, holes, strict=True))

    def inside(x: str) -> Result:
        if x not in space:
            return x
        return Sum(((step[x], f"o{x}"), (hole[x], f"k{x}")))

    out = tuple(f"o{x}" if x in space else x for x in outputs)
    kernel = tuple(f"k{x}" if x in space else x for x in filters)
    dims = tuple(dict.fromkeys((*out, *kernel, *(x for x in inputs if x not in space))))
    maps = [
        AffineMap(dims, tuple(inside(x) for x in inputs)),
        AffineMap(dims, kernel),
        AffineMap(dims, out),
    ]
    if has_points(op):
        maps[2:2] = [AffineMap(dims, ()), AffineMap(dims, ())]
        tree = add(Arg(4), mul(sub(Arg(0), Arg(2)), sub(Arg(1), Arg(3))))
    reduced = frozenset(x for x in dims if x not in out)
    return Computation(dims, tuple(maps), reduced, (tree,), place)


def _shapes(name: str) -> tuple[str, str, str, Node]:
    if name in _CONVOLUTIONS:
        return (*_CONVOLUTIONS[name], add(Arg(2), mul(Arg(0), Arg(1))))
    _, shape, way = name.split("_", 2)
    trees = {
        "sum": add(Arg(2), Arg(0)),
        "max": largest(Arg(2), Arg(0)),
        "min": smallest(Arg(2), Arg(0)),
    }
    return shape, "".join(x for x in shape if x in _SPACE), shape, trees[_POOLINGS[way]]


def _numbers(given: tuple[int, ...] | None, count: int) -> tuple[int, ...] | None:
    """One positive number per dimension."""
    found = given or (1,)
    found = found * count if len(found) == 1 else found
    return found if len(found) == count and all(n > 0 for n in found) else None
