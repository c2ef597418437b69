"""Notebook 16: right answers are accepted, three wrong ones of each refused with a reason."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.sim.golden.registry import IMPLEMENTATIONS
from fuseloom.dataflow.sim.tokens import DONE, EMPTY, Stop
from fuseloom.program import parse
from fuseloom_workbench.notebook.building import run_by_hand
from fuseloom_workbench.notebook.course.joins import (
    EXERCISES,
    PRODUCT,
    PRODUCT_BY_HAND,
    SCATTERED,
    VECTORS,
    scattered,
    stored,
)
from fuseloom_workbench.notebook.exercises import check

from .answers import tried

SUM = PRODUCT_BY_HAND.replace("intersect", "union").replace("fn=mul", "fn=add")
THREE = """
start = root()
ia, pa = scan(start) tensor=a level=0
ib, pb = scan(start) tensor=b level=0
ic, pc = scan(start) tensor=c level=0
i, qa, qb, qc = intersect(ia, pa, ib, pb, ic, pc)
va = array(qa) tensor=a
vb = array(qb) tensor=b
vc = array(qc) tensor=c
two = binary(va, vb) fn=mul
all = binary(two, vc) fn=mul
crdwrite(i) tensor=y level=0
valwrite(all) tensor=y
"""
IN_A_ROW = THREE.replace(
    "i, qa, qb, qc = intersect(ia, pa, ib, pb, ic, pc)",
    "k, ra, rb = intersect(ia, pa, ib, pb)\n"
    "i, qa, qc = intersect(k, ra, ic, pc)\n"
    "l, qb, rc = intersect(k, rb, ic, pc)",
)
CELLS = """
start = root()
ia, pa = scan(start) tensor=A level=0
ib, pb = scan(start) tensor=B level=0
i, qa, qb = intersect(ia, pa, ib, pb)
ja, ra = scan(qa) tensor=A level=1
jb, rb = scan(qb) tensor=B level=1
j, sa, sb = intersect(ja, ra, jb, rb)
va = array(sa) tensor=A
vb = array(sb) tensor=B
y = binary(va, vb) fn=mul
columns, rows = crddrop(j, i)
crdwrite(rows) tensor=Y level=0
crdwrite(columns) tensor=Y level=1
valwrite(y) tensor=Y
"""
COLUMNS = """
start = root()
jb, pb = scan(start) tensor=B level=0
jc, pc = scan(start) tensor=c level=0
j, qb, qc = intersect(jb, pb, jc, pc)
i, place = scan(qb) tensor=B level=1
vb = array(place) tensor=B
signal = repsig(i)
again = repeat(qc, signal)
vc = array(again) tensor=c
products = binary(vb, vc) fn=mul
rows, sums = spacc1(j, i, products) fn=add dim=4
crdwrite(rows) tensor=T level=0
valwrite(sums) tensor=T
"""
OUTER = "A: 4x4 dcsc\nX: 4x4 dcsr\nT[i,j] = A[i,k] * X[k,j]"
THIRD = "B: 8x8x8 coo\nc: 8 dense\nY[i,j] = B[i,j,k] * c[k]"


def without_empty(node):
    """A unioner that puts nothing for an operand that lacks the coordinate."""
    crds, payloads = node.inputs[::2], node.inputs[1::2]
    while True:
        heads = [None] * len(crds)
        for k, crd in enumerate(crds):
            heads[k] = yield crd.peek
        for payload in payloads:
            yield payload.peek
        least = min((h for h in heads if isinstance(h, int)), default=heads[0])
        yield node.outputs[0].put(least)
        for crd, payload, head, out in zip(crds, payloads, heads, node.outputs[1:], strict=True):
            if head == least:
                yield out.put((yield payload.take))
                yield crd.take
        if least is DONE:
            return
        node.clock += 1


def keeps_all(node):
    """A dropper that drops nothing."""
    inner, outer = node.inputs
    while True:
        head = yield outer.take
        yield node.outputs[1].put(head)
        token = None
        while not isinstance(token, Stop) and token is not DONE:
            token = yield inner.take
            yield node.outputs[0].put(token)
        if head is DONE:
            return
        node.clock += 1


ANSWERS = {
    "16.1": (
        "N 0 1 N S0 D",
        [("0 1 S0 D", "token 1 is not 0"), ("N 0 1 N S0", "token 6 is missing"),
         ("0 1 N 2 S0 D", "token 1 is not 0")],
    ),
    "16.2": (
        IMPLEMENTATIONS["union"].generator,
        [(IMPLEMENTATIONS["intersect"].generator, "crd output, token"),
         (without_empty, "the machine's N"), ("union", "union is no function")],
    ),
    "16.3": (
        SUM,
        [(PRODUCT_BY_HAND, "y[0] is not stored, and should be"),
         (SUM.replace("array(qb)", "array(pb)"), "operands disagree on where fibers end"),
         (SUM.replace("valwrite(prod) tensor=y", ""), "values of the result are written 0 times")],
    ),
    "16.4": (
        THREE,
        [(IN_A_ROW, "it has 3 nodes intersect, and should have 1: one intersecter takes any"),
         (THREE.replace("valwrite(all)", "valwrite(two)"), "on the three vectors: MISMATCH"),
         (THREE.replace("intersect", "union"), "y has 6 coordinates, but 1 value")],
    ),
    "16.5": (
        IMPLEMENTATIONS["crddrop"].generator,
        [(keeps_all, "output, token"), (lambda node: None, "gives no requests"),
         (3, "3 is no function")],
    ),
    "16.6": (
        CELLS,
        [(CELLS.replace("crdwrite(rows)", "crdwrite(i)"), "drop coordinates whose fiber is empty"),
         (CELLS.replace("crddrop(j, i)", "crddrop(i, j)"), "port outer: stream j has depth 2"),
         (CELLS.replace("fn=mul", "fn=add"), "on the two matrices: MISMATCH")],
    ),
    "16.7": (
        COLUMNS,
        [(COLUMNS.replace("repeat(qc", "repeat(pc"), "on a matrix with an empty column"),
         (COLUMNS.replace("tensor=T level=0", "tensor=T level=1"), "has no level 1"),
         (COLUMNS.replace("spacc1(j,", "spacc1(jb,"), "disagree")],
    ),
    "16.8": (
        OUTER,
        [(OUTER.replace("dcsc", "dcsr"), "its order is i→k→j, and its graph has spacc1"),
         (OUTER.replace("dcsr", "dcsc"), "its order is i→j→k, and its graph has no accumulator"),
         (OUTER.replace("A[i,k] * X[k,j]", "A[k,i] * X[k,j]"), "T is not what was asked for")],
    ),
    "16.9": (4, [(16, "16 sums are too many"), (2, "2 sums are too few"), ("4", "no number")]),
    "16.10": (
        THIRD,
        [(THIRD.replace("coo", "csf"), "it moves 484 bytes, more than 356"),
         (THIRD.replace("coo", "[dense, compressed, singleton]"), "it moves 388 bytes"),
         (THIRD.replace("8x8x8", "4x8x8"), "B should be declared as 8x8x8")],
    ),
}  # fmt: skip

test_every_exercise_is_tried, test_right_and_wrong = tried(EXERCISES, ANSWERS)


def test_other_right_answers():
    assert check("16.8", OUTER.replace("dcsr", "csr").replace("dcsc", "csc")).ok
    assert check("16.7", COLUMNS.replace("array(again)", "array(again) ")).ok


def test_what_is_no_answer_of_its_kind_is_told():
    assert "is no graph" in check("16.3", 3).problem
    assert "is no program" in check("16.8", 3).problem
    assert "its inputs are A" in check("16.8", "A: 4x4 csr\nT[i] = A[i,j]").problem
    assert "single statement" in check("16.8", f"{OUTER}\noutput T\nU[i,j] = relu(T[i,j])").problem
    assert "it has no result T" in check("16.8", OUTER.replace("T[", "Z[")).problem


def test_the_example_by_hand_is_right():
    run = run_by_hand(parse(PRODUCT), PRODUCT_BY_HAND, {k: VECTORS[k] for k in "ab"})
    assert run.check().ok
    assert run.outputs["y"].nnz == 1


def test_data():
    assert np.count_nonzero(scattered()) == SCATTERED
    assert stored("coo").bytes < stored("csf").bytes
    assert EMPTY is not DONE


@pytest.mark.parametrize("text", ["loop = scan(loop) tensor=a level=0", "x = root(", "root()"])
def test_texts_that_are_no_graphs(text):
    assert not check("16.3", text).ok
