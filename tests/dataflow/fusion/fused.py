"""Programs fused for tests."""

from __future__ import annotations

from fuseloom.dataflow.fusion.regions import partition
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.program import parse

CHAIN = parse(
    """
    A: 4x4 dcsr
    B[i,j] = relu(A[i,j])
    C[i,j] = exp(B[i,j])
    D[i,j] = B[i,j] * C[i,j]
    E[i] = D[i,j]
    """
)


def spans(schedule: str, program: object = CHAIN) -> list[tuple[str, tuple[str, ...]]]:
    """Name and outputs of every region."""
    return [(s.name, s.outputs) for s in partition(program, Schedule.parse(schedule))]
