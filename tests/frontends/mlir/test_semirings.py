"""Operations of the sparse dialect against NumPy, with masks for what is stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fuseloom.errors import FuseloomError
from fuseloom.frontends.mlir import from_mlir
from fuseloom.program import evaluate

from .files import generic, result

DCSR = "#sparse_tensor.encoding<{map = (d0, d1) -> (d0 : compressed, d1 : compressed)}>"
TYPE = f"tensor<4x5xf32, {DCSR}>"
MAP = "(i, j) -> (i, j)"
A = np.zeros((4, 5), np.float32)
A[[0, 0, 1, 3], [0, 3, 2, 4]] = [0.5, -2.0, 3.0, 1.25]
B = np.zeros((4, 5), np.float32)
B[[0, 1, 1, 3, 3], [3, 2, 4, 0, 4]] = [-1.5, 3.0, 0.25, -4.0, 1.0]
P, Q = A != 0, B != 0
ROW, COLUMN = np.indices((4, 5))
INDICES = "%row = linalg.index 0 : index\n%column = linalg.index 1 : index\n"


def _region(names: str, body: str) -> str:
    block = f"^bb0({', '.join(f'%{x}: f32' for x in names)}):" if names else ""
    return f"{{ {block}\n{body}\nsparse_tensor.yield %z : f32 }}"


def _text(body: str, count: int = 2) -> str:
    return generic([(TYPE, MAP)] * count, (TYPE, MAP), "pp", INDICES + body,
                   before="%k = arith.constant 2.5 : f32")  # fmt: skip


UNARY: dict[str, tuple[str, str, Any]] = {
    "added where stored": (
        _region("x", "%z = arith.addf %x, %k : f32"), "{}", np.where(P, A + 2.5, 0),
    ),
    "handed on": (_region("x", "%z = arith.addf %x, %x : f32"), "{}", A + A),
    "what is missing": ("{}", "{ sparse_tensor.yield %k : f32 }", np.where(P, 0, 2.5)),
    "both": (_region("x", "%z = arith.negf %x : f32"), "{ sparse_tensor.yield %k : f32 }",
             np.where(P, -A, 2.5)),
    "clipped": (
        _region("x", "%m = arith.maximumf %x, %k : f32\n%z = arith.minimumf %m, %k : f32"), "{}",
        np.where(P, 2.5, 0),
    ),
    "its index": (
        _region("x", "%v = arith.index_cast %column : index to i32\n"
                     "%w = arith.sitofp %v : i32 to f32\n%z = arith.mulf %x, %w : f32"),
        "{}", A * COLUMN,
    ),
    "another number below the diagonal": (
        _region("x", "%c = arith.cmpi ugt, %row, %column : index\n"
                     "%z = arith.select %c, %k, %x : f32"),
        "{}", np.where(P, np.where(ROW > COLUMN, 2.5, A), 0),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str) -> None:
    present, absent, wanted = UNARY[name]
    text = _text(
        f"%y = sparse_tensor.unary %a : f32 to f32 present = {present} absent = {absent}", 1
    )
    np.testing.assert_allclose(result(from_mlir(text), {"A": A}), wanted, rtol=1e-6)


ADD, SUB = "%z = arith.addf %x, %w : f32", "%z = arith.subf %x, %w : f32"
NEGATED = _region("x", "%z = arith.negf %x : f32")
BINARY: dict[str, tuple[str, str, str, Any]] = {
    "sum": (_region("xw", ADD), "identity", "identity", A + B),
    "sum by regions": (
        _region("xw", ADD), _region("z", ""), _region("z", ""), A + B,
    ),
    "difference": (_region("xw", SUB), "identity", NEGATED, A - B),
    "product": (_region("xw", "%z = arith.mulf %x, %w : f32"), "{}", "{}", A * B),
    "smaller": (
        _region("xw", "%z = arith.minimumf %x, %w : f32"), "identity", "identity",
        np.where(P & Q, np.minimum(A, B), A + B),
    ),
    "sum where both are": (_region("xw", ADD), "{}", "{}", np.where(P & Q, A + B, 0)),
    "set difference": ("{}", "identity", "{}", np.where(Q, 0, A)),
    "one of them": ("{}", "identity", NEGATED, np.where(P & Q, 0, A - B)),
    "sum where both are, else the right one": (
        _region("xw", ADD), "{}", NEGATED, np.where(Q, np.where(P, A + B, -B), 0),
    ),
    "number": (_region("xw", "%z = arith.addf %k, %k : f32"), "{}", "{}", np.where(P & Q, 5.0, 0)),
    "triangles": (
        _region("xw", "%c = arith.cmpi uge, %column, %row : index\n"
                "%s = arith.addf %x, %w : f32\n%d = arith.subf %x, %w : f32\n"
                "%z = arith.select %c, %s, %d : f32"),
        "identity",
        _region("w", "%c = arith.cmpi uge, %column, %row : index\n"
                "%n = arith.negf %w : f32\n%z = arith.select %c, %w, %n : f32"),
        np.where(COLUMN >= ROW, A + B, A - B),
    ),
    "thresholds": (
        _region("xw", "%d = arith.subf %x, %w : f32\n%c = arith.cmpf oge, %d, %k : f32\n"
                "%z = arith.select %c, %k, %d : f32"),
        _region("x", "%c = arith.cmpf ole, %x, %k : f32\n%z = arith.select %c, %k, %x : f32"),
        "{}",
        np.where(P, np.where(Q, np.minimum(A - B, 2.5), np.maximum(A, 2.5)), 0),
    ),
    "equal": (
        _region("xw", "%c = arith.cmpf oeq, %x, %w : f32\n%z = arith.uitofp %c : i1 to f32"),
        "{}", "{}", np.where(P & Q & (A == B), 1.0, 0),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str) -> None:
    overlap, left, right, wanted = BINARY[name]
    text = _text(
        f"%y = sparse_tensor.binary %a, %b : f32, f32 to f32\n"
        f"overlap = {overlap}\nleft = {left}\nright = {right}"
    )
    np.testing.assert_allclose(result(from_mlir(text), {"A": A, "B": B}), wanted, rtol=1e-6)


def test_what_is_computed_where_both_are_has_elements_there_only() -> None:
    overlap = _region("xw", ADD)
    text = _text(
        f"%y = sparse_tensor.binary %a, %b : f32, f32 to f32\n"
        f"overlap = {overlap}\nleft = {{}}\nright = {{}}"
    )
    given = from_mlir(text)
    found = evaluate(given.program, {"A": A, "B": B})[given.program.outputs[0]]
    np.testing.assert_array_equal(found.present, P & Q)


def test_an_index_is_everywhere() -> None:
    overlap = (
        "{ ^bb0(%x: f32, %i: index):\n%v = arith.index_cast %i : index to i32\n"
        "%z = arith.sitofp %v : i32 to f32\nsparse_tensor.yield %z : f32 }"
    )
    text = _text(
        f"%y = sparse_tensor.binary %a, %column : f32, index to f32\n"
        f"overlap = {overlap}\nleft = {{}}\nright = {{}}", 1,
    )  # fmt: skip
    np.testing.assert_array_equal(result(from_mlir(text), {"A": A}), np.where(P, COLUMN, 0))


SELECT: dict[str, tuple[str, Any]] = {
    "arith.cmpi ugt, %row, %column : index": (ROW > COLUMN),
    "arith.cmpi ule, %row, %column : index": (ROW <= COLUMN),
    "arith.cmpf ogt, %x, %k : f32": (A > 2.5),
    "arith.cmpf ole, %x, %k : f32": (A <= 2.5),
    "arith.cmpf one, %x, %k : f32": (A != 2.5),
}


@pytest.mark.parametrize("condition", SELECT)
def test_select(condition: str) -> None:
    text = _text(
        "%y = sparse_tensor.select %a : f32 {\n^bb0(%x: f32):\n"
        f"%c = {condition}\nsparse_tensor.yield %c : i1 }}", 1,
    )  # fmt: skip
    given = from_mlir(text)
    np.testing.assert_array_equal(result(given, {"A": A}), np.where(SELECT[condition], A, 0))
    if "index" in condition:  # what is known is left out, not zero
        found = evaluate(given.program, {"A": A, **given.data})[given.program.outputs[0]]
        np.testing.assert_array_equal(found.present, P & SELECT[condition])


VECTOR = "tensor<4xf32, #sparse_tensor.encoding<{map = (d0) -> (d0 : compressed)}>>"
REDUCE: dict[str, tuple[str, str, Callable[[Any], Any]]] = {
    "sum": ("0.0", "%z = arith.addf %x, %w : f32", lambda row: row.sum()),
    "smallest": ("1.0e999", "%z = arith.minimumf %x, %w : f32", lambda row: row.min()),
    "largest": ("0xFF800000", "%z = arith.maximumf %x, %w : f32", lambda row: row.max()),
    "smallest by a choice": (
        "0x7F800000",
        "%c = arith.cmpf olt, %x, %w : f32\n%z = arith.select %c, %x, %w : f32",
        lambda row: row.min(),
    ),
}


def _reduced(identity: str, body: str) -> str:
    return generic(
        [(TYPE, MAP)], (VECTOR, "(i, j) -> (i)"), "pr",
        f"%y = sparse_tensor.reduce %a, %o, %k : f32 {_region('xw', body)}",
        before=f"%k = arith.constant {identity} : f32",
    )  # fmt: skip


@pytest.mark.parametrize("name", REDUCE)
def test_reduce(name: str) -> None:
    identity, body, wanted = REDUCE[name]
    found = result(from_mlir(_reduced(identity, body)), {"A": A})
    rows = [wanted(a[p]) if p.any() else 0.0 for a, p in zip(A, P, strict=True)]
    np.testing.assert_allclose(found, rows, rtol=1e-6)


@pytest.mark.parametrize(
    ("identity", "body"),
    [("1.0", "%z = arith.mulf %x, %w : f32"), ("1.0", ADD), ("0.0", REDUCE["smallest"][1])],
)
def test_other_reductions_are_refused(identity: str, body: str) -> None:
    with pytest.raises(FuseloomError, match="no sum from 0, and no maximum") as caught:
        from_mlir(_reduced(identity, body))
    assert caught.value.line
    assert "arith.addf" in (caught.value.hint or "")


def test_the_smallest_sum_of_paths() -> None:
    """A product of matrices over minimum and sum: an outer sum where both have elements."""
    body = (
        f"%s = sparse_tensor.binary %a, %b : f32, f32 to f32\noverlap = {_region('xw', ADD)}\n"
        f"left = {{}}\nright = {{}}\n"
        f"%y = sparse_tensor.reduce %s, %o, %k : f32 "
        f"{_region('xw', '%z = arith.minimumf %x, %w : f32')}"
    )
    square = f"tensor<4x4xf32, {DCSR}>"
    text = generic(
        [(TYPE, "(i, j, k) -> (i, k)"), (f"tensor<5x4xf32, {DCSR}>", "(i, j, k) -> (k, j)")],
        (square, "(i, j, k) -> (i, j)"), "ppr", body, before="%k = arith.constant 1.0e999 : f32",
    )  # fmt: skip
    paths = np.where(P[:, :, None] & Q.T[None], A[:, :, None] + B.T[None], np.inf).min(1)
    wanted = np.where(np.isfinite(paths), paths, 0.0)
    np.testing.assert_allclose(result(from_mlir(text), {"A": A, "B": B.T}), wanted, rtol=1e-6)


@pytest.mark.parametrize(("depth", "read"), [(5, True), (12, False)])
def test_regions_in_regions(depth: int, read: bool) -> None:
    line = "%z = arith.addf %x, %k : f32"
    for _ in range(depth):
        line = (
            f"%z = sparse_tensor.unary %x : f32 to f32 present = {_region('x', line)} absent = {{}}"
        )
    text = _text(line.replace("%z", "%y", 1).replace("%x", "%a", 1), 1)
    if read:
        np.testing.assert_allclose(result(from_mlir(text), {"A": A}), np.where(P, A + 2.5, 0))
    else:
        with pytest.raises(FuseloomError, match="regions are nested more than"):
            from_mlir(text)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("sparse_tensor.unary %a : f32 to f32 present = {} absent = {}", "no elements at all"),
        ("sparse_tensor.binary %a, %a : f32, f32 to f32 overlap = {} left = {} right = {}",
         "no elements at all"),
        ("sparse_tensor.unary %a : f32 to f32 present = {} absent = "
         "{ sparse_tensor.yield %b : f32 }", "depends on data"),
        (f"sparse_tensor.unary %a : f32 to f32 present = {_region('xw', ADD)} absent = {{}}",
         "a region with 2 arguments"),
    ],
)  # fmt: skip
def test_refusals(line: str, message: str) -> None:
    with pytest.raises(FuseloomError, match=message) as caught:
        from_mlir(_text(f"%y = {line}"))
    assert caught.value.line
    assert caught.value.hint
