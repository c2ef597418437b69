"""Figure 3 of FusionStitching: a batched product of softmax with a matrix.

The figure is not in the text of the paper.  The text names its operations (Reduce.1,
Exponential.1, Reduce.2, Divide.1, Bitcast.1, Dot.1), their order, and layers 0 to 9.  The extents
are those that give the numbers of this project's design: a root with 48 schedules, 10 of which the
rule for BatchDot passes, is a product of 512 matrices (10 divisors) whose two dimensions have 14
divisors together, such as 64 and 64; and a block of 16,384 bytes of Exponential.1 is one matrix of
64 x 64.  The eight times 64 matrices before the bitcast are the batch and the heads of attention.
"""

from __future__ import annotations

import numpy as np

from fuseloom.stitch.graph import DenseComputation, DenseOperation
from fuseloom.stitch.shapes import TensorShape

BATCH, HEADS, ROWS = 8, 64, 64
SPANS = {
    "Dot.1": 0, "Bitcast.1": 1, "Divide.1": 2, "Broadcast.2": 3, "Reduce.2": 4,
    "Exponential.1": 5, "Subtract.1": 6, "Broadcast.1": 7, "Reduce.1": 8, "Parameter.1": 9,
}  # fmt: skip
"""The layers of its operations."""


def figure3(batch: int = BATCH, heads: int = HEADS, rows: int = ROWS) -> DenseComputation:
    """The computation; its reductions apply ``largest`` and ``sum``."""
    scores = TensorShape("f32", (batch, heads, rows, rows))
    row = TensorShape("f32", (batch, heads, rows))
    matrices = TensorShape("f32", (batch * heads, rows, rows))
    one = TensorShape("f32", ())
    along = {"dimensions": (0, 1, 2)}
    dot = {
        "lhs_batch_dims": (0,), "rhs_batch_dims": (0,),
        "lhs_contracting_dims": (2,), "rhs_contracting_dims": (1,),
    }  # fmt: skip
    last = {"dimensions": (3,)}
    return DenseComputation(
        "figure3",
        (
            DenseOperation("Parameter.1", "parameter", scores, (), {"number": 0}),
            DenseOperation("Parameter.2", "parameter", matrices, (), {"number": 1}),
            DenseOperation("Low", "constant", one, literal=np.float32(-np.inf)),
            DenseOperation("Zero", "constant", one, literal=np.float32(0)),
            DenseOperation(
                "Reduce.1", "reduce", row, ("Parameter.1", "Low"), last | {"to_apply": "largest"}
            ),
            DenseOperation("Broadcast.1", "broadcast", scores, ("Reduce.1",), along),
            DenseOperation("Subtract.1", "subtract", scores, ("Parameter.1", "Broadcast.1")),
            DenseOperation("Exponential.1", "exponential", scores, ("Subtract.1",)),
            DenseOperation(
                "Reduce.2", "reduce", row, ("Exponential.1", "Zero"), last | {"to_apply": "sum"}
            ),
            DenseOperation("Broadcast.2", "broadcast", scores, ("Reduce.2",), along),
            DenseOperation("Divide.1", "divide", scores, ("Exponential.1", "Broadcast.2")),
            DenseOperation("Bitcast.1", "bitcast", matrices, ("Divide.1",)),
            DenseOperation("Dot.1", "dot", matrices, ("Bitcast.1", "Parameter.2"), dot),
        ),
        "Dot.1",
    )
