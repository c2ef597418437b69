"""What cannot be built is refused with what, where, why and the way out."""

import pytest

from engine.errors import FuseloomError, LoweringError, OrderError
from engine.program import parse
from engine.samml import compiler
from engine.samml.compiler import compile_program
from tests.table.tables import compiled

PRODUCT = "A: 4x5 {}\nX: 5x3 {}\nT[i,j] = A[i,k] * X[k,j]"
CHAIN = """
    A: 4x5 dense
    B: 5x6 dense
    C: 6x3 dense
    T[i,j] = A[i,k] * B[k,j]
    D[i,l] = T[i,j] * C[j,l]
"""
SOFTMAX = """
    A: 4x5 dense
    E: 4x5 dense order 1,0
    option broadcast_add dense
    L[i,j] = 0.5 * A[i,j]
    x[i] = max[j] L[i,j]
    E[i,j] = L[i,j] / x[i]
"""


def refusal(program: str, schedule: str = "", order: str | None = None) -> FuseloomError:
    with pytest.raises(FuseloomError) as caught:
        compiled(program, schedule, order)
    assert "\n" not in str(caught.value)
    assert caught.value.hint
    return caught.value


def test_an_illegal_order() -> None:
    problem = refusal(PRODUCT.format("csr", "csr"), order="i,j,k")
    assert isinstance(problem, OrderError)
    assert str(problem) == (
        "order i→j→k rejected: k must stay outside j, because X is stored (k, j) "
        "(hint: move k before j)"
    )


def test_an_order_that_takes_too_large_an_accumulator() -> None:
    shape = "x".join("1" * 8)
    text = f"A: {shape} dense\nT[a,b,c,d,e,f,g] = A[k,a,b,c,d,e,f,g]"
    problem = refusal(text, order="k,a,b,c,d,e,f,g")
    assert isinstance(problem, LoweringError)
    assert str(problem) == (
        "T reduces over k outside a, b, c, d, e, f, g: that takes an accumulator of order 7, "
        "and the machine has up to 6 (hint: move k further in)"
    )


def test_an_order_that_recomputes_inside_a_reduction() -> None:
    problem = refusal(CHAIN, "fuse T..D", "i,k,l,j")
    assert isinstance(problem, OrderError)
    assert str(problem) == (
        "order i→k→l→j cannot be built: T would be recomputed for each l inside its own "
        "reduction over k (hint: move l outside k, or cut the region after T)"
    )


def test_an_order_in_which_a_result_comes_too_late() -> None:
    problem = refusal(SOFTMAX, "fuse L..E", "j,i")
    assert isinstance(problem, OrderError)
    assert str(problem) == (
        "order j→i cannot be built: x reduces over j, and what uses it iterates j outside i "
        "(hint: move j inside i, or cut the region after x)"
    )


def test_the_way_out_of_the_last_message() -> None:
    """Cut after x, with E stored by rows: two regions."""
    program = parse(SOFTMAX.replace(" order 1,0", ""))
    names = [region.name for region in compile_program(program, "fuse L..x").regions]
    assert names == ["L..x", "E"]


BIASED = """
    A: 4x5x6 {0}
    B: 4x5x6 {0}
    b: 5x6 dense
    Z[i,j,k] = A[i,j,k] * B[i,j,k]
    T[i,j,k] = Z[i,j,k] + b[j,k]
"""


def test_rows_of_a_broadcast_that_may_hold_nothing() -> None:
    """b knows nothing of i, and adding it would fill what A * B leaves out of a row."""
    problem = refusal(BIASED.format("csf"), "fuse Z..T")
    assert isinstance(problem, LoweringError)
    assert "T adds an operand row by row, but rows of Z may hold nothing" in problem.message
    assert problem.hint == "use 'option broadcast_add dense'"
    compiled("option broadcast_add dense\n" + BIASED.format("csf"), "fuse Z..T")
    compiled(BIASED.format("dense"), "fuse Z..T")


def test_a_stored_operand_of_a_broadcast_cannot_be_cut_off() -> None:
    problem = refusal("Z: 4x5x6 csf\nb: 5x6 dense\nT[i,j,k] = Z[i,j,k] + b[j,k]")
    assert problem.hint == "use 'option broadcast_add dense', or declare Z dense"
    compiled("Z: 4x5x6 dense\nb: 5x6 dense\nT[i,j,k] = Z[i,j,k] + b[j,k]")


def test_an_order_of_other_indices() -> None:
    problem = refusal(PRODUCT.format("csr", "csr"), order="i,k")
    assert str(problem) == "order i→k lacks j (hint: the region's indices are i, j, k)"


def test_a_region_without_a_buildable_order_gives_the_first_reason() -> None:
    problem = refusal(SOFTMAX, "fuse L..E")
    assert isinstance(problem, LoweringError)
    assert problem.message == (
        "region L..E: none of its legal orders (one) can be built; the first fails with: "
        "order j→i cannot be built: x reduces over j, and what uses it iterates j outside i"
    )
    assert problem.hint == "move j inside i, or cut the region after x"


def test_orders_that_were_not_tried_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a second output of two indices, j and i can stand in six ways."""
    monkeypatch.setattr(compiler, "MAX_ORDERS_TRIED", 2)
    second = "B: 4x5 dense\nF: 4x5 dense\nF[p,q] = relu(B[p,q])\noutput E, F"
    problem = refusal(SOFTMAX + second, "fuse L..F")
    assert "none of the first 2 of 6 legal orders can be built" in problem.message
