"""The helpers of tests of the store: runs that differ by a number."""

from __future__ import annotations

from fuseloom.exploration.store.identity import RunIdentity
from fuseloom.exploration.store.runs import Outcome, RunLabel, State
from fuseloom.results.check import Check
from fuseloom.results.record import DataSource, MachineId, RegionRecord, RunRecord

PROGRAM = "A: 4x4 csr\nx: 4 dense\ny[i] = A[i,j] * x[j]\n"
LABEL = RunLabel("spmv", "random", "default", 90.0)


def identity(number: int, program: str = PROGRAM) -> RunIdentity:
    return RunIdentity(
        program, f"order y: i,j # {number}", "d" * 64, "0123456789abcdef", "0.1.0+test",
        settings={"capacity": "sized"} if number % 2 else {},
    )  # fmt: skip


def record(number: int, error: float = 0.0) -> RunRecord:
    return RunRecord(
        "spmv",
        f"order y: i,j # {number}",
        MachineId("default", "0123456789abcdef"),
        DataSource("random"),
        (RegionRecord("y", ("i", "j"), 100 + number, 9.0, 36.0, 40),),
        Check(error, True),
        0.25,
    )


def outcome(number: int) -> Outcome:
    """Of every state in turn; most are done."""
    match number % 8:
        case 5:
            return Outcome(State.REFUSED, None, "j must stay outside i", 0.01)
        case 6:
            return Outcome(State.LIMIT, None, "more than 3 tokens", 2.0)
        case 7:
            return Outcome(State.FAILED, None, 'ZeroDivisionError: "=1,2"\nunhappy', None)
        case _:
            return Outcome.of(record(number))
