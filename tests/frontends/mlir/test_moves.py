"""Slices, pads and single elements against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.errors import FuseloomError
from fuseloom.frontends.mlir import from_mlir

from .files import result

RNG = np.random.default_rng(6)
A = RNG.normal(size=(6, 8)).astype(np.float32)
CSR = ", #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>"


def _shown(*sizes: int, encoding: str = "") -> str:
    return f"tensor<{''.join(f'{n}x' for n in sizes)}f32{encoding}>"


def _function(arguments: str, type_: str, lines: str) -> str:
    return f"""
    func.func @f({arguments}) -> {type_} {{
      {lines}
      return %r : {type_}
    }}"""


@pytest.mark.parametrize(
    ("offsets", "sizes", "strides", "shape"),
    [
        ((1, 2), (3, 4), (1, 1), (3, 4)),
        ((0, 1), (6, 3), (1, 2), (6, 3)),
        ((5, 0), (1, 8), (1, 1), (8,)),
        ((0, 7), (6, 1), (1, 1), (6, 1)),
        ((2, 3), (1, 1), (1, 1), ()),
        ((0, 0), (6, 8), (1, 1), (6, 8)),
    ],
)
@pytest.mark.parametrize("encoding", ["", CSR], ids=["dense", "csr"])
def test_extract_slice(
    offsets: tuple[int, ...], sizes: tuple[int, ...], strides: tuple[int, ...],
    shape: tuple[int, ...], encoding: str,
) -> None:  # fmt: skip
    source, target = _shown(6, 8, encoding=encoding), _shown(*shape)
    text = _function(f"%A: {source}", target,
                     f"%r = tensor.extract_slice %A[{offsets[0]}, {offsets[1]}] "
                     f"[{sizes[0]}, {sizes[1]}] [{strides[0]}, {strides[1]}] "
                     f": {source} to {target}")  # fmt: skip
    at = tuple(slice(o, o + s * n, s) for o, n, s in zip(offsets, sizes, strides, strict=True))
    found = result(from_mlir(text), {"A": A})
    np.testing.assert_array_equal(found, A[at].reshape(shape))


INTO = RNG.normal(size=(6, 8)).astype(np.float32)


@pytest.mark.parametrize(
    ("start", "around"),
    [("%B", INTO), ("%empty", 0 * INTO), ("%zeros", 0 * INTO), ("%ones", 0 * INTO + 1)],
)
def test_insert_slice(start: str, around: np.ndarray) -> None:  # type: ignore[type-arg]
    whole, part = _shown(6, 8), _shown(3, 2)
    text = _function(
        f"%A: {part}, %B: {whole}", whole,
        f"""%empty = tensor.empty() : {whole}
        %z = arith.constant 0.0 : f32
        %o = arith.constant 1.0 : f32
        %zeros = linalg.fill ins(%z : f32) outs(%empty : {whole}) -> {whole}
        %ones = linalg.fill ins(%o : f32) outs(%empty : {whole}) -> {whole}
        %r = tensor.insert_slice %A into {start}[1, 0] [3, 2] [2, 5] : {part} into {whole}""",
    )  # fmt: skip
    wanted = np.array(around)
    wanted[1:6:2, 0:6:5] = A[:3, :2]
    found = result(from_mlir(text), {"A": A[:3, :2], "B": INTO})
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_a_row_is_inserted_at_a_value_that_is_known() -> None:
    whole, part = _shown(6, 8), _shown(8)
    text = _function(
        f"%A: {part}, %B: {whole}", whole,
        f"""%n = arith.constant 4 : index
        %r = tensor.insert_slice %A into %B[%n, 0] [1, 8] [1, 1] : {part} into {whole}""",
    )  # fmt: skip
    wanted = np.array(INTO)
    wanted[4] = A[0]
    found = result(from_mlir(text), {"A": A[0], "B": INTO})
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def _pad(value: str, after: str, encoding: str = "") -> str:
    inner, outer = _shown(6, 8, encoding=encoding), _shown(9, 9, encoding=encoding)
    dense = _shown(9, 9)
    return _function(
        f"%A: {inner}", dense,
        f"""%c = arith.constant {value} : f32
        %p = tensor.pad %A low[1, 0] high[2, 1] {{
        ^bb0(%i: index, %j: index):
          tensor.yield %c : f32
        }} : {inner} to {outer}
        %e = tensor.empty() : {dense}
        %r = linalg.{after} ins(%p : {outer}) outs(%e : {dense}) -> {dense}""",
    )  # fmt: skip


@pytest.mark.parametrize("value", [0.0, 1.5, -2.0])
@pytest.mark.parametrize("after", ["exp", "abs"])
def test_pad(value: float, after: str) -> None:
    wanted = np.pad(A, ((1, 2), (0, 1)), constant_values=value)
    wanted = np.exp(wanted) if after == "exp" else np.abs(wanted)
    found = result(from_mlir(_pad(str(value), after)), {"A": A})
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_zeros_are_added_only_where_they_count() -> None:
    assert "zeros" in from_mlir(_pad("0.0", "exp")).program.by_name
    assert "zeros" not in from_mlir(_pad("0.0", "abs")).program.by_name
    assert "zeros" not in from_mlir(_pad("0.0", "exp", CSR)).program.by_name  # stored elements


def test_a_maximum_over_a_pad_sees_its_zeros() -> None:
    text = _function(
        "%A: tensor<4xf32>", "tensor<4xf32>",
        """%c = arith.constant 0.0 : f32
        %p = tensor.pad %A low[1] high[1] {
        ^bb0(%i: index):
          tensor.yield %c : f32
        } : tensor<4xf32> to tensor<6xf32>
        %low = arith.constant 0xFF800000 : f32
        %e = tensor.empty() : tensor<4xf32>
        %s = linalg.fill ins(%low : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
        %w = tensor.empty() : tensor<3xf32>
        %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i + k)>,
            affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
            iterator_types = ["parallel", "reduction"]}
          ins(%p, %w : tensor<6xf32>, tensor<3xf32>) outs(%s : tensor<4xf32>) {
        ^bb0(%a: f32, %b: f32, %o: f32):
          %m = arith.maximumf %a, %o : f32
          linalg.yield %m : f32
        } -> tensor<4xf32>""",
    )  # fmt: skip
    x = np.array([-1.0, -2.0, -3.0, -4.0], np.float32)
    found = result(from_mlir(text), {"A": x})
    padded = np.pad(x, 1)
    np.testing.assert_array_equal(found, [padded[i : i + 3].max() for i in range(4)])


@pytest.mark.parametrize("value", ["0.0", "2.0"])
def test_zeros_that_are_left_out_are_known_to_be_missing(value: str) -> None:
    """Through an insertion, another pad, a concatenation and a slice."""
    text = _function(
        "%A: tensor<3x2xf32>", "tensor<8x2xf32>",
        f"""%z = arith.constant 0.0 : f32
        %c = arith.constant {value} : f32
        %p = tensor.pad %A low[1, 0] high[0, 0] {{
        ^bb0(%i: index, %j: index):
          tensor.yield %z : f32
        }} : tensor<3x2xf32> to tensor<4x2xf32>
        %q = tensor.pad %p low[0, 0] high[1, 0] {{
        ^bb0(%i: index, %j: index):
          tensor.yield %c : f32
        }} : tensor<4x2xf32> to tensor<5x2xf32>
        %e = tensor.empty() : tensor<6x2xf32>
        %f = linalg.fill ins(%c : f32) outs(%e : tensor<6x2xf32>) -> tensor<6x2xf32>
        %n = tensor.insert_slice %q into %f[1, 0] [5, 2] [1, 1]
          : tensor<5x2xf32> into tensor<6x2xf32>
        %t = tensor.concat dim(0) %n, %A : (tensor<6x2xf32>, tensor<3x2xf32>) -> tensor<9x2xf32>
        %s = tensor.extract_slice %t[1, 0] [8, 2] [1, 1] : tensor<9x2xf32> to tensor<8x2xf32>
        %o = tensor.empty() : tensor<8x2xf32>
        %r = linalg.exp ins(%s : tensor<8x2xf32>) outs(%o : tensor<8x2xf32>) -> tensor<8x2xf32>""",
    )  # fmt: skip
    a = A[:3, :2]
    number = float(value)
    wanted = np.concatenate([[[0.0] * 2], a, [[number] * 2], a])
    np.testing.assert_allclose(result(from_mlir(text), {"A": a}), np.exp(wanted), rtol=1e-5)


def test_one_element() -> None:
    text = _function("%A: tensor<6x8xf32>", "f32",
                     "%n = arith.constant 5 : index\n%m = arith.constant 2 : index\n"
                     "%r = tensor.extract %A[%n, %m] : tensor<6x8xf32>")  # fmt: skip
    assert result(from_mlir(text), {"A": A}) == A[5, 2]


def test_one_element_is_put_in() -> None:
    text = _function("%A: tensor<6x8xf32>, %x: f32", "tensor<6x8xf32>",
                     "%n = arith.constant 5 : index\n%c = arith.constant 9.0 : f32\n"
                     "%s = tensor.insert %c into %A[%n, %n] : tensor<6x8xf32>\n"
                     "%r = tensor.insert %x into %s[%n, %n] : tensor<6x8xf32>\n")  # fmt: skip
    wanted = np.array(A)
    wanted[5, 5] = 3.0
    found = result(from_mlir(text), {"A": A, "x": np.array(3.0)})
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("%r = tensor.extract_slice %A[4, 0] [3, 4] [1, 1] : {s} to {t}", "outside a dimension"),
        ("%r = tensor.extract_slice %A[%n, 0] [3, 4] [1, 1] : {s} to {t}", "%n is not known"),
        ("%r = tensor.extract_slice %A[0] [3] [1] : {s} to {t}", "names 1 dimension"),
        ("%r = tensor.extract_slice %A[0, 0] [2, 2] [1, 1] : {s} to {t}", "do not give its type"),
        ("%r = tensor.insert_slice %A into %A[0, 0] [3, 4] [1, 1] : {s} into {s}", "do not give"),
    ],
)
def test_refusals(line: str, message: str) -> None:
    source, target = _shown(6, 8), _shown(3, 4)
    text = _function(f"%A: {source}, %n: index", target, line.format(s=source, t=target))
    with pytest.raises(FuseloomError, match=message) as caught:
        from_mlir(text)
    assert caught.value.line
    assert caught.value.hint
