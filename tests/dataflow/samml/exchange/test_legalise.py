"""Faults of SAM graphs are repaired, and each repair is told."""

from __future__ import annotations

import numpy as np
import pytest

from tests.dataflow.samml.exchange.sam_graphs import dot, product_graph
from tests.dataflow.samml.exchange.sam_texts import PRODUCTS, SEED, run_text, sparse, vector


def test_holding_values_passes_them() -> None:
    text = dot(
        "x=d0,b=s0",
        """4 crdhold outer=i inner=vals vals=true
        3 fiberlookup index=i tensor=b mode=0 format=compressed root=true
        1 fiberwrite index=i tensor=x mode=0 format=dense
        2 arrayvals tensor=b
        0 fiberwrite tensor=x mode=vals""",
        """3>4 crd i
        4>1 crd outer-i
        3>2 ref
        2>4 val vals
        4>0 val inner-vals""",
    )
    b = vector(4)
    assert run_text(text, {"b": b})[1].check(b).ok


def residual(minuend: int, subtrahend: int, edges: list[str], drops: bool = True) -> str:
    """x(i) = b(i) - C(i,j) * d(j); ids and order of the operands' edges as given."""
    crd = "15>9 crd i\n9>1 crd outer-i\n10>9 crd in-j" if drops else "15>1 crd"
    drop = "9 crddrop outer=i inner=j" if drops else ""
    return dot(
        "x=s0,b=s0,C=ss01,d=s0",
        f"""17 fiberlookup index=i tensor=b mode=0 format=compressed root=true
        18 fiberlookup index=i tensor=C mode=0 format=compressed root=true
        16 union index=i
        15 broadcast
        {drop}
        1 fiberwrite index=i tensor=x mode=0 format=compressed
        14 repsiggen index=i
        13 repeat index=i tensor=d root=true
        12 fiberlookup index=j tensor=d mode=0 format=compressed root=false
        11 fiberlookup index=j tensor=C mode=1 format=compressed root=false
        10 intersect index=j
        7 arrayvals tensor=C
        8 arrayvals tensor=d
        6 mul
        {subtrahend} reduce
        {minuend} arrayvals tensor=b
        3 add sub=1
        0 fiberwrite tensor=x mode=vals""",
        "\n".join(edges)
        + f"""
        17>16 crd in-b
        17>16 ref in-b
        18>16 crd in-C
        18>16 ref in-C
        16>15 crd i
        {crd}
        15>14 crd
        14>13 repsig
        13>12 ref
        12>10 crd in-d
        12>10 ref in-d
        16>11 ref out-C
        11>10 crd in-C
        11>10 ref in-C
        10>7 ref out-C
        10>8 ref out-d
        7>6 val
        8>6 val
        6>{subtrahend} val
        16>{minuend} ref out-b
        3>0 val""",
    )


@pytest.mark.parametrize("drops", [True, False])
@pytest.mark.parametrize("order", [("4>3 val", "5>3 val"), ("5>3 val", "4>3 val")])
@pytest.mark.parametrize("ids", [(4, 5), (5, 4)])
def test_the_minuend(ids: tuple[int, int], order: tuple[str, str], drops: bool) -> None:
    """By the comment's order of tensors; hand-numbered graphs have the larger id first."""
    rng = np.random.default_rng(SEED)
    arrays = {"b": vector(1, 6), "C": sparse(rng, (6, 5), 0.4), "d": vector(2, 5)}
    imported, run = run_text(residual(*ids, list(order), drops), arrays)
    assert run.check(arrays["b"] - arrays["C"] @ arrays["d"]).ok
    (repair,) = [r for r in imported.repairs if r.rule.name == "R5"]
    assert repair.change.startswith(f"node {ids[0]} is the minuend of subtraction 3")
    assert ("comment" in repair.change) == (ids == (5, 4))


def test_a_missing_dropper_is_added_and_reported() -> None:
    """Rows of a level that is dense outside may be empty; the writer would lose them."""
    text = dot(
        "X=ss01,B=ds01",
        """4 fiberlookup index=i tensor=B mode=0 format=dense root=true
        3 fiberlookup index=j tensor=B mode=1 format=compressed root=false
        1 fiberwrite index=i tensor=X mode=0
        2 fiberwrite index=j tensor=X mode=1
        5 arrayvals tensor=B
        0 fiberwrite tensor=X mode=vals""",
        "4>1 crd\n4>3 ref\n3>2 crd\n3>5 ref\n5>0 val",
    )
    b = np.zeros((4, 3))
    b[1, 2] = b[3, 0] = 5
    imported, run = run_text(text, {"B": b})
    assert run.check(b).ok
    assert [str(r) for r in imported.repairs] == [
        "R6 drop coordinates of i whose fiber is empty "
        "(node 1: a level writer loses coordinates whose fiber is empty)"
    ]


def test_repairs_say_what_and_why() -> None:
    result, operands = PRODUCTS["matmul"]
    text = product_graph(result, operands, "ikj", {"B": "ss01", "C": "ss01"}, flawed=True)
    ones = np.ones((2, 2))
    imported, _ = run_text(text, {"B": ones, "C": ones})
    rules = [r.rule.name for r in imported.repairs]
    assert rules == ["R1", "R2"]
    assert "bypass reduce" in str(imported.repairs[0])
    assert "sums away the level" in imported.repairs[0].why
    assert "ignore crd stream k" in str(imported.repairs[1])
