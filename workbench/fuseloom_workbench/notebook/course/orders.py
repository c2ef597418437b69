"""Notebook 3: orders of indices, and why storage decides which there are."""

from __future__ import annotations

from functools import cache
from math import factorial

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.fusion.pog import Edge, EdgeOrigin, PartialOrderGraph
from fuseloom.dataflow.fusion.repair import traffic
from fuseloom.models import karate
from fuseloom.program import Program, StoredTensor, parse
from fuseloom_workbench.notebook.exercises import Exercise, names, number, order

CHAIN = """program chain
A: 34x34 dcsr
X: 34x34 dense
W: 34x16 dcsr
T[i,p] = A[i,k] * X[k,p]
H[i,n] = T[i,p] * W[p,n]
"""
"""Two products, one after the other: a layer of a graph network without its bias."""
GRAM = """program gram
A: 34x34 dcsr
G[i,j] = A[i,k] * A[j,k]
"""
"""The program for the number of common neighbours: the matrix times its transpose."""


def product_of(a: str, x: str, size: int = 4) -> Program:
    """A matrix times another of the same size, with their formats."""
    return parse(
        f"program product\nA: {size}x{size} {a}\nX: {size}x{size} {x}\nT[i,j] = A[i,k] * X[k,j]\n"
    )


def club(program: Program) -> dict[str, StoredTensor]:
    """Data of the Karate Club for a program: its friendships, or weights, by name.

    ``A`` is the matrix of the 34 members; so is any other square matrix that is sparse.
    """
    known = karate()
    arrays = {"X": known["X"], "W": known["W1"]}
    found = {}
    for name in program.inputs:
        tensor = program.tensor(name)
        source = known["A"] if not tensor.format.all_dense and name != "W" else arrays[name]
        found[name] = StoredTensor.from_dense(tensor, source.to_dense())
    return found


@cache
def chain() -> Compilation:
    """Both products in one region."""
    return compile_program(parse(CHAIN), "fuse T..H")


def _constraints(a: str, x: str) -> PartialOrderGraph:
    return compile_program(product_of(a, x)).regions[0].pog


def _outside(index: str) -> frozenset[str]:
    return _constraints("dcsr", "dcsr").ancestors()[index]


def _anew() -> PartialOrderGraph:
    """The chain's constraints, and that T lies under n, which is none of its indices."""
    pog = chain().regions[0].pog
    inside = Edge("n", "k", EdgeOrigin.USER, "T is to be computed anew for each n")
    return PartialOrderGraph(pog.indices, (*pog.edges, inside))


def _copied() -> float:
    program = parse(GRAM)
    return traffic(program.tensor("A"), club(program)["A"].nnz)


EXERCISES = {
    "3.1": Exercise(
        "In how many orders can the three loops stand?",
        number(lambda: factorial(len(_constraints("dense", "dense").indices)), "orders"),
        "three choices for the outermost loop, then two for the next",
    ),
    "3.2": Exercise(
        "Both matrices are stored by rows. Which indices must lie outside j?",
        names(lambda: _outside("j")),
        "look at the levels of X and of T that lie above the one for j",
    ),
    "3.3": Exercise(
        "Both matrices are stored by rows. Which order is legal?",
        order(lambda: _constraints("dcsr", "dcsr")),
        "every arrow must point from an outer index to an inner one",
    ),
    "3.4": Exercise(
        "A is stored by rows, X by columns. Which order is legal?",
        order(lambda: _constraints("dcsr", "dcsc")),
        "the tree of X now begins with j",
    ),
    "3.5": Exercise(
        "Both matrices are dense. How many orders are legal?",
        number(lambda: _constraints("dense", "dense").count(), "orders"),
        "T is still written by rows, so i is outside j; k may stand anywhere",
    ),
    "3.6": Exercise(
        "How many orders does the chain have?",
        number(lambda: chain().regions[0].pog.count(), "orders"),
        "i is outside k and n, p is outside n; begin with i, then with p",
    ),
    "3.7": Exercise(
        "Under which order is each sum of T added up anew for every n?",
        order(_anew),
        "T is added up over k; n must be chosen before that begins",
    ),
    "3.8": Exercise(
        "How many bytes does it take to store A a second time?",
        number(_copied, "bytes"),
        "156 elements, each of two coordinates and a value of 4 bytes; all are read and written",
    ),
}
