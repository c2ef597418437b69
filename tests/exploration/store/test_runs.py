"""The outcomes of runs."""

from __future__ import annotations

import pytest

from fuseloom.errors import (
    DeadlockError,
    LimitError,
    OrderError,
    RecordError,
    ScheduleError,
    SimulationError,
)
from fuseloom.exploration.store import Outcome, RunIdentity, RunLabel, State, StoredRun
from fuseloom.exploration.store.runs import LONGEST_REASON, iso
from tests.exploration.store.samples import identity


@pytest.mark.parametrize(
    ("problem", "state"),
    [
        (OrderError("j must stay outside i", hint="move it"), State.REFUSED),
        (ScheduleError("no"), State.REFUSED),
        (DeadlockError("a waits for b"), State.REFUSED),
        (LimitError("more than 3 tokens"), State.LIMIT),
        (MemoryError(), State.LIMIT),
        (SimulationError("tokens contradict each other"), State.FAILED),
        (ZeroDivisionError("division by zero"), State.FAILED),
    ],
)
def test_errors_are_outcomes(problem: Exception, state: State) -> None:
    made = Outcome.of_error(problem, 2.0)
    assert (made.state, made.seconds, made.record) == (state, 2.0, None)
    assert str(problem) in made.reason
    assert made.reason


def test_reasons_are_one_line_of_some_length() -> None:
    made = Outcome(State.FAILED, None, "a\nb" * 3_000)
    assert "\n" not in made.reason
    assert len(made.reason) == LONGEST_REASON


def test_records_of_other_versions_are_refused_when_they_are_read() -> None:
    run = StoredRun(
        "k", 1, State.DONE, RunLabel(), identity(1), 1, 1.0, "", 1, 0.0, 0.0, None,
        '{"fuseloom": "run", "version": 1}',
    )  # fmt: skip
    assert run.to_dict()["record"] == {"fuseloom": "run", "version": 1}
    with pytest.raises(RecordError, match="version 1"):
        _ = run.record
    assert run.when.isoformat() == "1970-01-01T00:00:00+00:00"
    assert iso(0.5) == "1970-01-01T00:00:00.500000+00:00"


def test_names_of_any_bytes_and_figures_of_any_kind() -> None:
    made = RunLabel("caf\udce9", estimated=float("nan"))
    assert (made.name, made.estimated) == ("caf\\udce9", None)
    assert Outcome(State.FAILED, None, "\ud800", float("inf")).seconds is None
    with pytest.raises(RecordError, match="half a character"):
        RunIdentity("\ud800", "", "", "")
