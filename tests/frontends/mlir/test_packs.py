"""Tiles of dimensions as dimensions of their own, and back."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.errors import FuseloomError
from fuseloom.frontends.mlir import from_mlir

from .files import result

RNG = np.random.default_rng(6)
CASES = {
    "rows and columns": ((4, 6), [0, 1], [2, 3], [0, 1]),
    "columns first": ((4, 6), [1, 0], [3, 2], [0, 1]),
    "rows turned": ((4, 6), [0], [2], [1, 0]),
    "padded": ((5, 4), [0, 1], [2, 3], [1, 0]),
    "three dimensions": ((2, 3, 4), [2, 0], [2, 2], [2, 0, 1]),
}


def _type(shape: tuple[int, ...]) -> str:
    return f"tensor<{''.join(f'{n}x' for n in shape)}f32>"


def _packed(
    x: np.ndarray, positions: list[int], tiles: list[int], outer: list[int], padding: float
) -> np.ndarray:
    tile = dict(zip(positions, tiles, strict=True))
    counts = [-(-n // tile.get(d, 1)) for d, n in enumerate(x.shape)]
    around = [(0, c * tile.get(d, 1) - x.shape[d]) for d, c in enumerate(counts)]
    padded = np.pad(x, around, constant_values=padding)
    split = [n for d, c in enumerate(counts) for n in (c, tile.get(d, 1))]
    order = [*(2 * d for d in outer), *(2 * d + 1 for d in positions)]
    rest = [2 * d + 1 for d in range(x.ndim) if d not in tile]
    whole = padded.reshape(split).transpose([*order, *rest])
    return whole.reshape(whole.shape[: len(order)])


@pytest.mark.parametrize("padding", [0.0, 2.0])
@pytest.mark.parametrize("case", CASES)
def test_there_and_back(case: str, padding: float) -> None:
    shape, positions, tiles, outer = CASES[case]
    x = RNG.normal(size=shape).astype(np.float32)
    wanted = _packed(x, positions, tiles, outer, padding)
    plain, packed = _type(shape), _type(wanted.shape)
    how = f"outer_dims_perm = {outer} inner_dims_pos = {positions} inner_tiles = {tiles}"
    text = f"""
    func.func @f(%A: {plain}) -> {packed} {{
      %c = arith.constant {padding} : f32
      %e = tensor.empty() : {packed}
      %p = linalg.pack %A padding_value(%c : f32) {how} into %e : {plain} -> {packed}
      %y = linalg.exp ins(%p : {packed}) outs(%e : {packed}) -> {packed}
      return %y : {packed}
    }}"""
    np.testing.assert_allclose(result(from_mlir(text), {"A": x}), np.exp(wanted), rtol=1e-5)
    text = f"""
    func.func @f(%P: {packed}) -> {plain} {{
      %e = tensor.empty() : {plain}
      %y = linalg.unpack %P {how} into %e : {packed} -> {plain}
      return %y : {plain}
    }}"""
    np.testing.assert_allclose(result(from_mlir(text), {"P": wanted}), x, rtol=1e-6)


@pytest.mark.parametrize(
    ("how", "shape", "message"),
    [
        ("inner_dims_pos = [0] inner_tiles = [2]", (3, 4, 2), "nothing to fill it with"),
        ("inner_dims_pos = [0, 0] inner_tiles = [1, 1]", (5, 4, 1, 1), "do not fit the types"),
        ("inner_dims_pos = [2] inner_tiles = [1]", (5, 4, 1), "do not fit the types"),
        ("inner_dims_pos = [0] inner_tiles = [5]", (1, 4, 4), "packed, .* shape 1x4x5"),
        ("outer_dims_perm = [0] inner_dims_pos = [0] inner_tiles = [5]", (1, 4, 5), "names each"),
        ("inner_dims_pos = [0] inner_tiles = [0]", (5, 4, 0), "."),
    ],
)
def test_refused(how: str, shape: tuple[int, ...], message: str) -> None:
    packed = _type(shape)
    text = f"""
    func.func @f(%A: tensor<5x4xf32>) -> {packed} {{
      %e = tensor.empty() : {packed}
      %p = linalg.pack %A {how} into %e : tensor<5x4xf32> -> {packed}
      return %p : {packed}
    }}"""
    with pytest.raises(FuseloomError, match=message) as found:
        from_mlir(text)
    assert found.value.hint


@pytest.mark.parametrize("size", ["constant", "dim", "type", "argument", "rows of tiles"])
@pytest.mark.parametrize("tiles", [2, 3])
def test_an_unpack_has_the_sizes_of_its_destination(size: str, tiles: int) -> None:
    """What stands behind them in the last tile is padding; there may be tiles of nothing else."""
    rows = 3 if size == "rows of tiles" and tiles == 3 else 4 * tiles - 1
    known = size in ("type", "rows of tiles")
    plain = f"tensor<{rows if known else '?'}x3xf32>"
    lines = {
        "constant": f"%n = arith.constant {rows} : index\n%e = tensor.empty(%n) : {plain}",
        "dim": "%c0 = arith.constant 0 : index\n"
        f"%n = tensor.dim %o, %c0 : tensor<{rows}x2xf32>\n%e = tensor.empty(%n) : {plain}",
        "argument": f"%e = tensor.cast %d : tensor<{rows}x3xf32> to {plain}",
    }
    text = f"""
    func.func @f(%S: tensor<{tiles}x3x4xf32>, %o: tensor<{rows}x2xf32>, %d: tensor<{rows}x3xf32>)
        -> {plain} {{
      {lines.get(size, f"%e = tensor.empty() : {plain}")}
      %u = linalg.unpack %S inner_dims_pos = [0] inner_tiles = [4] into %e
        : tensor<{tiles}x3x4xf32> -> {plain}
      %y = linalg.exp ins(%u : {plain}) outs(%e : {plain}) -> {plain}
      return %y : {plain}
    }}"""
    s = RNG.normal(size=(tiles, 3, 4))
    wanted = np.exp(s.transpose(0, 2, 1).reshape(4 * tiles, 3)[:rows])
    np.testing.assert_allclose(result(from_mlir(text), {"S": s}), wanted, rtol=1e-5)


def test_a_destination_of_an_unknown_size_has_what_the_tiles_hold() -> None:
    text = """
    func.func @f(%S: tensor<2x3x4xf32>, %e: tensor<?x3xf32>) -> tensor<?x3xf32> {
      %u = linalg.unpack %S inner_dims_pos = [0] inner_tiles = [4] into %e
        : tensor<2x3x4xf32> -> tensor<?x3xf32>
      return %u : tensor<?x3xf32>
    }"""
    s = RNG.normal(size=(2, 3, 4))
    wanted = s.transpose(0, 2, 1).reshape(8, 3)
    np.testing.assert_allclose(result(from_mlir(text), {"S": s}), wanted, rtol=1e-6)
    given = from_mlir(text, shapes={"e": (7, 3)})
    np.testing.assert_allclose(result(given, {"S": s}), wanted[:7], rtol=1e-6)
    with pytest.raises(FuseloomError, match=r"packed, the tensor|says 9"):
        from_mlir(text, shapes={"e": (9, 3)})


def test_a_pack_into_more_tiles_than_it_takes() -> None:
    text = """
    func.func @f(%A: tensor<3x2xf32>) -> tensor<3x2x2xf32> {
      %c = arith.constant 5.0 : f32
      %e = tensor.empty() : tensor<3x2x2xf32>
      %p = linalg.pack %A padding_value(%c : f32) inner_dims_pos = [0] inner_tiles = [2] into %e
        : tensor<3x2xf32> -> tensor<3x2x2xf32>
      return %p : tensor<3x2x2xf32>
    }"""
    a = RNG.normal(size=(3, 2))
    wanted = np.pad(a, ((0, 3), (0, 0)), constant_values=5.0).reshape(3, 2, 2).transpose(0, 2, 1)
    np.testing.assert_allclose(result(from_mlir(text), {"A": a}), wanted, rtol=1e-6)


def test_a_destination_may_be_packed() -> None:
    text = """
    func.func @f(%A: tensor<4x6xf32>) -> tensor<2x2x2x3xf32> {
      %e = tensor.empty() : tensor<4x6xf32>
      %d = tensor.empty() : tensor<2x2x2x3xf32>
      %p = linalg.pack %e inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %d
        : tensor<4x6xf32> -> tensor<2x2x2x3xf32>
      %q = linalg.pack %A inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %d
        : tensor<4x6xf32> -> tensor<2x2x2x3xf32>
      %y = linalg.exp ins(%q : tensor<2x2x2x3xf32>) outs(%p : tensor<2x2x2x3xf32>)
        -> tensor<2x2x2x3xf32>
      return %y : tensor<2x2x2x3xf32>
    }"""
    a = RNG.normal(size=(4, 6))
    wanted = np.exp(a).reshape(2, 2, 2, 3).transpose(0, 2, 1, 3)
    np.testing.assert_allclose(result(from_mlir(text), {"A": a}), wanted, rtol=1e-5)
