"""The meaning of a program in float64, with bounds on the rounding errors of float32.

Takes stored tensors and some statements of a program, gives their results in float64, each element
with a bound on what rounding to float32 in every operation, in any order of summation, may change.
"""

from fuseloom.program.rounded.budget import EvaluationBudget, TooMuchError
from fuseloom.program.rounded.evaluate import evaluate_rounded
from fuseloom.program.rounded.largest import largest_bound
from fuseloom.program.rounded.rounding import Errors, Rounding
from fuseloom.program.rounded.tensors import Box, Elements, Grid, Listed

__all__ = [
    "Box",
    "Elements",
    "Errors",
    "EvaluationBudget",
    "Grid",
    "Listed",
    "Rounding",
    "TooMuchError",
    "evaluate_rounded",
    "largest_bound",
]
