"""The largest bound on the rounding errors of a program's result."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fuseloom.program.rounded.budget import EvaluationBudget, TooMuchError
from fuseloom.program.rounded.evaluate import evaluate_rounded
from fuseloom.program.storage import StoredTensor
from fuseloom.program.types import Program

BYTES, PRODUCTS = 2.0**29, 1e9
"""The budget of an evaluation: half a gibibyte, and some seconds."""


def largest_bound(program: Program, data: Mapping[str, StoredTensor], output: str) -> float:
    """Return the largest error that rounding to float32 may cause in an element of a result.

    It is 0 where no finite bound is known, or finding it takes too much.

    Examples
    --------
    >>> from fuseloom.program import parse
    >>> from fuseloom.program.inputs import check_data
    >>> program = parse("x: 4 dense\\ny = sum[i] x[i]")
    >>> data = check_data(program, {"x": [1e6, -1e6, 1e6, -1e6]})
    >>> 0.01 < largest_bound(program, data, "y") < 1.0
    True
    """
    whole = {output: (None,) * program.tensor(output).rank}
    budget = EvaluationBudget(BYTES, PRODUCTS)
    try:
        found = evaluate_rounded(program, program.live, data, whole, budget)[output]
    except (TooMuchError, OverflowError, MemoryError):
        return 0.0
    bounds = found.bounds
    finite = bounds is not None and bool(np.isfinite(bounds).all())
    return float(bounds.max(initial=0.0)) if bounds is not None and finite else 0.0
