"""Droppers of values and reducers of vectors, in products of matrices."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.dataflow.samml.exchange.sam_graphs import dot
from tests.dataflow.samml.exchange.sam_texts import (
    POWER,
    POWER_EDGES,
    SEED,
    SUM,
    agrees,
    common,
    is_refused,
    rules,
    run_text,
    signed,
    where,
)


def inner_products(tail: str, edges: str, letters: str = "ss", unit: str = "mul") -> str:
    """``Y(r,s) = A(r,t) * M(t,s)``, a sum per place: products leave 21, r and s 2 and 12."""
    dense = ["dense" if letter == "d" else "compressed" for letter in letters]
    return dot(
        f"Y=ss01,A=ss01,M={letters}10",
        f"""1 fiberlookup index=r tensor=A mode=0 format=compressed root=true
        2 broadcast
        3 repsiggen index=r
        4 repeat index=r tensor=M root=true
        11 fiberlookup index=s tensor=M mode=1 format={dense[0]} root=false
        12 broadcast
        13 repsiggen index=s
        14 repeat index=s tensor=A root=false
        15 fiberlookup index=t tensor=A mode=1 format=compressed root=false
        16 fiberlookup index=t tensor=M mode=0 format={dense[1]} root=false
        17 intersect index=t
        18 arrayvals tensor=A
        19 arrayvals tensor=M
        21 {unit}
        50 fiberwrite index=r tensor=Y mode=0
        51 fiberwrite index=s tensor=Y mode=1
        52 fiberwrite tensor=Y mode=vals
        {tail}""",
        f"""1>2 crd
        2>3 crd
        3>4 repsig
        4>11 ref
        11>12 crd
        12>13 crd
        13>14 repsig
        1>14 ref
        14>15 ref
        11>16 ref
        15>17 crd in-A
        15>17 ref in-A
        16>17 crd in-M
        16>17 ref in-M
        17>18 ref out-A
        17>19 ref out-M
        18>21 val
        19>21 val
        {edges}""",
    )


MATRICES = {"A": (4, 5), "M": (5, 3)}
DROP_EMPTY = """30 crddrop outer=s inner=t
    31 crddrop outer=r inner=s"""
DROP_EMPTY_EDGES = """21>30 val inner-t
    12>30 crd outer-s
    30>31 crd inner-s
    2>31 crd outer-r
    30>22 val inner-t"""


@pytest.mark.parametrize("letters", ["ss", "dd", "sd"])
@pytest.mark.parametrize("unit", ["mul", "fp_mul"])
def test_values_of_empty_fibers_are_dropped(letters: str, unit: str) -> None:
    """No zero is written where no product is, so an exponential behind is of sums alone."""
    flag = " fp=true" if unit == "fp_mul" else ""
    text = inner_products(
        f"{DROP_EMPTY}\n22 reduce{flag}\n23 mul in2=0.125\n24 exp",
        f"{DROP_EMPTY_EDGES}\n22>23 val\n23>24 val\n24>52 val\n31>50 crd outer-r\n31>51 crd",
        letters,
        unit,
    )

    def meaning(a: dict[str, np.ndarray]) -> np.ndarray:
        any_product = (a["A"] != 0) @ (np.ones_like(a["M"]) if letters == "dd" else a["M"] != 0)
        return where(any_product > 0, np.exp(0.125 * (a["A"] @ a["M"])))

    if letters == "sd":  # rows of a dense level below a compressed one: where a column has any
        columns = lambda a: np.ones((5, 1)) @ (a["M"] != 0).any(axis=0, keepdims=True)  # noqa: E731
        imported = agrees(text, MATRICES, lambda a: where(
            (a["A"] != 0) @ columns(a) > 0, np.exp(0.125 * (a["A"] @ a["M"]))))  # fmt: skip
    else:
        imported = agrees(text, MATRICES, meaning)
    assert rules(imported) == ({"R7"} if unit == "fp_mul" else set())


@pytest.mark.parametrize("kind", ["valdrop outer=s", "crddrop outer=s inner=val mode=0"])
@pytest.mark.parametrize("before", [False, True])
def test_zeros_of_a_rectified_product_are_dropped(kind: str, before: bool) -> None:
    """After droppers of empty fibers or without: outer coordinates are dropped once or twice."""
    tail = f"22 reduce\n23 smax const0=0\n24 {kind}\n25 crddrop outer=r inner=s\n"
    edges = """22>23 val val
        23>24 val inner-val
        24>25 crd inner-s
        24>52 val
        25>50 crd outer-r
        25>51 crd inner-s
        """
    if before:
        tail += DROP_EMPTY
        edges += DROP_EMPTY_EDGES + "\n31>24 crd inner-s\n31>25 crd outer-r"
    else:
        edges += "21>22 val\n12>24 crd outer-s\n2>25 crd outer-r"
    for seed in range(3):
        rng = np.random.default_rng(seed)
        arrays = {name: signed(rng, shape, 0.5) for name, shape in MATRICES.items()}
        _, run = run_text(inner_products(tail, edges), arrays)
        assert run.outputs["Y"].nnz == np.count_nonzero(arrays["A"] @ arrays["M"] > 0)
    agrees(inner_products(tail, edges), MATRICES, lambda a: np.maximum(a["A"] @ a["M"], 0))


def test_coordinates_and_values_are_dropped_by_nodes_of_their_own() -> None:
    """The summed index is dropped from both, so neither is bypassed; an idle node is left out."""
    text = inner_products(
        """22 reduce
        30 crddrop outer=s inner=t
        31 crddrop outer=r inner=s
        32 crddrop outer=s inner=t
        33 crddrop outer=r inner=s
        34 exp""",
        """17>30 crd inner-t
        12>30 crd outer-s
        30>51 crd outer-s
        30>31 crd inner-s
        2>31 crd outer-r
        31>50 crd outer-r
        21>32 val inner-t
        12>32 crd outer-s
        32>22 val inner-t
        22>34 val
        34>52 val""",
    )

    def meaning(a: dict[str, np.ndarray]) -> np.ndarray:
        products = (a["A"] != 0) @ (a["M"] != 0)
        return where(products > 0, np.exp(a["A"] @ a["M"]))

    assert rules(agrees(text, MATRICES, meaning)) == {"R13"}


def row_products(tail: str, edges: str, letters: str = "ss") -> str:
    """The same product row by row: places t of 13, s of 15 and products of 18 by rows."""
    dense = ["dense" if letter == "d" else "compressed" for letter in letters]
    return dot(
        f"Y=ss01,A=ss01,M={letters}01",
        f"""1 fiberlookup index=r tensor=A mode=0 format=compressed root=true
        2 broadcast
        3 repsiggen index=r
        4 repeat index=r tensor=M root=true
        11 fiberlookup index=t tensor=M mode=0 format={dense[0]} root=false
        12 fiberlookup index=t tensor=A mode=1 format=compressed root=false
        13 intersect index=t
        14 fiberlookup index=s tensor=M mode=1 format={dense[1]} root=false
        15 broadcast
        16 repsiggen index=s
        17 repeat index=s tensor=A root=false
        18 mul
        19 arrayvals tensor=A
        20 arrayvals tensor=M
        40 vectorreducer accum_index=s
        50 fiberwrite index=r tensor=Y mode=0
        51 fiberwrite index=s tensor=Y mode=1
        52 fiberwrite tensor=Y mode=vals
        {tail}""",
        f"""1>2 ref
        2>3 ref
        3>4 repsig
        4>11 ref
        2>12 ref
        11>13 crd in-M
        11>13 ref in-M
        12>13 crd in-A
        12>13 ref in-A
        13>14 ref out-M
        13>17 ref out-A
        14>15 crd
        15>16 crd
        16>17 repsig
        17>19 ref
        14>20 ref
        19>18 val
        20>18 val
        40>52 val final
        {edges}""",
    )


ROWS = {
    "behind": ("30 crddrop outer=r inner=s",
               "15>40 crd s\n18>40 val\n40>30 crd inner-s\n1>30 crd outer-r\n30>50 crd outer-r\n"
               "30>51 crd inner-s"),
    "two levels above": ("30 crddrop outer=r inner=s",
                         "18>40 val\n1>30 crd r\n15>30 crd s\n30>50 crd out-r\n"
                         "30>40 crd s-of-the-drop\n40>51 crd out-s"),
    "on values": ("30 crddrop outer=t inner=s\n31 crddrop outer=t inner=s\n"
                  "32 crddrop outer=r inner=t\n33 broadcast",
                  "13>33 crd\n33>30 crd outer-t\n33>31 crd outer-t\n15>30 crd inner-s\n"
                  "18>31 val inner-s\n30>40 crd inner-s\n31>40 val inner-s\n30>32 crd inner-t\n"
                  "1>32 crd outer-r\n32>50 crd outer-r\n40>51 crd out-s"),
    "none": ("", "15>40 crd\n18>40 val\n1>50 crd\n40>51 crd"),
}  # fmt: skip


@pytest.mark.parametrize("where_dropped", ROWS)
@pytest.mark.parametrize("letters", ["ss", "dd"])
def test_reducers_of_vectors(where_dropped: str, letters: str) -> None:
    tail, edges = ROWS[where_dropped]
    agrees(row_products(tail, edges, letters), MATRICES, lambda a: a["A"] @ a["M"])


def test_damaged_dialects_give_errors_and_nothing_else() -> None:
    """Lines left out or written twice, types and ports changed."""
    texts = [
        common("union", "4 fp_add\n" + POWER, SUM + "4>14 val\n" + POWER_EDGES),
        row_products(*ROWS["on values"]),
        inner_products(f"{DROP_EMPTY}\n22 reduce",
                       DROP_EMPTY_EDGES + "\n22>52 val\n31>50 crd outer-r\n31>51 crd inner-s"),
    ]  # fmt: skip
    arrays = {"b": np.ones(9), "c": np.ones(9), "A": np.eye(4, 5), "M": np.eye(5, 3)}
    words = ["crd", "ref", "val", "repsig", "mul", "max", "exp", "reduce", "crddrop", "union",
             "faddiexp", "vectorreducer", "in-A", "outer-r", "inner-s", "val", "", "t"]  # fmt: skip
    print(f"seed {SEED}")
    rng, refused = random.Random(SEED), 0
    for _ in range(300):
        lines = rng.choice(texts).split("\n")
        at = rng.randrange(1, len(lines) - 2)
        match rng.randrange(3):
            case 0:
                del lines[at]
            case 1:
                lines.insert(rng.randrange(2, len(lines) - 2), lines[at])
            case _:
                parts = lines[at].split('"')
                parts[rng.randrange(len(parts) // 2) * 2 + 1 if len(parts) > 2 else 0] = rng.choice(
                    words
                )
                lines[at] = '"'.join(parts)
        refused += is_refused("\n".join(lines), arrays)
    assert 50 < refused < 290
