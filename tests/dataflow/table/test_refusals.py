"""Refusals: each names the fault, its place, the cause and the remedy."""

import re

import numpy as np
import pytest

from fuseloom.dataflow import compiler
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.fusion.region import FusedRegion
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.table.table import FusionTable
from fuseloom.errors import FuseloomError, LoweringError, OrderError
from fuseloom.program import StoredTensor, parse
from tests.dataflow.table.tables import compiled

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
        "reduction over k (hint: move l outside k, or cut the region after T; "
        "'global' iterates all factors of a product at once, in any order)"
    )


def test_the_way_to_that_order() -> None:
    """One iteration space over all factors has it, at the price of more multiplications."""
    program = parse(CHAIN)
    (region,) = compile_program(program, "global T..D; order D: i,k,l,j").regions
    assert region.order == ("i", "k", "l", "j")
    rng = np.random.default_rng(0)
    data = {name: rng.normal(size=program.tensor(name).shape) for name in program.inputs}
    run = simulate(compile_program(program, "global T..D; order D: i,k,l,j"), data)
    assert run.check().ok
    factored = simulate(compile_program(program, "fuse T..D"), data)
    assert run.work.flops > factored.work.flops


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


def counted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The orders that tables are built under from now on."""
    tried: list[tuple[str, ...]] = []
    build = compiler.build_table

    def counting(region: FusedRegion, order: tuple[str, ...]) -> FusionTable:
        tried.append(order)
        return build(region, order)

    monkeypatch.setattr(compiler, "build_table", counting)
    return tried


def test_orders_that_fail_for_the_same_reason_are_not_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Beside a second output of two indices, j and i can stand in six ways."""
    tried = counted(monkeypatch)
    second = "B: 4x5 dense\nF: 4x5 dense\nF[p,q] = relu(B[p,q])\noutput E, F"
    problem = refusal(SOFTMAX + second, "fuse L..F")
    assert "none of its 6 legal orders can be built" in problem.message
    assert len(tried) == 1


ATTENTION = """x: 6x5 dense
project_weight: 4x5 dense
source: 4x1 dense
target: 4x1 dense
gt_keep: 6x6 dcsr
option broadcast_add dense
linear[i,j] = x[i,k] * project_weight[j,k]
matmul[i,j] = linear[i,k] * source[k,j]
matmul_1[i,j] = linear[i,k] * target[k,j]
add_flat[i] = matmul[i,j]
add_flat_0[j] = matmul_1[j,i]
add[i,j] = add_flat[i] + add_flat_0[j]
leaky_relu_negative[i,j] = -1.0 * add[i,j]
leaky_relu_below[i,j] = relu(leaky_relu_negative[i,j])
leaky_relu_leak[i,j] = 0.2 * leaky_relu_below[i,j]
leaky_relu_relu[i,j] = relu(add[i,j])
leaky_relu[i,j] = leaky_relu_relu[i,j] - leaky_relu_leak[i,j]
where[i,j] = leaky_relu[i,j] * gt_keep[i,j]
softmax_max[i] = max[j] where[i,j]
softmax_spread[i,j] = softmax_max[i] * gt_keep[i,j]
softmax_less[i,j] = where[i,j] - softmax_spread[i,j]
softmax_exp[i,j] = exp(softmax_less[i,j])
softmax_sum[i] = softmax_exp[i,j]
softmax[i,j] = softmax_exp[i,j] / softmax_sum[i]
matmul_2[i,j] = softmax[i,k] * linear[k,j]
elu_negative[i,j] = -1.0 * matmul_2[i,j]
elu_below[i,j] = relu(elu_negative[i,j])
elu_exponent[i,j] = -1.0 * elu_below[i,j]
elu_exp[i,j] = exp(elu_exponent[i,j])
elu_shift[i,j] = elu_exp[i,j] - 1.0
elu_relu[i,j] = relu(matmul_2[i,j])
elu[i,j] = elu_relu[i,j] + elu_shift[i,j]
output elu"""


@pytest.mark.deep
def test_a_deep_region_is_given_up_after_few_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    """A layer of graph attention, read again under the filter of its own softmax."""
    tried = counted(monkeypatch)
    problem = refusal(ATTENTION, "fuse linear..elu")
    told = re.fullmatch(
        r"region linear..elu: none of the (\d+) kinds tried of 21,794,572,800 legal orders "
        "can be built; the first fails with: matmul is used several times, under filters of which "
        "none contains the others, and one level would have to serve them all",
        problem.message,
    )
    assert told
    assert int(told[1]) <= len(tried) < 300  # remedies are tried, too
    assert int(told[1]) < 100
    hint = problem.hint or ""
    assert hint.startswith("cut the region after ")
    cut = hint.partition(": ")[2].partition("; or")[0]
    regions = compile_program(parse(ATTENTION), cut).regions
    assert sum(len(r.region.statements) for r in regions) == len(parse(ATTENTION).live)


@pytest.mark.parametrize(
    ("stored", "accepted"), [("dense", True), ("[dense, dense, dense, compressed]", False)]
)
@pytest.mark.parametrize("between", ["", "Y2[i,j,k,l] = exp(Y[i,j,k,l])\n"])
def test_rows_of_a_whole_tensor_hold_something_however_it_is_stored(
    stored: str, between: str, accepted: bool
) -> None:
    """A tensor with every element has all of them in compressed levels, too."""
    text = (
        f"X: 2x3x4x5 {stored}\nb: 2x4x5 dense\nY[i,j,k,l] = X[i,j,k,l] - b[i,k,l]\n{between}"
        f"Z[i,j,k,l] = {'Y2' if between else 'Y'}[i,j,k,l] - b[i,k,l]\noutput Z"
    )
    program = parse(text)
    rng = np.random.default_rng(0)
    data = {
        name: StoredTensor.from_dense(program.tensor(name), rng.normal(size=shape))
        for name, shape in (("X", (2, 3, 4, 5)), ("b", (2, 4, 5)))
    }
    for schedule in ("store compressed", "fuse Y2..Z; store compressed" if between else ""):
        if accepted:
            assert simulate(compile_program(program, schedule), data).check().ok
            continue
        with pytest.raises(LoweringError, match="may hold nothing"):
            compile_program(program, schedule)
