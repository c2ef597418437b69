"""Notebook 12: access patterns, rules that rewrite them, and a systolic array."""

from __future__ import annotations

from functools import cache
from typing import Any

from fuseloom.access.constructs.hardware_calls import SYSTOLIC_ARRAY
from fuseloom.access.hardware import Call, SystolicArray
from fuseloom.access.kernels import Convolution, conv2d, dense
from fuseloom.access.mapping import Mapped, map_term
from fuseloom.access.meaning import shapes_of
from fuseloom.access.rules.reader import read_rules
from fuseloom.access.rules.rule import PatternTerm
from fuseloom.access.rules.sets import rules_of
from fuseloom.access.rules.soundness import check_rule
from fuseloom.access.shapes import AccessShape
from fuseloom.access.terms import Term, subterms
from fuseloom.errors import FuseloomError
from fuseloom_workbench.notebook.exercises import Exercise, number, sequence

INSTANCES = 60
"""Random instances in which the rule of an answer is tried."""
MULTIPLIERS = 1024
"""The most that the array of an answer may have."""

UNCONDITIONAL = """\
(rule dotProd-of-concat "parts of vectors"
  (compute dotProd (concat ?a ?b ?d))
  => (compute reduceSum (pair (compute dotProd ?a) (compute dotProd ?b)))
  {condition})
"""


@cache
def convolution() -> Term:
    """Eight filters of 3 × 3 on an image of 32 × 32 with three channels."""
    return conv2d(Convolution(1, 3, 32, 32, 8, (3, 3)))


@cache
def layer() -> Term:
    """One vector of 400 elements, and 120 vectors of weights."""
    return dense(1, 400, 120)


@cache
def mapped() -> Mapped:
    """The convolution on an array of 64 × 64."""
    return map_term(convolution(), SystolicArray(64, 64))


def products_shape() -> AccessShape:
    """The shape of the pairs of windows and filters."""
    shapes = shapes_of(convolution())
    return next(shapes[x] for x in subterms(convolution()) if x.construct == "cartProd")


def _laid_out() -> int:
    shapes = shapes_of(mapped().after)
    call = next(x for x in subterms(mapped().after) if x.construct == SYSTOLIC_ARRAY)
    return shapes[call.operands[0]].elements


def _slices(answer: Any) -> str:
    """A sound rule that makes one slice of two along the same dimension."""
    try:
        (rule,) = read_rules(str(answer))
    except (FuseloomError, ValueError) as problem:
        return f"this is not one rule: {problem}"
    left, right = rule.left, rule.right
    if not (
        isinstance(left, PatternTerm)
        and left.construct == "slice"
        and isinstance(left.operands[0], PatternTerm)
        and left.operands[0].construct == "slice"
    ):
        return "its left side is no slice of a slice"
    if not (
        isinstance(right, PatternTerm)
        and right.construct == "slice"
        and not isinstance(right.operands[0], PatternTerm)
    ):
        return "its right side is no slice of what the left side slices twice"
    found = check_rule(rule, INSTANCES)
    return str(found) if found.counterexample is not None or not found.instances else ""


def _condition(answer: Any) -> str:
    """A condition under which results of parts may be added."""
    try:
        (rule,) = read_rules(UNCONDITIONAL.format(condition=f"(where {answer})"))
    except (FuseloomError, ValueError) as problem:
        return f"this is no condition: {problem}"
    found = check_rule(rule, INSTANCES)
    if found.counterexample is not None or not found.instances:
        return str(found)
    return ""


def _left_out(answer: Any) -> str:
    """A rule without which the layer is not mapped onto an array of 16 × 16."""
    try:
        rules = rules_of(["boxes"], without=[str(answer)])
    except FuseloomError as problem:
        return str(problem)
    if not map_term(layer(), SystolicArray(16, 16), rules).unmapped:
        return f"without {answer} every dot product is mapped"
    return ""


def _array(answer: Any) -> str:
    """Rows and columns on which the layer takes fewer cycles than on 32 × 32."""
    if not (
        isinstance(answer, list | tuple)
        and len(answer) == 2
        and all(isinstance(x, int) and not isinstance(x, bool) for x in answer)
    ):
        return "this is no pair of rows and columns"
    rows, columns = answer
    if rows * columns > MULTIPLIERS:
        return f"{rows} × {columns} are {rows * columns:,} multipliers, more than {MULTIPLIERS:,}"
    best = map_term(layer(), SystolicArray(32, 32)).cycles
    took = map_term(layer(), SystolicArray(rows, columns)).cycles
    if took * 2 > best:
        return f"the layer takes {took:,} cycles, more than half of the {best:,} on 32 × 32"
    return ""


EXERCISES = {
    "12.1": Exercise(
        "Which are the access dimensions of the pairs of windows and filters?",
        sequence(lambda: products_shape().access, "dimension"),
        "those of both operands, one after the other",
    ),
    "12.2": Exercise(
        "How many elements does the array stream, laid out by im2col?",
        number(_laid_out, "elements"),
        "one vector per place of the window, one element per weight of a filter",
    ),
    "12.3": Exercise(
        "How many cycles does a call of 16 rows and 8 columns take for 100 vectors?",
        number(lambda: Call(16, 8, 100).cycles, "cycles"),
        "load, stream and drain: rows + batch + rows + columns - 2",
    ),
    "12.4": Exercise(
        "Write a rule that makes one slice of a slice of a slice, along the same dimension.",
        _slices,
        "both bounds of the outer slice count from the lower bound of the inner one",
    ),
    "12.5": Exercise(
        "Write the condition that the rule on parts of vectors lacks.",
        _condition,
        "parts along an access dimension are not added, and a tuple is multiplied",
    ),
    "12.6": Exercise(
        "Without which rule is the dense layer not mapped onto an array of 16 × 16?",
        _left_out,
        "its vectors have 400 elements",
    ),
    "12.7": Exercise(
        "On which array of at most 1,024 multipliers does the dense layer take half the cycles?",
        _array,
        "there is one vector: what is streamed, what is held, and how long may vectors be?",
    ),
}
