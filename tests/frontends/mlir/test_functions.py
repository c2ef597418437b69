"""Functions: their headers are orders, each is a region, reshapes cut them."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.errors import FuseloomError
from fuseloom.frontends.mlir import from_mlir
from fuseloom.program import evaluate
from tests.frontends.mlir.texts import statements

from .files import imported, result, text_of


def test_headers_are_orders() -> None:
    assert imported("spmm_gustavson").schedule == ""  # i, k, j is how it reads
    assert imported("inner_product").schedule == "order C: i,j,k"
    assert imported("csf3").schedule == "order A: k,i,j"


def test_an_order_that_memory_forbids_is_no_wish() -> None:
    """The result is stored by rows, so k, i, j cannot be asked for."""
    assert imported("outer_product").schedule == "order C: d2,d0,d1"
    text = text_of("outer_product").replace("(d2, d0, d1)", "(d2, d1, d0)")
    assert from_mlir(text).schedule == ""


def test_functions_are_regions() -> None:
    given = imported("two_regions")
    assert given.schedule == "fuse t0..t1 where possible\nfuse t0_2..t1_2 where possible"
    assert given.program.name == "two_layers"
    assert statements("two_regions")[2] == "t0_2[i,j] = A[i,k] * t1[k,j]"
    apart = imported("apart")
    assert apart.schedule == "fuse t0..t1 where possible"
    assert apart.program.outputs == ("t1", "t0_2")
    assert apart.arguments == {"a": ("first", 0), "b": ("first", 1), "a_2": ("second", 0)}


def test_reshapes_cut_regions() -> None:
    assert imported("reshapes").schedule == "fuse t0..t1 where possible\nfuse t3..t4 where possible"
    assert statements("reshapes")[2] == "h[e0,e1,e2] = reshape(t1[d0,d1])"


SEVERAL = """
func.func @broken(%a: tensor<4xf32>) -> tensor<4xf32> { %0 = arith.constant | }
func.func @buffers(%a: memref<4xf32>) { return }
func.func @loop(%a: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %r = scf.for %i = %n to %n step %n iter_args(%x = %a) -> (tensor<4xf32>) {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
func.func @good(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.exp ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @unranked(%a: tensor<*xf32>) -> tensor<*xf32> { return %a : tensor<*xf32> }
func.func @blocks(%a: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^bb1
^bb1:
  return %a : tensor<4xf32>
}
"""


@pytest.mark.parametrize("name", ["good", "@good"])
def test_a_function_is_read_by_its_name_whatever_the_others_hold(name: str) -> None:
    given = from_mlir(SEVERAL, function=name)
    a = np.arange(4.0)
    np.testing.assert_allclose(result(given, {"a": a}), np.exp(a), rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("broken", 2, "'|' has no meaning"),
        ("buffers", 3, "it is a memref; buffers are outside"),
        ("loop", 5, "scf.for is outside the subset"),
        ("unranked", 14, "a tensor without a rank"),
        ("blocks", 17, "a function of several blocks"),
        ("other", 1, "@other is not defined"),
        (None, 2, "'|' has no meaning"),
    ],
)
def test_what_the_named_function_needs_is_refused(
    name: str | None, line: int, message: str
) -> None:
    with pytest.raises(FuseloomError) as caught:
        from_mlir(SEVERAL, function=name)
    assert message in caught.value.message
    assert caught.value.line == line
    assert caught.value.hint


CSR = "#sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>"
RETURNS = {
    "return %a : tensor<2x3xf32>": lambda a: a,
    f"%0 = sparse_tensor.convert %a : tensor<2x3xf32> to tensor<2x3xf32, {CSR}>\n"
    f"return %0 : tensor<2x3xf32, {CSR}>": lambda a: a,
    "%0 = arith.constant dense<[[1.0, 0.0, 2.0], [0.0, 3.0, 4.0]]> : tensor<2x3xf32>\n"
    "return %0 : tensor<2x3xf32>": lambda a: np.array([[1, 0, 2], [0, 3, 4]]),
    "%0 = arith.constant sparse<[[0, 2], [1, 1]], [5.0, -1.0]> : tensor<2x3xf32>\n"
    "return %0 : tensor<2x3xf32>": lambda a: np.array([[0, 0, 5], [0, -1, 0]]),
    "%c = arith.constant 2.0 : f32\n%e = tensor.empty() : tensor<2x3xf32>\n"
    "%0 = linalg.fill ins(%c : f32) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>\n"
    "return %0 : tensor<2x3xf32>": lambda a: np.full((2, 3), 2.0),
    "%e = tensor.empty() : tensor<3x2xf32>\n%0 = linalg.transpose ins(%a : tensor<2x3xf32>) "
    "outs(%e : tensor<3x2xf32>) permutation = [1, 0]\nreturn %0 : tensor<3x2xf32>": lambda a: a.T,
    "%e = tensor.empty() : tensor<2x4x3xf32>\n%0 = linalg.broadcast ins(%a : tensor<2x3xf32>) "
    "outs(%e : tensor<2x4x3xf32>) dimensions = [1]\nreturn %0 : tensor<2x4x3xf32>": (
        lambda a: np.repeat(a[:, None], 4, 1)
    ),
}


@pytest.mark.parametrize("lines", RETURNS)
def test_what_may_be_returned(lines: str) -> None:
    type_ = "tensor" + lines.rpartition(" : tensor")[2]
    given = from_mlir(f"func.func @f(%a: tensor<2x3xf32>) -> {type_} {{\n{lines}\n}}")
    a = np.arange(1.0, 7.0).reshape(2, 3)
    np.testing.assert_array_equal(result(given, {"a": a}), RETURNS[lines](a))


def test_where_nothing_is_returned_the_results_that_nothing_reads_are() -> None:
    given = from_mlir(f"""
    func.func private @printed(tensor<2x2xf32>)
    func.func @main() {{
      %n = arith.constant 0 : index
      %m = arith.constant dense<[[0.0, 1.5], [3.0, 0.0]]> : tensor<2x2xf32>
      %s = sparse_tensor.convert %m : tensor<2x2xf32> to tensor<2x2xf32, {CSR}>
      %e = tensor.empty() : tensor<2x2xf32>
      %p = linalg.matmul ins(%s, %m : tensor<2x2xf32, {CSR}>, tensor<2x2xf32>)
        outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
      %v = vector.transfer_read %p[%n, %n], %n : tensor<2x2xf32>, vector<2x2xf32>
      vector.print %v : vector<2x2xf32>
      call @printed(%p) : (tensor<2x2xf32>) -> ()
      bufferization.dealloc_tensor %s : tensor<2x2xf32, {CSR}>
      return
    }}""")
    m = np.array([[0.0, 1.5], [3.0, 0.0]])
    np.testing.assert_allclose(result(given, {}), m @ m)
    assert any("the outputs are what nothing reads: p" in note for note in given.notes)
    assert any("left out" in note and "vector.transfer_read" in note for note in given.notes)


def test_numbers_that_are_given_are_computed_with() -> None:
    given = from_mlir("""
    func.func @f(%p: f32, %q: f32) -> f32 {
      %two = arith.constant 2.0 : f32
      %four = arith.mulf %two, %two : f32
      %s = arith.addf %p, %q : f32
      %r = arith.mulf %s, %four : f32
      return %r : f32
    }""")
    assert result(given, {"p": np.array(0.5), "q": np.array(1.0)}) == 6.0


def test_tensors_that_others_make_are_inputs() -> None:
    given = from_mlir(f"""
    func.func @f(%file: !llvm.ptr) -> tensor<2x3xf32, {CSR}> {{
      %0 = sparse_tensor.new %file : !llvm.ptr to tensor<2x3xf32, {CSR}>
      return %0 : tensor<2x3xf32, {CSR}>
    }}""")
    (name,) = given.wanted
    a = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(result(given, {name: a}), a)
    assert any("given as an input" in note for note in given.notes)


def test_sizes_that_a_region_or_a_slice_needs_may_be_given_or_are_chosen() -> None:
    text = """
    func.func @f(%a: tensor<?xf32>) -> tensor<?xf32> {
      %c0 = arith.constant 0 : index
      %n = tensor.dim %a, %c0 : tensor<?xf32>
      %e = tensor.empty(%n) : tensor<?xf32>
      %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
        iterator_types = ["parallel"]} ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) {
      ^bb0(%x: f32, %o: f32):
        %i = linalg.index 0 : index
        %m = arith.subi %n, %i : index
        %v = arith.index_cast %m : index to i32
        %w = arith.sitofp %v : i32 to f32
        %y = arith.mulf %x, %w : f32
        linalg.yield %y : f32
      } -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }"""
    assert any("a 4; give others" in note for note in from_mlir(text).notes)
    a = np.arange(1.0, 6.0)
    found = result(from_mlir(text, shapes={"a": (5,)}), {"a": a})
    np.testing.assert_array_equal(found, a * (5 - np.arange(5)))


@pytest.mark.parametrize("order", ["%r, %d", "%d, %r", "%d, %n, %r"])
def test_sizes_and_numbers_beside_tensors_are_left_out(order: str) -> None:
    types = {"%r": "tensor<2x3xf32>", "%d": "index", "%n": "f32"}
    listed = ", ".join(types[x] for x in order.split(", "))
    text = f"""
    func.func @f(%B: tensor<2x3xf32>) -> ({listed}) {{
      %c1 = arith.constant 1 : index
      %n = arith.constant 2.0 : f32
      %d = tensor.dim %B, %c1 : tensor<2x3xf32>
      %r = linalg.exp ins(%B : tensor<2x3xf32>) outs(%B : tensor<2x3xf32>) -> tensor<2x3xf32>
      return {order} : {listed}
    }}"""
    given = from_mlir(text)
    np.testing.assert_allclose(result(given, {"B": np.zeros((2, 3))}), np.ones((2, 3)))
    assert any("%d" in note and "the number 3" in note for note in given.notes)
    alone = text.replace(order, "%d").replace(f"({listed})", "index").replace(listed, "index")
    with pytest.raises(FuseloomError, match="returns a size"):
        from_mlir(alone)


def test_data_of_arguments_that_no_result_needs_are_left_out() -> None:
    text = """
    func.func @f(%a: tensor<3xf32>, %b: tensor<3xf32>, %n: index, %m: memref<3xf32>)
        -> tensor<3xf32> {
      %r = linalg.exp ins(%a : tensor<3xf32>) outs(%b : tensor<3xf32>) -> tensor<3xf32>
      return %r : tensor<3xf32>
    }"""
    given = from_mlir(text)
    assert given.unread == ("b", "n", "m")
    x = np.arange(3.0)
    data = given.bind({"a": x, "b": x, "n": 4, "m": x}).data
    assert tuple(data) == ("a",)
    with pytest.raises(FuseloomError, match="no input is called 'q'"):
        given.bind({"a": x, "q": x})


@pytest.mark.parametrize("storage", ["", "compressed", "dense"])
def test_how_many_elements_are_stored(storage: str) -> None:
    levels = f"(i : dense, j : {storage})"
    encoding = f", #sparse_tensor.encoding<{{ map = (i, j) -> {levels} }}>" if storage else ""
    t = f"tensor<2x3xf32{encoding}>"
    text = f"""
    func.func @f(%B: {t}) -> (f32, index) {{
      %n = sparse_tensor.number_of_entries %B : {t}
      %i = arith.index_cast %n : index to i64
      %x = arith.sitofp %i : i64 to f32
      %h = arith.constant 0.5 : f32
      %r = arith.mulf %x, %h : f32
      %o = arith.constant dense<1.0> : tensor<f32>
      %y = linalg.map {{ arith.addf }} ins(%o, %o : tensor<f32>, tensor<f32>)
        outs(%o : tensor<f32>)
      return {"%y" if storage != "compressed" else "%r"}, %n : f32, index
    }}"""
    if storage != "compressed":
        text = text.replace("-> (f32, index)", "-> (tensor<f32>, index)").replace(
            ": f32, index", ": tensor<f32>, index"
        )
    b = np.array([[1, 0, 2], [0, 0, 3.0]])
    given = from_mlir(text)
    values = evaluate(given.program, {**dict.fromkeys(given.wanted, b), **given.data})
    found = [float(values[name].dense()) for name in given.program.outputs]
    assert found == ([1.5, 3.0] if storage == "compressed" else [2.0])
    if storage != "compressed":
        assert any("the number 6" in note for note in given.notes)


def test_attributes_stand_behind_every_operation() -> None:
    text = """
    func.func @f(%a: tensor<2x3xf32>, %b: tensor<1x3xf32>) -> tensor<3x3xf32> {
      %z = arith.constant {tag = 1 : i32} 0.0 : f32
      %o = arith.constant 0 : index
      %n = tensor.dim {tag} %a, %o {tag = "x"} : tensor<2x3xf32>
      %e = tensor.empty() {tag} : tensor<2x3xf32>
      %f = linalg.fill {tag} ins(%z : f32) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
      %x = tensor.extract %b[%o, %o] {tag = [1, 2]} : tensor<1x3xf32>
      %s = tensor.splat %x {tag} : tensor<2x3xf32>
      %v = tensor.extract_slice %a[0, 0] [2, 3] [1, 1] {tag} : tensor<2x3xf32> to tensor<2x3xf32>
      %i = tensor.insert_slice %v into %f[0, 0] [2, 3] [1, 1] {tag}
        : tensor<2x3xf32> into tensor<2x3xf32>
      %g = tensor.collapse_shape %i [[0, 1]] {tag} : tensor<2x3xf32> into tensor<6xf32>
      %h = tensor.expand_shape %g [[0, 1]] output_shape [2, 3] {tag}
        : tensor<6xf32> into tensor<2x3xf32>
      %p = tensor.pad %h low[0, 0] high[0, 0] {
      ^bb0(%k: index, %l: index):
        tensor.yield %z : f32
      } {tag} : tensor<2x3xf32> to tensor<2x3xf32>
      %q = tensor.cast %p {tag} : tensor<2x3xf32> to tensor<2x3xf32>
      %w = linalg.map { arith.addf {tag} } ins(%q, %s : tensor<2x3xf32>, tensor<2x3xf32>)
        outs(%e : tensor<2x3xf32>)
      %c = tensor.concat dim(0) %w, %b {tag = {a = 1, b = "}"}}
        : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
      return {tag} %c : tensor<3x3xf32>
    }""".replace("tensor.dim {tag} ", "tensor.dim ")
    a, b = np.arange(6.0).reshape(2, 3), np.arange(3.0)[None] + 1
    found = result(from_mlir(text), {"a": a, "b": b})
    np.testing.assert_allclose(found, np.concatenate([a + 1, b]))
