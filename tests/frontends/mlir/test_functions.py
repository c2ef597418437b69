"""Functions: their headers are orders, each is a region, reshapes cut them."""

from __future__ import annotations

from engine.frontends.mlir import from_mlir
from tests.frontends.mlir.texts import statements

from .files import imported, text_of


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
