"""Notebook 1: sparse formats, fibers and streams."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.sim.conformance.bench import bench
from fuseloom.program import StoredTensor, parse
from fuseloom.program.levels import CompressedLevel
from fuseloom_workbench.notebook.exercises import Exercise, number, sequence, tokens

MATRIX: npt.NDArray[np.float64] = np.array(
    [
        [0.0, 2.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0],
        [5.0, 0.0, 3.0, 0.0],
        [0.0, 0.0, 0.0, 7.0],
    ]
)
"""The matrix of the exercises."""


@cache
def stored(fmt: str) -> StoredTensor:
    """The matrix in a format."""
    program = parse(f"B: 4x4 {fmt}\ny[i] = B[i,j]")
    return StoredTensor.from_dense(program.tensor("B"), MATRIX)


def _level(fmt: str, depth: int) -> CompressedLevel:
    level = stored(fmt).levels[depth]
    assert isinstance(level, CompressedLevel)
    return level


def _scanned(fmt: str, depth: int, references: str, port: int) -> str:
    level = _level(fmt, depth)
    return bench("scan", references, arrays={"seg": level.seg, "crd": level.crd}).tokens[port]


EXERCISES = {
    "1.1": Exercise(
        "How many elements of B are stored?",
        number(lambda: stored("csr").nnz, "elements"),
        "count the numbers that are not 0",
    ),
    "1.2": Exercise(
        "What is the segment array of B's second level in CSR?",
        sequence(lambda: _level("csr", 1).seg.tolist()),
        "it has one number more than there are rows: where each row begins, and the end",
    ),
    "1.3": Exercise(
        "What is the coordinate array of B's first level in DCSR?",
        sequence(lambda: _level("dcsr", 0).crd.tolist()),
        "only rows that are not empty have a coordinate",
    ),
    "1.4": Exercise(
        "Which coordinates does a scanner of B's first level in CSR put out, from reference 0?",
        tokens(lambda: bench("dense_scan", "0 D", params={"dim": 4}).tokens[0]),
        "a dense level has every coordinate; its fiber ends with S0, the stream with D",
    ),
    "1.5": Exercise(
        "Which coordinates does the scanner of the second level put out, given the references of "
        "the first?",
        tokens(lambda: _scanned("dcsr", 1, _scanned("dcsr", 0, "0 D", 1), 0)),
        "each fiber ends with S0; where the stream of references has S0, both stops become one: S1",
    ),
    "1.6": Exercise(
        "How many words do the segment and coordinate arrays of B take in DCSR?",
        number(
            lambda: sum(
                len(level.seg) + len(level.crd) for level in (_level("dcsr", 0), _level("dcsr", 1))
            ),
            "words",
        ),
        "two levels, each with segments and coordinates; values are not counted",
    ),
}
