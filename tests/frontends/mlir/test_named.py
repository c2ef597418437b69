"""Named operations of linalg, products of all elements, and results at other places."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.errors import FuseloomError
from fuseloom.frontends.mlir import from_mlir
from fuseloom.program import evaluate
from tests.frontends.mlir.files import generic, result

RNG = np.random.default_rng(5)
CSR = "#sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>"


def sparse(*shape: int) -> np.ndarray:
    values = RNG.normal(size=shape).astype(np.float32)
    return np.where(RNG.random(shape) < 0.5, values, 0.0)


def function(arguments: str, lines: str, returned: str) -> str:
    return f"func.func @f({arguments}) -> {returned} {{\n{lines}\n  return %y : {returned}\n}}"


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_softmax(axis: int) -> None:
    t = "tensor<3x4x5xf32>"
    text = function(
        f"%x: {t}",
        f"  %e = tensor.empty() : {t}\n"
        f"  %y = linalg.softmax dimension({axis}) ins(%x : {t}) outs(%e : {t}) -> {t}",
        t,
    )
    x = RNG.normal(size=(3, 4, 5))
    e = np.exp(x - x.max(axis, keepdims=True))
    found = result(from_mlir(text), {"x": x})
    np.testing.assert_allclose(found, e / e.sum(axis, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "count", "wanted"),
    [
        ("square", 1, np.square),
        ("reciprocal", 1, np.reciprocal),
        ("exp", 1, np.exp),
        ("sub", 2, np.subtract),
        ("max_signed", 2, np.maximum),
    ],
)
@pytest.mark.parametrize(
    "form",
    [
        "linalg.{}",
        "linalg.elementwise kind=#linalg.elementwise_kind<{}>",
        "linalg.elementwise <{}>",
    ],
)
def test_each_element(name: str, count: int, wanted: np.ufunc, form: str) -> None:
    t = "tensor<3x4xf32>"
    word = name if "elementwise" in form else name.removesuffix("_signed")
    names = ", ".join(f"%a{n}" for n in range(count))
    types = ", ".join([t] * count)
    arguments = ", ".join(f"%a{n}: {t}" for n in range(count))
    text = function(
        f"{arguments}, %o: {t}",
        f"  %y = {form.format(word)} ins({names} : {types}) outs(%o : {t}) -> {t}",
        t,
    )
    data = {f"a{n}": 1.0 + RNG.random((3, 4)) for n in range(count)}
    np.testing.assert_allclose(result(from_mlir(text), data), wanted(*data.values()), rtol=1e-5)


@pytest.mark.parametrize(
    ("op", "attribute", "wanted"),
    [
        ("unary", "{fun = #linalg.unary_fn<tanh>}", lambda a, b: np.tanh(a)),
        ("unary", "", lambda a, b: np.exp(a)),
        ("binary", "{fun = #linalg.binary_fn<mul>}", lambda a, b: a * b),
        ("binary", "", lambda a, b: a + b),
    ],
)
def test_older_names(op: str, attribute: str, wanted: object) -> None:
    t = "tensor<3xf32>"
    ins = f"ins(%a : {t})" if op == "unary" else f"ins(%a, %b : {t}, {t})"
    text = function(
        f"%a: {t}, %b: {t}",
        f"  %y = linalg.elemwise_{op} {attribute} {ins} outs(%b : {t}) -> {t}",
        t,
    )
    a, b = RNG.normal(size=(2, 3))
    assert callable(wanted)
    np.testing.assert_allclose(result(from_mlir(text), {"a": a, "b": b}), wanted(a, b), rtol=1e-5)


def test_maps_of_an_elementwise_operation() -> None:
    text = """
#maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>]
func.func @f(%a: tensor<3xf32>, %b: tensor<4x3xf32>, %o: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %y = linalg.elementwise kind=#linalg.elementwise_kind<div> indexing_maps = #maps
    ins(%a, %b : tensor<3xf32>, tensor<4x3xf32>) outs(%o : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}"""
    a, b = RNG.random(3), 1.0 + RNG.random((4, 3))
    found = result(from_mlir(text), {"a": a, "b": b})
    np.testing.assert_allclose(found, a[:, None] / b.T, rtol=1e-5)


@pytest.mark.parametrize("storage", ["", f", {CSR}"])
def test_a_contraction_by_maps(storage: str) -> None:
    text = f"""
#A = affine_map<(m, n, k) -> (k, m)>
#B = affine_map<(m, n, k) -> (n, k)>
#C = affine_map<(m, n, k) -> (n, m)>
func.func @f(%a: tensor<4x3xf32{storage}>, %b: tensor<5x4xf32>, %c: tensor<5x3xf32>)
    -> tensor<5x3xf32> {{
  %y = linalg.contract indexing_maps = [#A, #B, #C]
    ins(%a, %b : tensor<4x3xf32{storage}>, tensor<5x4xf32>) outs(%c : tensor<5x3xf32>)
    -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}}"""
    a, b, c = sparse(4, 3), RNG.normal(size=(5, 4)), RNG.normal(size=(5, 3))
    found = result(from_mlir(text), {"a": a, "b": b, "c": c})
    np.testing.assert_allclose(found, b @ a + c, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("known", [True, False])
def test_a_convolution_with_zero_points(known: bool) -> None:
    numbers = "" if known else ", %z: i32, %w: i32"
    lines = ("  %z = arith.constant 2 : i32\n  %w = arith.constant -1 : i32\n" if known else "") + (
        "  %y = linalg.conv_2d_nhwc_hwcf_q ins(%x, %k, %z, %w : tensor<1x4x5x2xi8>, "
        "tensor<2x3x2x3xi8>, i32, i32) outs(%o : tensor<1x3x3x3xi32>) -> tensor<1x3x3x3xi32>"
    )
    arguments = "%x: tensor<1x4x5x2xi8>, %k: tensor<2x3x2x3xi8>" + numbers
    text = function(f"{arguments}, %o: tensor<1x3x3x3xi32>", lines, "tensor<1x3x3x3xi32>")
    x, k = RNG.integers(-4, 5, (1, 4, 5, 2)), RNG.integers(-4, 5, (2, 3, 2, 3))
    o = RNG.integers(-4, 5, (1, 3, 3, 3))
    windows = np.lib.stride_tricks.sliding_window_view(x - 2, (2, 3), (1, 2))
    wanted = np.einsum("nyxchw,hwcf->nyxf", windows, k + 1) + o
    data = {"x": x, "k": k, "o": o, "z": np.array(2), "w": np.array(-1)}
    np.testing.assert_array_equal(result(from_mlir(text), data), wanted)


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("linalg.div ins(%a, %b : T, T)", lambda a, b, x: np.trunc(a / b)),
        ("linalg.matmul ins(%x, %b : U, T)", lambda a, b, x: np.trunc(x) @ b),
    ],
)
def test_whole_numbers_are_rounded_towards_zero(line: str, wanted: object) -> None:
    lines = (
        "  %z = arith.constant 0 : i32\n  %e = tensor.empty() : T\n"
        f"  %o = linalg.fill ins(%z : i32) outs(%e : T) -> T\n  %y = {line} outs(%o : T) -> T"
    )
    text = function("%a: T, %b: T, %x: U", lines, "T")
    text = text.replace("T", "tensor<2x2xi32>").replace("U", "tensor<2x2xf32>")
    a, b = np.array([[7, -7], [0, 9]]), np.array([[2, 2], [-5, 3]])
    x = np.array([[1.9, -1.9], [0.5, 3]])
    assert callable(wanted)
    given = from_mlir(text)
    data = {n: v for n, v in {"a": a, "b": b, "x": x}.items() if n in given.program.inputs}
    np.testing.assert_array_equal(result(given, data), wanted(a, b, x))


def test_a_number_of_the_arguments_fills_a_tensor() -> None:
    text = function(
        "%x: f32, %n: index",
        "  %e = tensor.empty(%n) : tensor<?x3xf32>\n"
        "  %y = linalg.fill ins(%x : f32) outs(%e : tensor<?x3xf32>) -> tensor<?x3xf32>",
        "tensor<?x3xf32>",
    )
    found = result(from_mlir(text), {"x": np.array(1.5)})
    np.testing.assert_array_equal(found, np.full((4, 3), 1.5))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("linalg.reciprocal ins(%a : T)", "linalg.reciprocal of integers"),
        ("linalg.exp ins(%b : U)", "linalg.exp of floats that gives integers"),
        ("linalg.fill ins(%h : f32)", "integers are filled with 0.5"),
        ("linalg.contract ins(%a, %a : T, T)", "needs indexing_maps"),
        ("linalg.softmax dimension(2) ins(%a : T)", "dimension 2 of a tensor of 2 dimensions"),
        ("linalg.elementwise ins(%a : T)", "no kind of operation"),
        ("linalg.elementwise kind=#linalg.elementwise_kind<i0> ins(%a : T)", "i0 of each"),
    ],
)
def test_what_rounds_or_says_too_little_is_refused(line: str, message: str) -> None:
    lines = f"  %h = arith.constant 0.5 : f32\n  %y = {line} outs(%a : T) -> T"
    text = function("%a: T, %b: U", lines, "T")
    text = text.replace("T", "tensor<3x3xi32>").replace("U", "tensor<3x3xf32>")
    with pytest.raises(FuseloomError, match=message) as caught:
        from_mlir(text)
    assert caught.value.line
    assert caught.value.hint


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize("size", [1, 2, 3, 7, 8])
@pytest.mark.parametrize("start", ["1.0", "2.0", None])
def test_a_product_of_all_elements(size: int, start: str | None) -> None:
    text = generic(
        [(f"tensor<3x{size}xf32>", "(i, j) -> (i, j)")],
        ("tensor<3xf32>", "(i, j) -> (i)"), "pr", "%y = arith.mulf %a, %o : f32", start=start,
    )  # fmt: skip
    if start is None:
        with pytest.raises(FuseloomError, match="starts from no number") as caught:
            from_mlir(text)
        assert "1.0" in (caught.value.hint or "")
        return
    a = RNG.normal(size=(3, size))
    found = result(from_mlir(text), {"A": a})
    np.testing.assert_allclose(found, float(start) * a.prod(axis=1), rtol=1e-5)


def test_a_product_over_two_dimensions_of_a_sparse_matrix() -> None:
    text = generic(
        [(f"tensor<2x3xf32, {CSR}>", "(i, j) -> (i, j)")],
        ("tensor<f32>", "(i, j) -> ()"), "rr",
        "%p = arith.mulf %a, %a : f32\n%y = arith.mulf %o, %p : f32", start="1.0",
    )  # fmt: skip
    for a in (1.0 + RNG.random((2, 3)), sparse(2, 3) * np.array([[1, 0, 1], [1, 1, 1]])):
        found = result(from_mlir(text), {"A": a})
        np.testing.assert_allclose(found, np.prod(a * a), rtol=1e-5)


@pytest.mark.parametrize(
    ("writes", "at"),
    [("(i + 1, j)", np.s_[1:4]), ("(2 * i, j)", np.s_[:6:2]), ("(i, j)", np.s_[:3])],
)
@pytest.mark.parametrize("adds", [True, False])
def test_results_at_other_places(writes: str, at: slice, adds: bool) -> None:
    lines = "%s = arith.addf %o, %a : f32" if adds else "%s = arith.addf %a, %a : f32"
    text = f"""
#T = {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> {writes}>],
  iterator_types = ["parallel", "parallel"]}}
func.func @f(%A: tensor<3x4xf32, {CSR}>, %B: tensor<6x4xf32>) -> tensor<6x4xf32> {{
  %y = linalg.generic #T ins(%A : tensor<3x4xf32, {CSR}>) outs(%B : tensor<6x4xf32>) {{
  ^bb0(%a: f32, %o: f32):
    {lines}
    linalg.yield %s : f32
  }} -> tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}}"""
    if writes == "(i, j)":
        text = text.replace("6x4", "3x4")
    a = sparse(3, 4)
    b = RNG.normal(size=(3 if writes == "(i, j)" else 6, 4))
    wanted = b.copy()
    wanted[at] = b[at] + a if adds else a + a
    found = result(from_mlir(text), {"A": a, "B": b})
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_a_result_that_is_not_reduced_beside_one_that_is() -> None:
    text = """
#M = affine_map<(i, j) -> (i, j)>
#R = affine_map<(i, j) -> (i)>
func.func @f(%a: tensor<3x4xf32>, %p: tensor<3x4xf32>, %s: tensor<3xf32>)
    -> (tensor<3x4xf32>, tensor<3xf32>) {
  %y:2 = linalg.generic {indexing_maps = [#M, #M, #R], iterator_types = ["parallel", "reduction"]}
    ins(%a : tensor<3x4xf32>) outs(%p, %s : tensor<3x4xf32>, tensor<3xf32>) {
  ^bb0(%x: f32, %q: f32, %t: f32):
    %m = arith.mulf %x, %x : f32
    %n = arith.addf %m, %t : f32
    linalg.yield %m, %n : f32, f32
  } -> (tensor<3x4xf32>, tensor<3xf32>)
  return %y#0, %y#1 : tensor<3x4xf32>, tensor<3xf32>
}"""
    given = from_mlir(text)
    a, s = RNG.normal(size=(3, 4)), RNG.normal(size=3)
    values = evaluate(given.program, {"a": a, "s": s})
    first, second = (values[name].dense() for name in given.program.outputs)
    np.testing.assert_allclose(first, a * a, rtol=1e-6)
    np.testing.assert_allclose(second, s + (a * a).sum(axis=1), rtol=1e-6)


@pytest.mark.parametrize(
    ("op", "wanted"),
    [
        ("addi", np.logical_xor),
        ("subi", np.logical_xor),
        ("muli", np.logical_and),
        ("maxui", np.logical_or),
        ("maxsi", np.logical_and),
        ("cmpi slt,", lambda a, b: a & ~b),
        ("cmpi ult,", lambda a, b: ~a & b),
    ],
)
def test_arithmetic_of_one_bit(op: str, wanted: object) -> None:
    text = generic(
        [("tensor<4xi1>", "(i) -> (i)"), ("tensor<4xi1>", "(i) -> (i)")],
        ("tensor<4xi1>", "(i) -> (i)"), "p", f"%y = arith.{op} %a, %b : i1",
    )  # fmt: skip
    a, b = np.array([0, 0, 1, 1], bool), np.array([0, 1, 0, 1], bool)
    assert callable(wanted)
    np.testing.assert_array_equal(result(from_mlir(text), {"A": a, "B": b}), wanted(a, b))


def test_an_outer_sum() -> None:
    text = generic(
        [("tensor<3xf32>", "(i, j) -> (i)"), ("tensor<4xf32>", "(i, j) -> (j)")],
        ("tensor<3x4xf32>", "(i, j) -> (i, j)"), "pp", "%y = arith.subf %a, %b : f32",
    )  # fmt: skip
    a, b = RNG.normal(size=3), RNG.normal(size=4)
    found = result(from_mlir(text), {"A": a, "B": b})
    np.testing.assert_allclose(found, a[:, None] - b, rtol=1e-5)


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        ("%s = arith.addf %a, %b : f32\n%y = arith.addf %s, %a : f32", lambda a, b: 2 * a + b),
        ("%s = arith.mulf %a, %a : f32\n%y = arith.addf %s, %b : f32", lambda a, b: a * a + b),
        ("%y = arith.minimumf %a, %b : f32", np.minimum),
    ],
)
def test_sums_that_repeat_what_is_computed(lines: str, wanted: object) -> None:
    text = generic(
        [("tensor<3xf32>", "(i, j) -> (i)"), ("tensor<4x3xf32>", "(i, j) -> (j, i)")],
        ("tensor<3x4xf32>", "(i, j) -> (i, j)"), "pp", lines,
    )  # fmt: skip
    a, b = RNG.normal(size=3), RNG.normal(size=(4, 3))
    found = result(from_mlir(text), {"A": a, "B": b})
    assert callable(wanted)
    np.testing.assert_allclose(found, wanted(a[:, None], b.T), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("storage", ["", f", {CSR}"])
def test_all_conditions_hold_where_none_is_absent(storage: str) -> None:
    text = generic(
        [(f"tensor<4x2xi1{storage}>", "(i, j) -> (i, j)")],
        ("tensor<4xi1>", "(i, j) -> (i)"), "pr", "%y = arith.andi %o, %a : i1", start="true",
    ).replace("true : i1", "true")  # fmt: skip
    a = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    np.testing.assert_array_equal(result(from_mlir(text), {"A": a}), [0, 0, 0, 1])
    never = from_mlir(text.replace("constant true", "constant false"))
    np.testing.assert_array_equal(result(never, {"A": a}), [0, 0, 0, 0])


def test_conditions_that_start_from_a_sparse_tensor() -> None:
    text = f"""
#T = {{indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>],
  iterator_types = ["reduction", "parallel", "parallel"]}}
func.func @f(%A: tensor<3x2xi1>, %S: tensor<4x2xi1, {CSR}>) -> tensor<4x2xi1, {CSR}> {{
  %y = linalg.generic #T ins(%A : tensor<3x2xi1>) outs(%S : tensor<4x2xi1, {CSR}>) {{
  ^bb0(%a: i1, %o: i1):
    %s = arith.andi %o, %a : i1
    linalg.yield %s : i1
  }} -> tensor<4x2xi1, {CSR}>
  return %y : tensor<4x2xi1, {CSR}>
}}"""
    a, start = np.array([[1, 1], [0, 1], [1, 1]]), np.array([[1, 1], [0, 1], [1, 0], [0, 0]])
    found = result(from_mlir(text), {"A": a, "S": start})
    np.testing.assert_array_equal(found, start & a.all(axis=0))


def test_a_sum_is_added_to_all_rows_of_its_start() -> None:
    text = f"""
#T = {{indexing_maps = [affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (k, j)>],
  iterator_types = ["reduction", "parallel", "parallel"]}}
func.func @f(%A: tensor<3x4xf32>, %S: tensor<5x4xf32, {CSR}>) -> tensor<5x4xf32, {CSR}> {{
  %y = linalg.generic #T ins(%A : tensor<3x4xf32>) outs(%S : tensor<5x4xf32, {CSR}>) {{
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  }} -> tensor<5x4xf32, {CSR}>
  return %y : tensor<5x4xf32, {CSR}>
}}"""
    a, start = RNG.normal(size=(3, 4)), sparse(5, 4)
    found = result(from_mlir(text), {"A": a, "S": start})
    np.testing.assert_allclose(found, start + a.sum(axis=0), rtol=1e-5, atol=1e-6)


def test_a_sampled_product_where_the_output_has_elements() -> None:
    text = f"""
#T = {{indexing_maps = [affine_map<(i,j,k) -> (i,k)>, affine_map<(i,j,k) -> (k,j)>,
  affine_map<(i,j,k) -> (i,j)>], iterator_types = ["parallel", "parallel", "reduction"]}}
func.func @f(%A: tensor<4x3xf64>, %B: tensor<3x4xf64>, %S: tensor<4x4xf64, {CSR}>)
    -> tensor<4x4xf64, {CSR}> {{
  %0 = linalg.generic #T ins(%A, %B : tensor<4x3xf64>, tensor<3x4xf64>)
    outs(%S : tensor<4x4xf64, {CSR}>) {{
  ^bb(%a: f64, %b: f64, %s: f64):
    %m = arith.mulf %a, %b : f64
    %u = sparse_tensor.unary %s : f64 to f64 present={{
      ^bb0(%p: f64):
        sparse_tensor.yield %m : f64
    }} absent={{}}
    %r = sparse_tensor.reduce %s, %u, %s : f64 {{
      ^bb0(%p: f64, %q: f64):
        %t = arith.addf %p, %q : f64
        sparse_tensor.yield %t : f64
    }}
    linalg.yield %r : f64
  }} -> tensor<4x4xf64, {CSR}>
  return %0 : tensor<4x4xf64, {CSR}>
}}"""
    a, b, s = RNG.normal(size=(4, 3)), RNG.normal(size=(3, 4)), sparse(4, 4)
    found = result(from_mlir(text), {"A": a, "B": b, "S": s})
    np.testing.assert_allclose(found, np.where(s != 0, s + a @ b, 0.0), rtol=1e-4, atol=1e-5)


def test_operations_of_the_sparse_dialect_on_numbers() -> None:
    text = """
func.func @f(%x: f64, %z: f64) -> f64 {
  %u = sparse_tensor.unary %x : f64 to f64 present={
    ^bb0(%a: f64):
      %n = arith.negf %a : f64
      sparse_tensor.yield %n : f64
  } absent={
      %c = arith.constant 7.0 : f64
      sparse_tensor.yield %c : f64
  }
  %y = sparse_tensor.binary %u, %z : f64, f64 to f64 overlap={
    ^bb0(%a: f64, %b: f64):
      %m = arith.mulf %a, %b : f64
      sparse_tensor.yield %m : f64
  } left=identity right={}
  return %y : f64
}"""
    found = result(from_mlir(text), {"x": np.array(3.0), "z": np.array(5.0)})
    assert found == -15.0


def test_an_empty_tensor_with_an_encoding_holds_zeros() -> None:
    text = generic(
        [(f"tensor<3x4xf32, {CSR}>", "(i, j) -> (i, j)")],
        (f"tensor<3x4xf32, {CSR}>", "(i, j) -> (i, j)"), "pp", "%y = arith.addf %o, %a : f32",
    )  # fmt: skip
    a = sparse(3, 4)
    np.testing.assert_allclose(result(from_mlir(text), {"A": a}), a)


@pytest.mark.parametrize(
    ("op", "hint"),
    [
        ("sparse_tensor.foreach in", "no loops"),
        ("sparse_tensor.values", "before it is lowered"),
        ("linalg.fill_rng_2d", "as an argument"),
        ("memref.alloc", "before it is lowered"),
    ],
)
def test_hints_of_what_has_no_counterpart(op: str, hint: str) -> None:
    text = function("%x: tensor<4xf32>", f"  %y = {op} %x : tensor<4xf32>", "tensor<4xf32>")
    with pytest.raises(FuseloomError, match="outside the subset") as caught:
        from_mlir(text)
    assert hint in (caught.value.hint or "")


def test_sequences_of_transforms_are_left_out() -> None:
    text = function(
        "%x: tensor<4xf32>",
        "  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>",
        "tensor<4xf32>",
    )
    sequence = """
module attributes {transform.with_named_sequence} {
  transform.named_sequence @go(%root: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.exp"]} in %root : (!transform.any_op) -> ()
    transform.yield
  }
  func.func private @other(tensor<4xf32>)
}
"""
    x = RNG.normal(size=4)
    found = result(from_mlir(sequence + text), {"x": x})
    np.testing.assert_allclose(found, np.exp(x), rtol=1e-5)
    with pytest.raises(FuseloomError, match="named_sequence is no function"):
        from_mlir(sequence.replace("func.func private @other(tensor<4xf32>)", ""))
