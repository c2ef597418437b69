"""Notebook 11: tensor networks, their constraints, their loops, on a CPU and as streams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from fuseloom.contraction.kernels.data import Data
from fuseloom.contraction.kernels.run import kernels, measure
from fuseloom.contraction.loopnest import interpreter
from fuseloom.contraction.loopnest.generate import layouts
from fuseloom.contraction.loopnest.ir import Assign, Nest, walk
from fuseloom.contraction.loopnest.parser import parse_nest
from fuseloom.contraction.networks import from_einsum
from fuseloom.contraction.occupancy import Occupancy
from fuseloom.contraction.paths import binary
from fuseloom.contraction.random_data import scattered
from fuseloom.contraction.ranking import Candidate, FusionScheme, ranked
from fuseloom.contraction.shipped import shipped
from fuseloom.contraction.solving.pins import Pin
from fuseloom.contraction.solving.solve import Question, Satisfiability
from fuseloom.contraction.tree import ContractionTree
from fuseloom.errors import FuseloomError
from fuseloom.wording import counted
from fuseloom_workbench.notebook.exercises import Exercise, number, sequence

SIDE = 6
BYTES = 8
"""Of an element of a workspace."""


@cache
def example() -> ContractionTree:
    """The running example of the paper CoNST: four operands, three contractions."""
    return shipped("running example")


@cache
def graph() -> ContractionTree:
    """Two layers of a graph convolution, without what is between them."""
    return shipped("two-layer GCN")


@cache
def chain() -> ContractionTree:
    """A product of three small matrices."""
    program = from_einsum("ij,jk,kl->il", dict.fromkeys("ijkl", SIDE))
    return binary(program, "((A B) C)")


@cache
def sets() -> Mapping[str, Any]:
    """Random elements for MTTKRP."""
    return scattered(shipped("MTTKRP"), 0.05)


@cache
def candidates() -> tuple[Candidate, ...]:
    """All nests for MTTKRP on these data, the fastest expected first."""
    tree = shipped("MTTKRP")
    held = {
        name: Occupancy(at, tree.program.tensor(name).shape) for name, (at, _) in sets().items()
    }
    return ranked(Question(tree), held).candidates


def best_of_each_way() -> pd.DataFrame:
    """The nest expected to be fastest of each scheme, compiled, checked, and run."""
    tree = shipped("MTTKRP")
    chosen = {
        scheme: next(c for c in candidates() if c.scheme is scheme) for scheme in FusionScheme
    }
    data = Data(tree, sets())
    made = kernels([c.nest for c in chosen.values()], tree, levels=data.levels)
    named = {scheme.value: kernel for scheme, kernel in zip(chosen, made, strict=True)}
    times = measure(named, data)
    rows = {
        scheme.value: {
            "expected, µs": c.predicted.nanoseconds / 1e3,
            "measured, µs": (times[scheme.value].seconds or float("nan")) * 1e6,
            "largest error": times[scheme.value].max_rel_error,
        }
        for scheme, c in chosen.items()
    }
    return pd.DataFrame(rows).T


def multiplications(nest: Nest, tree: ContractionTree) -> int:
    """Of a nest on full tensors.

    Examples
    --------
    >>> from fuseloom.contraction.loopnest.iteration import global_iteration
    >>> multiplications(global_iteration(chain(), "ijkl"), chain())
    2592
    """
    return interpreter.count_steps(nest, tree.extents, interpreter.multiplications)


def _least() -> int:
    *_, last = Question(example()).least()
    return max(last.bounds.values())


@cache
def _count() -> int:
    return len(Question(example()).all(_least())[0])


def _blocking_pin(answer: Any) -> str:
    """A pin with which the least bound has no solution any more."""
    try:
        pin = Pin.parse(str(answer))
        verdict = Question(example(), pins=(pin,)).solve(_least()).verdict
    except FuseloomError as problem:
        return str(problem)
    return "" if verdict is Satisfiability.UNSAT else f"with {pin} there is still a solution"


def _per_layer() -> Sequence[int]:
    """Of the vectors that cannot be lowered, the one that fuses inside each layer alone."""
    vectors = [list(v.values()) for v in Question(graph()).pareto()]
    return next(v for v in vectors if sum(b > 0 for b in v) == 1)


@cache
def _operands() -> dict[str, npt.NDArray[np.float64]]:
    rng = np.random.default_rng(0)
    shapes = {a.tensor: [chain().extents[x] for x in a.indices] for a in chain().inputs}
    return {name: rng.normal(size=shape) for name, shape in shapes.items()}


def _right_and_small(answer: Any) -> str:
    """A nest that computes the chain and keeps one number between its contractions."""
    tree, given = chain(), _operands()
    if not isinstance(answer, str):
        return "this is no text of a nest"
    try:
        nest = parse_nest(answer)
        levels = layouts(nest, tree)
        unused = [name for name in (*given, "R") if name not in levels]
        if unused:
            return f"it does without {unused[0]}"
        turned = {name: np.transpose(given[name], levels[name]) for name in given}
        made = interpreter.interpret(nest, tree.extents, turned)
        result = np.transpose(made, np.argsort(levels["R"]))
    except (FuseloomError, KeyError, ValueError) as problem:
        return f"it does not compute R from A, B and C: {problem}"
    if not np.allclose(result, given["A"] @ given["B"] @ given["C"]):
        return "its result is not A times B times C"
    for part in walk(nest):
        if isinstance(part, Assign) and part.out.tensor != "R":
            size = prod(tree.extents[x] for x in part.out.indices)
            if size > 1:
                return f"{part.out.tensor} keeps {counted(size, 'number')}"
    if multiplications(nest, tree) > SIDE**3 * 2:
        return (
            f"it takes {counted(multiplications(nest, tree), 'multiplication')}, more than "
            f"{2 * SIDE**3}"
        )
    return ""


EXERCISES = {
    "11.1": Exercise(
        "How many dimensions must an intermediate of the example have at least?",
        number(_least, "dimensions"),
        "the first bound whose verdict is sat",
    ),
    "11.2": Exercise(
        "How many solutions are there under that bound?",
        number(_count, "solutions"),
        "Question(tree).all(bound) gives them, and whether these are all",
    ),
    "11.3": Exercise(
        "How many bytes do its two intermediates take together in the nest that is shown?",
        number(lambda: BYTES * (1 + example().extents["k"]), "bytes"),
        "X1() is one number, X2(k) as many as k has values; a number takes 8 bytes",
    ),
    "11.4": Exercise(
        "Write a pin with which there is no solution under the least bound.",
        _blocking_pin,
        "three of its six indices cannot be outermost",
    ),
    "11.5": Exercise(
        "Which of the five vectors fuses within each layer, and not across them?",
        sequence(_per_layer, "bound"),
        "X2 is what the first layer hands to the second: it is kept whole",
    ),
    "11.6": Exercise(
        "How many multiplications does the factored iteration take if l is outermost?",
        number(lambda: SIDE**4 + SIDE**3, "multiplications"),
        "the first product does not depend on l: how often is it made now?",
    ),
    "11.7": Exercise(
        "Write a nest for the chain that keeps a single number, with no more multiplications.",
        _right_and_small,
        "an element of X1 is used for a whole row of C at once",
    ),
}
