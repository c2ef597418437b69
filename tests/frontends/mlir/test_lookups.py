"""Tables that are read at places that tensors hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from fuseloom.errors import FuseloomError
from fuseloom.frontends.mlir import ImportedMlir, from_mlir

from .files import result

RNG = np.random.default_rng(5)
TABLE = RNG.normal(size=(6, 3)).astype(np.float32)
HEAD = "%j = linalg.index {} : index"


def _type(shape: Sequence[int], element: str) -> str:
    return f"tensor<{''.join(f'{n}x' for n in shape)}{element}>"


def lookup(
    ids: Sequence[int],
    body: str,
    *,
    element: str = "i64",
    index: str | None = None,
    table: str = "tensor<6x3xf32>",
    given: str = "",
) -> str:
    """A function that reads rows of %T where the tensor %I says, in any number of dimensions.

    ``body`` makes the index ``%i`` of the element ``%a``; ``index`` is a constant in place of the
    argument.
    """
    rank = len(ids)
    dims = [f"d{n}" for n in range(rank + 1)]
    whole, rows = _type((*ids, 3), "f32"), _type(ids, element)
    maps = f"affine_map<({', '.join(dims)}) -> ({', '.join(dims[:-1])})>"
    out = f"affine_map<({', '.join(dims)}) -> ({', '.join(dims)})>"
    argument = "" if index else f"%I: {rows}, "
    constant = f"%I = arith.constant dense<{index}> : {rows}" if index else ""
    kinds = ", ".join(['"parallel"'] * (rank + 1))
    return f"""
    func.func @f({argument}{given}%T: {table}) -> {whole} {{
      {constant}
      %zero = arith.constant 0 : {element}
      %size = arith.constant 6 : {element}
      %e = tensor.empty() : {whole}
      %r = linalg.generic {{indexing_maps = [{maps}, {out}], iterator_types = [{kinds}]}}
        ins(%I : {rows}) outs(%e : {whole}) {{
      ^bb0(%a: {element}, %o: f32):
        {body}
        {HEAD.format(rank)}
        %y = tensor.extract %T[%i, %j] : {table}
        linalg.yield %y : f32
      }} -> {whole}
      return %r : {whole}
    }}"""


CAST = "%i = arith.index_cast %a : i64 to index"
WRAP = """%n = arith.cmpi slt, %a, %zero : i64
        %p = arith.addi %a, %size : i64
        %s = arith.select %n, %p, %a : i64
        %i = arith.index_cast %s : i64 to index"""
FORMS: dict[str, tuple[str, Any]] = {
    "as it is": (CAST, lambda a: a % 6),
    "checked": (
        """%i = arith.index_cast %a : i64 to index
        %c = arith.cmpi sge, %a, %zero : i64
        cf.assert %c, "index must be larger or equal to 0\"""",
        lambda a: a % 6,
    ),
    "from the end": (WRAP, lambda a: a),
    "turned round": (
        """%five = arith.constant 5 : i64
        %b = arith.subi %five, %a : i64
        %i = arith.index_cast %b : i64 to index""",
        lambda a: a % 6,
    ),
    "narrow and wide": (
        """%b = arith.trunci %a : i64 to i32
        %c = arith.extsi %b : i32 to i64
        %i = arith.index_cast %c : i64 to index""",
        lambda a: a % 6,
    ),
}


def bound(text: str, data: dict[str, Any]) -> ImportedMlir:
    given = from_mlir(text).bind(data)
    assert given.wanted == ()
    return given


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", [(), (4,), (2, 3), (2, 1, 3)], ids=str)
def test_forms(form: str, shape: tuple[int, ...]) -> None:
    body, allowed = FORMS[form]
    ids = allowed(RNG.integers(-6, 6, shape))
    wanted = TABLE[5 - ids if form == "turned round" else ids]
    given = bound(lookup(shape, body), {"I": ids, "T": TABLE})
    assert "I" not in given.program.inputs
    np.testing.assert_allclose(result(given, {}), wanted, rtol=1e-6)


def test_constants_need_no_data() -> None:
    given = from_mlir(lookup((2, 2), WRAP, index="[[0, -1], [5, 5]]"))
    assert given.wanted == ("T",)
    assert not given.lookups
    found = result(given, {"T": TABLE})
    np.testing.assert_allclose(found, TABLE[[[0, -1], [5, 5]]], rtol=1e-6)


def test_constants_that_lie_outside() -> None:
    with pytest.raises(FuseloomError, match="outside of a dimension of size 6, such as 6") as found:
        from_mlir(lookup((2,), CAST, index="[0, 6]"))
    assert found.value.line == 7


def test_resources_are_given() -> None:
    text = lookup((2,), CAST, index="0").replace("dense<0>", "dense_resource<where>")
    given = from_mlir(text)
    assert set(given.wanted) == {"I", "T"}
    assert given.resources == {"I": "where"}
    found = result(given.bind({"I": [4, 1], "T": TABLE}), {})
    np.testing.assert_allclose(found, TABLE[[4, 1]], rtol=1e-6)


SEVERAL = """
#rows = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
func.func @f(%I: tensor<4xi64>, %T: tensor<6x3xf32>, %U: tensor<SIZEx3xf32>) -> tensor<4x3xf32> {
  %c0 = arith.constant 0 : i64
  %n = arith.constant 6 : i64
  %e = tensor.empty() : tensor<4x3xf32>
  %a = linalg.generic {indexing_maps = [#rows, #all], iterator_types = ["parallel", "parallel"]}
    ins(%I : tensor<4xi64>) outs(%e : tensor<4x3xf32>) {
  ^bb0(%x: i64, %o: f32):
    %s = arith.cmpi slt, %x, %c0 : i64
    %p = arith.addi %x, %n : i64
    %q = arith.select %s, %p, %x : i64
    %k = arith.index_cast %q : i64 to index
    %j = linalg.index 1 : index
    %y = tensor.extract %T[%k, %j] : tensor<6x3xf32>
    linalg.yield %y : f32
  } -> tensor<4x3xf32>
  %b = linalg.generic {indexing_maps = [#rows, #all, #all],
      iterator_types = ["parallel", "parallel"]}
    ins(%I, %a : tensor<4xi64>, tensor<4x3xf32>) outs(%e : tensor<4x3xf32>) {
  ^bb0(%x: i64, %v: f32, %o: f32):
    %s = arith.cmpi slt, %x, %c0 : i64
    %p = arith.addi %x, %n : i64
    %q = arith.select %s, %p, %x : i64
    %k = arith.index_cast %q : i64 to index
    %j = linalg.index 1 : index
    %u = tensor.extract %U[%k, %j] : tensor<SIZEx3xf32>
    %w = arith.sitofp %x : i64 to f32
    %z = arith.mulf %u, %w : f32
    %y = arith.addf %v, %z : f32
    linalg.yield %y : f32
  } -> tensor<4x3xf32>
  return %b : tensor<4x3xf32>
}"""


@pytest.mark.parametrize("size", [6, 8])
def test_tables_share_what_selects(size: int) -> None:
    given = from_mlir(SEVERAL.replace("SIZE", str(size)))
    assert len(given.lookups) == (1 if size == 6 else 2)
    ids, other = np.array([3, -1, 3, 0]), RNG.normal(size=(size, 3)).astype(np.float32)
    with_data = given.bind({"I": ids, "T": TABLE, "U": other})
    wrapped = np.where(ids < 0, ids + 6, ids)
    wanted = TABLE[wrapped] + other[wrapped] * ids[:, None]
    np.testing.assert_allclose(result(with_data, {}), wanted, rtol=1e-5)


NESTED = """
#one = affine_map<(i) -> (i)>
func.func @f(%P: tensor<5xi64>, %I: tensor<3xi64>, %T: tensor<7xf32>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xi64>
  %q = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
    ins(%I : tensor<3xi64>) outs(%e : tensor<3xi64>) {
  ^bb0(%x: i64, %o: i64):
    %k = arith.index_cast %x : i64 to index
    %y = tensor.extract %P[%k] : tensor<5xi64>
    linalg.yield %y : i64
  } -> tensor<3xi64>
  %f = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
    ins(%q : tensor<3xi64>) outs(%f : tensor<3xf32>) {
  ^bb0(%x: i64, %o: f32):
    %k = arith.index_cast %x : i64 to index
    %y = tensor.extract %T[%k] : tensor<7xf32>
    linalg.yield %y : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}"""


def test_places_that_are_looked_up() -> None:
    table = RNG.normal(size=7).astype(np.float32)
    given = bound(NESTED, {"P": [6, 5, 0, 1, 3], "I": [4, 4, 0], "T": table})
    np.testing.assert_allclose(result(given, {}), table[[3, 3, 6]], rtol=1e-6)


def test_an_element_outside_of_regions() -> None:
    text = """
    func.func @f(%I: tensor<4xi32>, %T: tensor<6x3xf32>) -> f32 {
      %c2 = arith.constant 2 : index
      %c1 = arith.constant 1 : index
      %a = tensor.extract %I[%c2] : tensor<4xi32>
      %i = arith.index_cast %a : i32 to index
      %x = tensor.extract %T[%i, %c1] : tensor<6x3xf32>
      return %x : f32
    }"""
    found = result(bound(text, {"I": [0, 0, 4, 0], "T": TABLE}), {})
    np.testing.assert_allclose(found, TABLE[4, 1], rtol=1e-6)


BAG = """
func.func @f(%I: tensor<5xi64>, %S: tensor<2xi64>, %T: tensor<6x3xf32>) -> tensor<2x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, k, j) -> (k)>, affine_map<(b, k, j) -> (b)>,
      affine_map<(b, k, j) -> (b, j)>], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%I, %S : tensor<5xi64>, tensor<2xi64>) outs(%start : tensor<2x3xf32>) {
  ^bb0(%a: i64, %s: i64, %o: f32):
    %k = linalg.index 1 : index
    %n = arith.index_cast %k : index to i64
    %c = arith.cmpi sle, %s, %n : i64
    %i = arith.index_cast %a : i64 to index
    %j = linalg.index 2 : index
    %x = tensor.extract %T[%i, %j] : tensor<6x3xf32>
    %y = arith.addf %x, %o : f32
    %z = arith.select %c, %y, %o : f32
    linalg.yield %z : f32
  } -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}"""


def test_a_bag_adds_what_a_condition_chooses() -> None:
    ids = np.array([5, 0, 0, 2, 1])
    found = result(bound(BAG, {"I": ids, "S": [0, 3], "T": TABLE}), {})
    wanted = [TABLE[ids].sum(0), TABLE[ids[3:]].sum(0)]
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"I": [0, 6]}, "index I has entries outside of a dimension of size 6, such as 6"),
        ({"I": [-1, 0]}, "such as -1"),
        ({"I": [2**40, 0]}, "outside of a dimension of size 6"),
        ({"I": [0.5, 1]}, "index I holds 0.5"),
        ({"I": [float("nan"), 1]}, "index I holds nan"),
        ({"I": [0, 1, 2]}, "tensor I has shape 2, the array 3"),
        ({"I": ["0", "1"]}, "an index tensor is an array of integers"),
        ({"I": np.zeros(2, complex)}, "an index tensor is an array of integers"),
        ({"I": [[0], [1, 2]]}, "an index tensor is an array of integers"),
        ({"J": [0, 1]}, "no input is called 'J'"),
        ({"T": TABLE[:2]}, "tensor T has shape 6x3"),
    ],
)
def test_data_that_do_not_fit(data: dict[str, Any], message: str) -> None:
    with pytest.raises(FuseloomError, match=message) as found:
        from_mlir(lookup((2,), CAST)).bind(data)
    assert found.value.hint


def test_index_tensors_are_given_together() -> None:
    with pytest.raises(FuseloomError, match="needs I, too"):
        from_mlir(NESTED).bind({"P": [0] * 5})


def test_bound_in_parts() -> None:
    given = from_mlir(lookup((2,), CAST))
    assert given.wanted == ("T", "I")
    assert given.indices == {"I": (2,)}
    first = given.bind({"T": TABLE})
    assert first.wanted == ("I",)
    second = first.bind({"I": [1, 1]})
    assert second.wanted == ()
    again = second.bind({"I": [0, 5]})
    np.testing.assert_allclose(result(again, {}), TABLE[[0, 5]], rtol=1e-6)


def test_random_places_exist() -> None:
    given = from_mlir(NESTED)
    for seed in range(3):
        assert given.bind({**given.drawn(seed), "T": np.ones(7)}).wanted == ()


def test_places_computed_of_numbers() -> None:
    text = lookup((2,), "%i = arith.fptoui %a : f32 to index", element="f32")
    text = text.replace("constant 0", "constant 0.0").replace("constant 6", "constant 6.0")
    with pytest.raises(FuseloomError, match="computed of the numbers of I"):
        from_mlir(text)
    of_numbers = NESTED.replace("%P: tensor<5xi64>", "%P: tensor<5xf32>").replace(
        "%y = tensor.extract %P[%k] : tensor<5xi64>",
        "%v = tensor.extract %P[%k] : tensor<5xf32>\n    %z = arith.constant 0.0 : f32\n"
        "    %c = arith.cmpf ogt, %v, %z : f32\n    %y = arith.extui %c : i1 to i64",
    )
    with pytest.raises(FuseloomError, match="computed of the numbers of P") as found:
        from_mlir(of_numbers)
    assert "argument" in str(found.value.hint)


def test_open_sizes() -> None:
    text = lookup((2,), CAST).replace("tensor<2x", "tensor<?x").replace(
        "%e = tensor.empty()", "%c0 = arith.constant 0 : index\n"
        "%n = tensor.dim %I, %c0 : tensor<?xi64>\n%e = tensor.empty(%n)",
    )  # fmt: skip
    given = from_mlir(text, shapes={"I": (5,)}).bind({"I": [5, 4, 3, 2, 1], "T": TABLE})
    np.testing.assert_allclose(result(given, {}), TABLE[:0:-1], rtol=1e-6)
    assert from_mlir(text).indices["I"][0] > 0
