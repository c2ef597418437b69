"""Elements that encodings store beside those that are not 0."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp

import fuseloom as fl
from fuseloom.frontends.mlir import from_mlir

SHAPE = (4, 6)
ROW, COLUMN = np.indices(SHAPE)
ENCODINGS: dict[str, tuple[str, Callable[[int, int], np.ndarray]]] = {
    "blocks": (
        "map = (i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, "
        "i mod 2 : dense, j mod 3 : dense)",
        lambda i, j: (i // 2 == ROW // 2) & (j // 3 == COLUMN // 3),
    ),
    "blocks by name": (
        "map = {a, b, c, d} (i = a * 2 + c, j = b * 2 + d) -> (a = i floordiv 2 : compressed, "
        "b = j floordiv 2 : compressed, c = i mod 2 : dense, d = j mod 2 : dense)",
        lambda i, j: (i // 2 == ROW // 2) & (j // 2 == COLUMN // 2),
    ),
    "columns of blocks": (
        "map = (i, j) -> (j : compressed, i floordiv 2 : compressed, i mod 2 : dense)",
        lambda i, j: (i // 2 == ROW // 2) & (j == COLUMN),
    ),
    "diagonals": (
        "map = (i, j) -> (j - i : compressed, i : dense)",
        lambda i, j: j - i == COLUMN - ROW,
    ),
    "skewed": (
        "map = (i, j) -> ((i + 2 * j) mod 3 : compressed, i : dense, j : dense)",
        lambda i, j: (i + 2 * j) % 3 == (ROW + 2 * COLUMN) % 3,
    ),
    "compressed to the last": (
        "map = (i, j) -> (i floordiv 2 : dense, i mod 2 : dense, j : compressed)",
        lambda i, j: (i == ROW) & (j == COLUMN),
    ),
    "old": (
        'lvlTypes = ["compressed", "compressed", "dense", "dense"], dimToLvl = affine_map<(i, j) '
        "-> (i floordiv 2, j floordiv 2, i mod 2, j mod 2)>",
        lambda i, j: (i // 2 == ROW // 2) & (j // 2 == COLUMN // 2),
    ),
}
"""Encodings, and the places that are stored if one is."""
TEXT = """
#B = #sparse_tensor.encoding<{ ENCODING }>
#m = affine_map<(i, j) -> (i, j)>
func.func @f(ARGUMENTS) -> tensor<4x6xf32, #B> {
  CONSTANT
  %e = tensor.empty() : tensor<4x6xf32, #B>
  %y = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel", "parallel"]}
    ins(%s : tensor<4x6xf32, #B>) outs(%e : tensor<4x6xf32, #B>) {
  ^bb0(%a: f32, %o: f32):
    %x = math.exp %a : f32
    linalg.yield %x : f32
  } -> tensor<4x6xf32, #B>
  return %y : tensor<4x6xf32, #B>
}"""
VALUES = np.zeros(SHAPE)
VALUES[0, 1], VALUES[3, 2] = 1.0, -2.0


def wanted(name: str) -> np.ndarray:
    around = ENCODINGS[name][1]
    return np.where(around(0, 1) | around(3, 2), np.exp(VALUES), 0.0)


@pytest.mark.parametrize("kind", ["array", "coordinates", "constant", "sparse constant", "stored"])
@pytest.mark.parametrize("name", ENCODINGS)
def test_zeros_beside_elements_are_elements(name: str, kind: str) -> None:
    text = TEXT.replace("ENCODING", ENCODINGS[name][0])
    literals = {
        "constant": f"dense<{VALUES.tolist()}>",
        "sparse constant": "sparse<[[0, 1], [3, 2]], [1.0, -2.0]>",
    }
    given = kind not in literals
    text = text.replace("ARGUMENTS", "%s: tensor<4x6xf32, #B>" if given else "")
    text = text.replace(
        "CONSTANT",
        ""
        if given
        else f"%c = arith.constant {literals[kind]} : tensor<4x6xf32>\n"
        "%s = sparse_tensor.convert %c : tensor<4x6xf32> to tensor<4x6xf32, #B>",
    )
    imported = from_mlir(text)
    if given:
        tensor = imported.program.tensor("s")
        data = {
            "array": VALUES,
            "coordinates": sp.coo_array(VALUES),
            "stored": fl.StoredTensor.from_dense(tensor, VALUES),
        }
        imported = imported.bind({"s": data[kind]})
    run = fl.simulate(fl.compile(imported.program, imported.schedule), imported.data)
    assert run.check().ok
    np.testing.assert_allclose(run.results["y"].to_dense(), wanted(name), rtol=1e-5)


def test_blocks_at_the_edge_are_cut() -> None:
    text = TEXT.replace("ENCODING", ENCODINGS["blocks"][0].replace("2 : dense", "3 : dense"))
    text = text.replace("i mod 2", "i mod 3").replace("ARGUMENTS", "%s: tensor<4x6xf32, #B>")
    imported = from_mlir(text.replace("CONSTANT", "")).bind({"s": VALUES})
    coords = imported.data["s"].to_coo()[0]
    assert coords.tolist() == [[i, j] for i in range(3) for j in range(3)] + [
        [3, j] for j in range(3)
    ]
