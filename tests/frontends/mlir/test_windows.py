"""Convolutions and poolings against NumPy's windows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from fuseloom.errors import FuseloomError
from fuseloom.frontends.mlir import from_mlir

from .files import result

Array = npt.NDArray[Any]
RNG = np.random.default_rng(2)
# Operation, input, filter, einsum of windows (x and y inside them) and filter, axes that slide.
CONVOLUTIONS: dict[str, tuple[tuple[int, ...], tuple[int, ...], str, tuple[int, ...]]] = {
    "conv_1d": ((9,), (3,), "wx,x->w", (0,)),
    "conv_2d": ((6, 7), (2, 3), "hwxy,xy->hw", (0, 1)),
    "conv_3d": ((4, 4, 5), (2, 2, 3), "dhwxyz,xyz->dhw", (0, 1, 2)),
    "conv_1d_nwc_wcf": ((2, 7, 3), (3, 3, 2), "nwcx,xcf->nwf", (1,)),
    "conv_1d_ncw_fcw": ((2, 3, 7), (2, 3, 3), "ncwx,fcx->nfw", (2,)),
    "conv_2d_nhwc_hwcf": ((2, 5, 6, 2), (3, 2, 2, 3), "nhwcxy,xycf->nhwf", (1, 2)),
    "conv_2d_nhwc_fhwc": ((1, 5, 6, 2), (3, 3, 2, 2), "nhwcxy,fxyc->nhwf", (1, 2)),
    "conv_2d_nchw_fchw": ((2, 2, 5, 6), (3, 2, 3, 2), "nchwxy,fcxy->nfhw", (2, 3)),
    "conv_3d_ndhwc_dhwcf": ((1, 4, 4, 4, 2), (2, 2, 2, 2, 2), "ndhwcxyz,xyzcf->ndhwf", (1, 2, 3)),
    "conv_2d_ngchw_fgchw": ((1, 2, 2, 4, 4), (3, 2, 2, 2, 2), "ngchwxy,fgcxy->ngfhw", (3, 4)),
    "depthwise_conv_1d_nwc_wc": ((2, 7, 3), (3, 3), "nwcx,xc->nwc", (1,)),
    "depthwise_conv_2d_nhwc_hwc": ((1, 5, 5, 3), (2, 3, 3), "nhwcxy,xyc->nhwc", (1, 2)),
    "depthwise_conv_2d_nchw_chw": ((1, 3, 5, 5), (3, 2, 3), "nchwxy,cxy->nchw", (2, 3)),
    "depthwise_conv_2d_nhwc_hwcm": ((1, 5, 5, 2), (2, 2, 2, 3), "nhwcxy,xycm->nhwcm", (1, 2)),
}


def _windows(x: Array, sizes: tuple[int, ...], axes: tuple[int, ...], step: int, gap: int) -> Array:
    """Windows of a size along axes, whose elements lie apart."""
    reach = tuple(gap * (n - 1) + 1 for n in sizes)
    found = np.lib.stride_tricks.sliding_window_view(x, reach, axes)  # type: ignore[call-overload]
    at = [slice(None, None, step if axis in axes else 1) for axis in range(x.ndim)]
    made: Array = found[(*at, *(slice(None, None, gap) for _ in sizes))]
    return made


def _type(shape: tuple[int, ...], sparse: bool = False) -> str:
    rank = len(shape)
    names = ", ".join(f"d{n}" for n in range(rank))
    levels = ", ".join(f"d{n} : compressed" for n in range(rank))
    encoding = f", #sparse_tensor.encoding<{{map = ({names}) -> ({levels})}}>" if sparse else ""
    return f"tensor<{''.join(f'{n}x' for n in shape)}f32{encoding}>"


def _text(
    op: str, types: tuple[str, str, str], start: str, count: int, step: int = 1, gap: int = 1
) -> str:
    return f"""
    func.func @f(%A: {types[0]}, %B: {types[1]}) -> {types[2]} {{
      %s = arith.constant {start} : f32
      %e = tensor.empty() : {types[2]}
      %z = linalg.fill ins(%s : f32) outs(%e : {types[2]}) -> {types[2]}
      %y = linalg.{op} {{dilations = dense<{gap}> : tensor<{count}xi64>,
                         strides = dense<{step}> : vector<{count}xi64>}}
        ins(%A, %B : {types[0]}, {types[1]}) outs(%z : {types[2]}) -> {types[2]}
      return %y : {types[2]}
    }}"""


def _small(shape: tuple[int, ...], share: float = 1.0) -> Array:
    made: Array = RNG.integers(-3, 4, shape) * (RNG.random(shape) < share)
    return made.astype(np.float32)


@pytest.mark.parametrize("op", CONVOLUTIONS)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_convolutions(op: str, sparse: bool) -> None:
    shape, kernel, einsum, axes = CONVOLUTIONS[op]
    names = einsum.partition(",")[0]
    sizes = tuple(kernel[einsum[len(names) + 1 :].index(x)] for x in names[len(shape) :])
    x, w = _small(shape, 0.4 if sparse else 1.0), _small(kernel)
    wanted = np.einsum(einsum, _windows(x, sizes, axes, 1, 1), w)
    text = _text(op, (_type(shape, sparse), _type(kernel), _type(wanted.shape)), "0.0", len(axes))
    np.testing.assert_allclose(result(from_mlir(text), {"A": x, "B": w}), wanted, rtol=1e-5)


@pytest.mark.parametrize(("step", "gap"), [(2, 1), (1, 2), (2, 2)])
def test_strides_and_dilations(step: int, gap: int) -> None:
    shape, kernel = (1, 7, 7, 2), (3, 3, 2, 2)
    x, w = _small(shape), _small(kernel)
    wanted = np.einsum("nhwcxy,xycf->nhwf", _windows(x, (3, 3), (1, 2), step, gap), w)
    types = (_type(shape), _type(kernel), _type(wanted.shape))
    text = _text("conv_2d_nhwc_hwcf", types, "0.0", 2, step, gap)
    np.testing.assert_allclose(result(from_mlir(text), {"A": x, "B": w}), wanted, rtol=1e-5)


POOLED = {"nhwc": ((1, 6, 5, 2), (1, 2)), "nchw": ((1, 2, 6, 5), (2, 3))}
WAYS = {"sum": ("0.0", np.sum), "max": ("0xFF800000", np.max), "min": ("0x7F800000", np.min)}


@pytest.mark.parametrize("layout", POOLED)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("step", "gap"), [(1, 1), (2, 1), (1, 2)])
def test_poolings(layout: str, way: str, step: int, gap: int) -> None:
    shape, axes = POOLED[layout]
    start, reduce = WAYS[way]
    x = RNG.normal(size=shape).astype(np.float32)
    wanted = reduce(_windows(x, (2, 3), axes, step, gap), axis=(-2, -1))
    types = (_type(shape), _type((2, 3)), _type(wanted.shape))
    text = _text(f"pooling_{layout}_{way}", types, start, 2, step, gap)
    given = from_mlir(text)
    assert given.wanted == ("A",)  # of the window only the shape counts
    np.testing.assert_allclose(result(given, {"A": x}), wanted, rtol=1e-5, atol=1e-6)


def test_a_window_that_leaves_the_input_is_refused() -> None:
    text = _text("conv_1d", (_type((6,)), _type((3,)), _type((5,))), "0.0", 1)
    with pytest.raises(FuseloomError, match="runs from 0 to 6, outside") as caught:
        from_mlir(text)
    assert "tensor.pad" in (caught.value.hint or "")


@pytest.mark.parametrize("step", ["0", "[1, 1, 1]", "-1"])
def test_strides_that_do_not_fit_are_refused(step: str) -> None:
    text = _text("conv_1d", (_type((6,)), _type((3,)), _type((4,))), "0.0", 1)
    with pytest.raises(FuseloomError, match="positive, one per dimension"):
        from_mlir(text.replace("strides = dense<1>", f"strides = dense<{step}>"))
