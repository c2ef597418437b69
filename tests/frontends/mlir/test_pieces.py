"""Texts of several pieces, and sizes that a text leaves open."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.errors import FuseloomError
from fuseloom.frontends.mlir import from_mlir
from fuseloom.frontends.mlir.pieces import parse_pieces
from tests.frontends.mlir.files import result

RNG = np.random.default_rng(11)


def piece(name: str, op: str, size: int) -> str:
    return f"""
#M = affine_map<(i) -> (i)>
func.func @{name}(%x: tensor<{size}xf32>, %y: tensor<{size}xf32>) -> tensor<{size}xf32> {{
  %e = tensor.empty() : tensor<{size}xf32>
  %0 = linalg.generic {{indexing_maps = [#M, #M, #M], iterator_types = ["parallel"]}}
    ins(%x, %y : tensor<{size}xf32>, tensor<{size}xf32>) outs(%e : tensor<{size}xf32>) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c = arith.{op} %a, %b : f32
    linalg.yield %c : f32
  }} -> tensor<{size}xf32>
  return %0 : tensor<{size}xf32>
}}
"""


TEXT = (
    piece("f", "addf", 3)
    + "// -----\n"
    + piece("f", "mulf", 4).replace("(i)", "(j)")
    + "  // -----  \n"
    + piece("g", "subf", 5)
)


@pytest.mark.parametrize(
    ("name", "size", "wanted"),
    [("f:1", 3, np.add), ("f:2", 4, np.multiply), ("g", 5, np.subtract), ("@g:3", 5, np.subtract)],
)
def test_a_function_of_a_piece(name: str, size: int, wanted: np.ufunc) -> None:
    x, y = RNG.normal(size=(2, size)).astype(np.float32)
    found = result(from_mlir(TEXT, function=name), {"x": x, "y": y})
    np.testing.assert_allclose(found, wanted(x, y), rtol=1e-6)


def test_pieces_side_by_side() -> None:
    program = from_mlir(TEXT).program
    assert [program.tensor(name).shape for name in program.outputs] == [(3,), (4,), (5,)]


@pytest.mark.parametrize(
    ("name", "message", "line"),
    [
        ("f", "the pieces 1, 2 of the text have a function @f", 16),
        ("h", "function @h is not defined", 1),
        ("g:2", "function @g of piece 2 is not defined", 1),
    ],
)
def test_no_such_piece(name: str, message: str, line: int) -> None:
    with pytest.raises(FuseloomError, match=message) as caught:
        from_mlir(TEXT, function=name)
    assert caught.value.line == line
    assert caught.value.hint


def test_places_count_over_pieces() -> None:
    assert [file.functions[0].place[0] for file in parse_pieces(TEXT)] == [3, 16, 29]
    bad = TEXT.replace("arith.subf", "arith.frob")
    with pytest.raises(FuseloomError, match="frob") as caught:
        from_mlir(bad, function="g")
    assert caught.value.line == bad[: bad.index("arith.frob")].count("\n") + 1


def test_names_belong_to_their_piece() -> None:
    text = "#A = affine_map<(i) -> (i)>\n// -----\n" + piece("f", "addf", 3).replace("#M =", "#N =")
    with pytest.raises(FuseloomError, match="#M is not defined"):
        from_mlir(text)


# Sizes ----------------------------------------------------------------------------------------


def convolution(x: str, k: str, y: str, step: int) -> str:
    return f"""
func.func @f(%x: tensor<{x}xf32>, %k: tensor<{k}xf32>, %y: tensor<{y}xf32>) -> tensor<{y}xf32> {{
  %0 = linalg.conv_1d {{strides = dense<{step}> : tensor<1xi64>}}
    ins(%x, %k : tensor<{x}xf32>, tensor<{k}xf32>) outs(%y : tensor<{y}xf32>) -> tensor<{y}xf32>
  return %0 : tensor<{y}xf32>
}}"""


def strided(x: str, k: str, y: str, step: int) -> str:
    return f"""
#T = {{indexing_maps = [affine_map<(i, k) -> ({step} * i + k)>, affine_map<(i, k) -> (k)>,
  affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}}
func.func @f(%x: tensor<{x}xf32>, %k: tensor<{k}xf32>, %y: tensor<{y}xf32>) -> tensor<{y}xf32> {{
  %0 = linalg.generic #T
    ins(%x, %k : tensor<{x}xf32>, tensor<{k}xf32>) outs(%y : tensor<{y}xf32>) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }} -> tensor<{y}xf32>
  return %0 : tensor<{y}xf32>
}}"""


@pytest.mark.parametrize("write", [convolution, strided])
@pytest.mark.parametrize(
    ("x", "k", "y", "step", "wanted"),
    [
        ("?", "?", "?", 1, (8, 4, 5)),
        ("?", "3", "?", 2, (9, 3, 4)),
        ("12", "?", "?", 1, (12, 4, 5)),
        ("12", "?", "9", 1, (12, 4, 9)),
        ("7", "?", "?", 3, (7, 4, 2)),
    ],
)
def test_windows_fit_what_they_read(
    write: object, x: str, k: str, y: str, step: int, wanted: tuple[int, ...]
) -> None:
    assert callable(write)
    given = from_mlir(write(x, k, y, step))
    assert tuple(given.program.tensor(n).shape[0] for n in ("x", "k", "y")) == wanted
    assert any("sizes that the text leaves open are chosen" in note for note in given.notes)
    data = {n: RNG.normal(size=size) for n, size in zip("xky", wanted, strict=True)}
    found = result(given, data)
    full = [
        data["y"][i] + sum(data["x"][step * i + j] * data["k"][j] for j in range(wanted[1]))
        for i in range(wanted[2])
    ]
    np.testing.assert_allclose(found, full, rtol=1e-4, atol=1e-5)


def test_equal_dimensions_get_one_size_and_others_their_own() -> None:
    text = """
func.func @f(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>)
    outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}"""
    given = from_mlir(text)
    shapes = [given.program.tensor(n).shape for n in "abc"]
    assert shapes == [(4, 5), (5, 6), (4, 6)]
    assert "a 4x5, b 5x6, c 4x6" in given.notes[0]
    half = from_mlir(text, shapes={"a": (2, 3)})
    assert [half.program.tensor(n).shape for n in "abc"] == [(2, 3), (3, 4), (2, 4)]
    with pytest.raises(FuseloomError, match="the shape given for it"):
        from_mlir(text, shapes={"a": (2, 3), "b": (4, 5)})


@pytest.mark.parametrize("given", [None, 3])
def test_an_index_among_the_arguments_is_a_size(given: int | None) -> None:
    text = """
func.func @f(%x: tensor<?x2xf32>, %n: index) -> tensor<?x3x2xf32> {
  %0 = tensor.expand_shape %x [[0, 1], [2]] output_shape [%n, 3, 2]
    : tensor<?x2xf32> into tensor<?x3x2xf32>
  return %0 : tensor<?x3x2xf32>
}"""
    found = from_mlir(text, shapes={} if given is None else {"n": (given,)})
    n = given or 4
    assert found.program.tensor("x").shape == (3 * n, 2)
    x = RNG.normal(size=(3 * n, 2))
    np.testing.assert_allclose(result(found, {"x": x}), x.reshape(n, 3, 2))
    with pytest.raises(FuseloomError, match="is an index") as caught:
        from_mlir(text, shapes={"n": (1, 2)})
    assert "(4,)" in (caught.value.hint or "")


def test_sizes_that_are_alike_where_their_own_do_not_do() -> None:
    """A diagonal slice whose number is that of two dimensions."""
    text = """
func.func @f(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %s = tensor.extract_slice %b[0] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  return %s : tensor<?xf32>
}"""
    given = from_mlir(text)
    b = RNG.normal(size=given.program.tensor("b").shape)
    found = result(given, {"b": b})
    np.testing.assert_allclose(found, b[: len(found)])


def test_a_size_that_nothing_can_choose_is_refused() -> None:
    text = """
func.func @f() -> tensor<?xf32> {
  %0 = arith.constant dense<1.0> : tensor<?xf32>
  return %0 : tensor<?xf32>
}"""
    with pytest.raises(FuseloomError, match="a constant with a size '\\?'"):
        from_mlir(text)
