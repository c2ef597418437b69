"""Windows of programs as terms: convolutions and pooling, mapped, and equal to the program."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import fuseloom as fl
from fuseloom.access.hardware import SystolicArray
from fuseloom.access.layers import Layer
from fuseloom.access.lower import compile_term
from fuseloom.access.mapping import map_term
from fuseloom.access.meaning import evaluate
from fuseloom.access.program_layers import layers_of_program
from fuseloom.access.program_windows import window_term
from fuseloom.frontends.mlir import from_mlir
from fuseloom.program import Program
from fuseloom.program import evaluate as value_of
from fuseloom.program.windows import IndexSum, WindowView

Array = npt.NDArray[Any]
ARRAY = SystolicArray(8, 8)

# Operation, image, filter, einsum of windows (x and y inside them) and filter, axes that slide.
CONVOLUTIONS: dict[str, tuple[tuple[int, ...], tuple[int, ...], str, tuple[int, ...]]] = {
    "conv_1d": ((11,), (3,), "wx,x->w", (0,)),
    "conv_2d": ((8, 9), (2, 3), "hwxy,xy->hw", (0, 1)),
    "conv_3d": ((5, 5, 6), (2, 2, 3), "dhwxyz,xyz->dhw", (0, 1, 2)),
    "conv_1d_nwc_wcf": ((2, 9, 3), (3, 3, 2), "nwcx,xcf->nwf", (1,)),
    "conv_1d_ncw_fcw": ((2, 3, 9), (2, 3, 3), "ncwx,fcx->nfw", (2,)),
    "conv_2d_nhwc_hwcf": ((2, 7, 8, 2), (3, 2, 2, 3), "nhwcxy,xycf->nhwf", (1, 2)),
    "conv_2d_nhwc_fhwc": ((1, 7, 8, 2), (3, 3, 2, 2), "nhwcxy,fxyc->nhwf", (1, 2)),
    "conv_2d_nchw_fchw": ((2, 2, 7, 8), (3, 2, 3, 2), "nchwxy,fcxy->nfhw", (2, 3)),
    "conv_2d_ngchw_fgchw": ((2, 2, 2, 6, 5), (3, 2, 2, 2, 2), "ngchwxy,fgcxy->ngfhw", (3, 4)),
    "conv_2d_ngchw_gfchw": ((1, 2, 2, 6, 5), (2, 3, 2, 2, 2), "ngchwxy,gfcxy->ngfhw", (3, 4)),
    "depthwise_conv_1d_nwc_wc": ((2, 9, 3), (3, 3), "nwcx,xc->nwc", (1,)),
    "depthwise_conv_1d_ncw_cw": ((2, 3, 9), (3, 3), "ncwx,cx->ncw", (2,)),
    "depthwise_conv_2d_nhwc_hwc": ((1, 6, 7, 3), (2, 3, 3), "nhwcxy,xyc->nhwc", (1, 2)),
    "depthwise_conv_2d_nchw_chw": ((2, 3, 6, 7), (3, 2, 3), "nchwxy,cxy->nchw", (2, 3)),
    "depthwise_conv_2d_nhwc_hwcm": ((1, 6, 6, 2), (2, 2, 2, 3), "nhwcxy,xycm->nhwcm", (1, 2)),
}
WAYS = {"sum": ("0.0", np.sum), "max": ("0xFF800000", np.max)}
POOLED = {
    "nwc": ((2, 9, 3), (1,)), "ncw": ((2, 3, 9), (2,)), "nhwc": ((1, 7, 6, 2), (1, 2)),
    "nchw": ((2, 2, 7, 6), (2, 3)), "ndhwc": ((1, 4, 5, 5, 2), (1, 2, 3)),
}  # fmt: skip


def _windows(x: Array, sizes: tuple[int, ...], axes: tuple[int, ...], step: int, gap: int) -> Array:
    """Windows of a size along axes, whose elements lie apart."""
    reach = tuple(gap * (n - 1) + 1 for n in sizes)
    found = np.lib.stride_tricks.sliding_window_view(x, reach, axes)  # type: ignore[call-overload]
    at = [slice(None, None, step if axis in axes else 1) for axis in range(x.ndim)]
    made: Array = found[(*at, *(slice(None, None, gap) for _ in sizes))]
    return made


def _type(shape: tuple[int, ...]) -> str:
    return f"tensor<{''.join(f'{n}x' for n in shape)}f32>"


def _mlir(
    op: str, shapes: tuple[tuple[int, ...], ...], start: str, step: int, gap: int,
    pads: tuple[tuple[int, ...], tuple[int, ...]] | None = None,
) -> Program:  # fmt: skip
    """A named operation, of an image that may be padded by zeros."""
    image, filters, result = (_type(shape) for shape in shapes)
    read, padding, count = image, "", len(filters.split("x")) - 1 if "pool" in op else 0
    count = count or sum(axis in "dhw" for axis in op.split("_")[-1]) or int(op[-2])
    if pads:
        read = _type(tuple(n + a + b for n, a, b in zip(shapes[0], *pads, strict=True)))
        places = ", ".join(f"%i{n}: index" for n in range(len(shapes[0])))
        padding = f"""%p = tensor.pad %A low{list(pads[0])} high{list(pads[1])} {{
        ^bb0({places}):
          tensor.yield %zero : f32
        }} : {image} to {read}"""
    return from_mlir(f"""
    func.func @f(%A: {image}, %B: {filters}) -> {result} {{
      %zero = arith.constant 0.0 : f32
      %s = arith.constant {start} : f32
      {padding}
      %e = tensor.empty() : {result}
      %z = linalg.fill ins(%s : f32) outs(%e : {result}) -> {result}
      %y = linalg.{op} {{dilations = dense<{gap}> : tensor<{count}xi64>,
                         strides = dense<{step}> : tensor<{count}xi64>}}
        ins({"%p" if pads else "%A"}, %B : {read}, {filters}) outs(%z : {result}) -> {result}
      return %y : {result}
    }}""").program


def _checked(program: Program, name: str | None = None, products: int = 1) -> Layer:
    """The one layer of a program: the same values as all of the program, and mapped."""
    layers, _ = layers_of_program(program, 3)
    (layer,) = layers if name is None else (x for x in layers if x.name == name)
    wanted = value_of(program, layer.data)[layer.name].dense()
    np.testing.assert_allclose(layer.result, wanted, rtol=0, atol=1e-12)
    _agrees(layer, wanted, products)
    return layer


def _agrees(layer: Layer, wanted: Array, products: int) -> None:
    value = evaluate(layer.term, layer.data)
    assert value.shape == wanted.shape
    np.testing.assert_allclose(value, wanted, rtol=1e-9, atol=1e-9)
    mapped = map_term(layer.term, ARRAY)
    assert not mapped.unmapped
    assert bool(mapped.calls) is bool(products)
    np.testing.assert_allclose(evaluate(mapped.after, layer.data), wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("op", CONVOLUTIONS)
@pytest.mark.parametrize(("step", "gap"), [(1, 1), (2, 1), (2, 2)])
def test_convolutions_of_linalg(op: str, step: int, gap: int) -> None:
    shape, kernel, einsum, axes = CONVOLUTIONS[op]
    names = einsum.partition(",")[0]
    sizes = tuple(kernel[einsum[len(names) + 1 :].index(x)] for x in names[len(shape) :])
    image = np.random.default_rng(1).normal(size=shape)
    wanted = np.einsum(einsum, _windows(image, sizes, axes, step, gap), np.ones(kernel)).shape
    program = _mlir(op, (shape, kernel, wanted), "0.0", step, gap)
    layer = _checked(program)
    windows = _windows(layer.data["A"], sizes, axes, step, gap)
    np.testing.assert_allclose(layer.result, np.einsum(einsum, windows, layer.data["B"]))
    assert layer.name == "y"
    assert not layers_of_program(program)[1]
    count = sum(call.multiplications for call in map_term(layer.term, ARRAY).calls)
    indices = dict(zip(names, windows.shape, strict=True))
    indices |= dict(zip(einsum[len(names) + 1 :].partition("->")[0], kernel, strict=True))
    assert count == prod(indices.values())


@pytest.mark.parametrize("layout", POOLED)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("step", "gap"), [(1, 1), (2, 1), (1, 2)])
def test_pooling_of_linalg(layout: str, way: str, step: int, gap: int) -> None:
    shape, axes = POOLED[layout]
    sizes = (2, 3, 2)[: len(axes)]
    start, reduce = WAYS[way]
    wanted = _windows(np.ones(shape), sizes, axes, step, gap)[(..., *(0 for _ in sizes))].shape
    program = _mlir(f"pooling_{layout}_{way}", (shape, sizes, wanted), start, step, gap)
    layer = _checked(program, products=0)
    windows = _windows(layer.data["A"], sizes, axes, step, gap)
    inside = tuple(range(-len(sizes), 0))
    np.testing.assert_allclose(layer.result, reduce(windows, axis=inside))
    assert not layers_of_program(program)[1]


@pytest.mark.parametrize(
    ("op", "shapes", "low", "high"),
    [
        ("conv_2d_nchw_fchw", ((1, 2, 5, 6), (3, 2, 3, 3), (1, 3, 5, 6)), (0, 0, 1, 1),
         (0, 0, 1, 1)),
        ("conv_2d_nhwc_hwcf", ((1, 5, 6, 2), (3, 3, 2, 3), (1, 5, 5, 3)), (0, 2, 0, 0),
         (0, 0, 1, 0)),
        ("conv_1d", ((8,), (3,), (8,)), (1,), (1,)),
        ("depthwise_conv_2d_nchw_chw", ((1, 2, 4, 4), (2, 3, 3), (1, 2, 4, 4)), (0, 0, 1, 1),
         (0, 0, 1, 1)),
        ("pooling_nchw_sum", ((1, 2, 4, 4), (3, 3), (1, 2, 4, 4)), (0, 0, 1, 1), (0, 0, 1, 1)),
    ],
)  # fmt: skip
def test_padding_of_mlir(
    op: str, shapes: tuple[tuple[int, ...], ...], low: tuple[int, ...], high: tuple[int, ...]
) -> None:
    program = _mlir(op, shapes, "0.0", 1, 1, (low, high))
    layer = _checked(program, products=0 if "pool" in op else 1)
    assert "pad" in str(layer.term)
    assert not layers_of_program(program)[1]


PROGRAMS = {
    "padding": ("x: 10 dense\nw: 3 dense\ny: 5 csf\ny[i] = x[2*i+k-1] * w[k]", "xw"),
    "padding on one side": ("x: 10 dense\nw: 3 dense\ny: 10 csf\ny[i] = x[i+k-2] * w[k]", "xw"),
    "much padding": ("x: 4 dense\nw: 2 dense\ny: 9 csf\ny[i] = x[i+k-3] * w[k]", "xw"),
    "a part of the image": ("x: 12 dense\nw: 3 dense\ny: 3 csf\ny[i] = x[2*i+k+2] * w[k]", "xw"),
    "steps longer than the filter": ("x: 20 dense\nw: 2 dense\ny[i] = x[5*i+k] * w[k]", "xw"),
    "dilation": ("x: 20 dense\nw: 3 dense\ny[i] = x[2*i+3*k] * w[k]", "xw"),
    "the filter first": ("x: 10 dense\nw: 3x2 dense\ny[f,i] = w[k,f] * x[i+k]", "xw"),
    "two directions": ("x: 8x9x2 dense\nw: 4x2x3x2 dense\n"
                       "y[i,j,f] = x[2*i+r,j+2*s,c] * w[f,c,r,s]", "xw"),
    "1x1": ("x: 1x3x7x7 dense\nw: 4x3 dense\ny: 1x4x4x4 csf\n"
            "y[n,f,i,j] = x[n,c,2*i,2*j] * w[f,c]", "xw"),
    "a row": ("x: 4x9 dense\nw: 3 dense\ny[i] = x[2,i+k] * w[k]", "xw"),
    "an image by itself": ("x: 6 dense\ny: 3 csf\ny[k] = x[i+k] * x[i]", "x"),
    "both operands": ("x: 12 dense\nw: 14 dense\nk: index 2\ny: 3x4 csf\n"
                      "y[i,j] = x[2*i+k] * w[j+3*k]", "xw"),
    "one product": ("x: 10 dense\nM[i,k,j]: 8x3x10 csf where j = i + k\nw: 3 dense\n"
                    "y[i] = product(x[j], M[i,k,j], w[k])", "xw"),
    "one insertion": ("x: 8 dense\nM[j,i]: 12x8 csr where j = i + 3\nw: 5 dense\n"
                      "p[j] = x[i] * M[j,i]\ny[i] = p[2*i+k] * w[k]", "xw"),
    "a strided part, then windows": ("x: 20 dense\nw: 3 dense\nz: 8 csf\nz[j] = x[2*j+1]\n"
                                     "y[i] = z[i+k] * w[k]", "xw"),
    "windows of windows": ("x: 12 dense\nw: 3x2 dense\nz: 8x3 csf\nz[i,k] = x[i+k]\n"
                           "y[a,f] = z[2*a,k] * w[k,f]", "xw"),
    "a transpose": ("x: 3x9 dense\nw: 2x3 dense\nt[i,c] = x[c,i]\n"
                    "y[i] = t[i+k,c] * w[k,c]", "xw"),
    "windows in blocks": ("x: 16 dense block 2\nw: 4x2 dense block 2\n"
                          "y[i,f] = x[2*i+k] * w[k,f]", "xw"),
    "in blocks": ("x: 8x16 dense block 4\nw: 16x8 dense block 4\ny[i,j] = x[i,k] * w[k,j]", "xw"),
    "sum": ("x: 9 dense\nk: index 3\ny[i] = sum[k] x[2*i+k]", "x"),
    "sum of one statement": ("x: 9x2 dense\nk: index 3\ny[i,c] = x[2*i+k,c]", "x"),
    "maximum": ("x: 3x9 dense\nk: index 2\ny[c,i] = max[k] x[c,2*i+k]", "x"),
    "maximum of padded windows": ("x: 10 dense\nk: index 3\ny: 5 csf\n"
                                  "y[i] = max[k] x[2*i+k-1]", "x"),
    "maximum of all": ("x: 3x4x5 dense\ny: 3x1x1 csf\nr: index 4\ns: index 5\n"
                       "y[c,i,j] = max[r,s] x[c,i+r,j+s]", "x"),
}  # fmt: skip
POOLING = {name for name in PROGRAMS if name.startswith(("sum", "maximum"))}


@pytest.mark.parametrize("name", PROGRAMS)
def test_windows_of_the_language(name: str) -> None:
    text, given = PROGRAMS[name]
    layer = _checked(fl.parse(text), products=name not in POOLING)
    assert sorted(layer.data) == sorted(given)
    assert np.abs(layer.result).max() > 0
    assert layer.name == "y"
    assert not layers_of_program(fl.parse(text))[1]


@pytest.mark.parametrize(
    ("text", "name", "reason"),
    [
        ("x: 9 compressed\nw: 3 dense\ny[i] = x[i+k] * w[k]", "y", "x is sparse"),
        ("x: 9 compressed\nk: index 3\ny[i] = max[k] x[i+k]", "y", "x is sparse"),
        ("x: 9 dense\nw: 3 compressed\ny[i] = x[i+k] * w[k]", "y", "w is sparse"),
        ("x: 9 dense\nw: 3 dense\ny: 9 csf\ny[i] = x[i-k] * w[k]", "y", "x is read backwards"),
        ("x: 9 dense\nw: 3x2 dense\ny: 9 csf\ny[i] = x[i+k+j] * w[k,j]", "y", "two indices"),
        ("x: 9 dense\nM[j,i]: 18x9 csr where j = 2*i\nw: 3 dense\ny: 18 csf\n"
         "z[j] = x[i] * M[j,i]\ny[i] = z[i+k] * w[k]", "y", "M puts elements 2 apart"),
        ("x: 9 dense\nM[i,j]: 9x9 csr where j = i + 1\ny[i,j] = x[i] * M[i,j]", "y",
         "M says which elements"),
        ("x: 9 dense\nM[i,k,j]: 9x4x9 csf where j = i + 1\ny[i] = x[j] * M[i,k,j]", "y",
         "how often elements count"),
        ("x: 9 dense\nw: 3 dense\nz: 6 csf\nz[i] = x[i-1]\ny: 6 csf\ny[i] = z[i+k] * w[k]", "y",
         "z ends before the elements of x do"),
        ("x: 9x9 dense\nw: 3x9 dense\ny: 9 csf\ny[i] = x[i,i+k] * w[k,i]", "y", "along a diagonal"),
        ("x: 3 dense\nk: index 2\ny: 9 csf\ny[i] = max[k] x[i+k-1]", "y", "has no elements"),
        ("x: 9 dense\nk: index 3\nM[i,k,j]: 9x3x9 dense where j = i + k\nz[i,k] = x[j] * M[i,k,j]\n"
         "y[i] = max[k] z[i,k]", "y", "zeros beside elements"),
        ("x: 9 dense\nk: index 3\nz[i,k] = nonzero(x[i+k])\ny[i] = max[k] z[i,k]", "y",
         "z leaves out what is 0"),
        ("x: 9 dense\nM[i,j]: 8x9 csr where j = i + 1\ny[i] = M[i,j]", "y", "M is no data"),
        ("x: 9x9x2 dense\nM[i,j]: 9x9 csr where j = i + 1\nN[j,i]: 9x9 csr where i = j + 1\n"
         "y[c] = product(x[i,j,c], M[i,j], N[j,i])", "y", "N says which elements"),
        ("x: 60000 dense\nw: 3 dense\ny: 20000 csf\ny[i] = x[i+20000*k-1] * w[k]", "y",
         "would hold"),
        ("x: 50000x50000 dense\nw: 50000 dense\ny[i] = x[i,k] * w[k]", "y", "would hold"),
        ("x: 9x4 dense\ny[i] = max[k] x[i,k]", "y", "beside the array"),
        ("x: 9x4 dense\ny[i] = sum[k] x[i,k]", "y", "beside the array"),
        ("x: 9 dense\nw: 3 dense\ny[i] = product(x[i+k], w[k], w[k])", "y", "beside the array"),
        ("x: 9 dense\nw: 3 dense\ny[i,k] = x[i+k] * w[k]", "y", "nothing is summed"),
    ],
)  # fmt: skip
def test_what_is_no_window_says_why(text: str, name: str, reason: str) -> None:
    layers, others = layers_of_program(fl.parse(text))
    assert not layers
    assert reason in {other.name: other.reason for other in others}[name]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x: 9 dense\nw: 3 dense\ny[i] = x[2*i-k+2] * w[k]", "read backwards"),
        ("x: 9 dense\nw: 3x2 dense\ny[i] = x[i+k+j] * w[k,j]", "more than two indices"),
        ("x: 9x3 dense\np: list 4, 0, 4\nw: 3x2 dense\ny[i,j] = x[p[i],k] * w[k,j]", "a list"),
        ("x: 9 dense\nw: 3 dense\ny[i] = relu(x[i+k]) * w[k]", "reads elements of x"),
        ("x: 60000 dense\nw: 3 dense\ny[i] = x[i+20000*k] * w[k]", "reads elements of x"),
    ],
)
def test_what_is_read_without_windows_is_data_of_the_product(text: str, reason: str) -> None:
    program = fl.parse(text)
    (layer,), others = layers_of_program(program)
    assert reason in {other.name: other.reason for other in others}["y_1"]
    assert set(layer.data) < {"y_1", "y_2", "w"}
    _agrees(layer, layer.result, 1)


def test_a_tensor_is_either_given_or_computed() -> None:
    program = fl.parse("x: 9 dense\nz: 7x3 csf\nz[i,k] = x[i+k]\ny[i] = z[i+j+0,k] * z[j,k]")
    (layer,), others = layers_of_program(program)
    assert [*layer.data] == ["z"]  # x would be read at sums of three indices
    assert "z" in {other.name for other in others}
    _agrees(layer, layer.result, 1)


def test_a_network_of_padded_convolutions() -> None:
    program = fl.parse("""
    x: 2x8x8 dense
    v: 3x2x3x3 dense
    w: 2x3x3x3 dense
    b: 3 dense
    q: index 2
    r: index 2
    a: 3x8x8 csf
    a[f,i,j] = x[c,i+k-1,j+l-1] * v[f,c,k,l]
    t[i,j,f] = a[f,i,j] + b[f]
    s[f,i,j] = relu(t[i,j,f])
    m[f,i,j] = max[q,r] s[f,2*i+q,2*j+r]
    y: 2x4x4 csf
    y[f,i,j] = m[c,i+k-1,j+l-1] * w[f,c,k,l]
    """)
    layers, others = layers_of_program(program)
    assert [(layer.name, *layer.data) for layer in layers] == [
        ("a", "x", "v"), ("m", "s"), ("y", "m", "w"),
    ]  # fmt: skip
    assert {other.name for other in others} == {"t", "s"}
    for layer in layers:
        _agrees(layer, layer.result, layer.name != "m")
    last = layers[-1].data
    padded = np.pad(last["m"], ((0, 0), (1, 1), (1, 1)))
    wanted = np.einsum("cijkl,fckl->fij", _windows(padded, (3, 3), (1, 2), 1, 1), last["w"])
    np.testing.assert_allclose(layers[-1].result, wanted)


def _random_window(
    random: np.random.Generator, place: str, tap: str, sizes: dict[str, int]
) -> tuple[str, bool]:
    """A read at random places; and whether every window has an element."""
    extent, stride, dilation = random.integers(3, 8), random.integers(1, 4), random.integers(1, 3)
    taps, places = int(random.integers(1, 4)), int(random.integers(1, 5))
    offset = int(random.integers(-(taps - 1) * dilation, 2))
    sizes |= {place: places, tap: taps, place.upper(): int(extent)}
    reads = [[0 <= stride * i + dilation * k + offset < extent for k in range(taps)]
             for i in range(places)]  # fmt: skip
    return f"{stride}*{place}+{dilation}*{tap}{offset:+d}", all(map(any, reads))


def _random_program(seed: int) -> tuple[str, str, bool]:
    """A convolution or pooling in a random layout, as text, and what it is."""
    random = np.random.default_rng(seed)
    kind = ["conv", "conv", "sum", "max"][seed % 4]
    sizes = {"n": 2, "g": 2, "c": 3, "f": 2}
    pairs = [("i", "k"), ("j", "l")][: random.integers(1, 3)]
    reads = {place: _random_window(random, place, tap, sizes) for place, tap in pairs}

    def shuffled(letters: str) -> list[str]:
        return [str(x) for x in random.permutation([*letters])]

    places, taps = "".join(x for x, _ in pairs), "".join(x for _, x in pairs)
    grouped, outer = "g" * int(random.integers(2)), "n" * int(random.integers(2))
    inner = "c" if kind == "conv" else ""
    image = shuffled(outer + grouped + inner + places)
    filters = shuffled(grouped + inner + taps + "f" * int(random.integers(2)))
    kept = "f" if kind == "conv" and "f" in filters else ""
    out = shuffled(outer + grouped + places + kept)
    lines = [f"x: {'x'.join(str(sizes[y.upper() if y in places else y]) for y in image)} dense"]
    lines += [f"{tap}: index {sizes[tap]}" for tap in taps]
    lines.append(f"y: {'x'.join(str(sizes[y]) for y in out)} csf")
    read = f"x[{','.join(reads[y][0] if y in reads else y for y in image)}]"
    if kind == "conv":
        lines.insert(1, f"w: {'x'.join(str(sizes[y]) for y in filters)} dense")
        read = f"{read} * w[{','.join(filters)}]"
        lines = [line for line in lines if ": index" not in line]
    else:
        read = f"{kind}[{','.join(taps)}] {read}"
    filled = all(found for _, found in reads.values())
    return "\n".join([*lines, f"y[{','.join(out)}] = {read}"]), kind, filled


@pytest.mark.parametrize("seed", range(48))
def test_random_windows(seed: int) -> None:
    text, kind, filled = _random_program(seed)
    program = fl.parse(text)
    if kind == "max" and not filled:
        layers, others = layers_of_program(program)
        assert not layers
        assert any("has no elements" in other.reason for other in others)
        return
    _checked(program, products=kind == "conv")


def test_terms_of_windows_are_compiled() -> None:
    program = fl.parse("x: 1x2x7x6 dense\nw: 3x2x3x2 dense\ny: 1x3x4x5 csf\n"
                       "y[n,f,i,j] = x[n,c,2*i+r-1,j+2*s-1] * w[f,c,r,s]")  # fmt: skip
    layer = _checked(program)
    mapped = map_term(layer.term, ARRAY)
    for term in (layer.term, mapped.after):
        np.testing.assert_allclose(compile_term(term)(layer.data), layer.result, atol=1e-12)


def test_relations_in_one_statement_are_solved_together() -> None:
    program = fl.parse("""
    x: 20 dense
    M[i,k,j]: 4x3x9 csf where j = i + 2*k + 1
    N[j,l]: 9x20 csr where l = 2*j + 1
    y[i,k] = product(x[l], N[j,l], M[i,k,j])
    """)
    _checked(fl.parse(str(program).replace("output y", "w: 3x2 dense\nz[i,f] = y[i,k] * w[k,f]")))


def test_windows_iterate_over_the_leading_dimensions_as_they_are() -> None:
    view = WindowView("x", (2, 3, 9), (
        IndexSum.index("n"), IndexSum.index("c"), IndexSum((("i", 2), ("k", 1)), -1),
    ))  # fmt: skip
    extents = {"n": 2, "c": 3, "i": 5, "k": 3}
    term = window_term(view, extents, ["n", "i"], ["c", "k"])
    data = {"x": np.arange(54.0).reshape(2, 3, 9)}
    padded = np.pad(data["x"], ((0, 0), (0, 0), (1, 1)))
    wanted = _windows(padded, (3,), (2,), 2, 1).transpose(0, 2, 1, 3)
    np.testing.assert_array_equal(evaluate(term, data), wanted)
