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
