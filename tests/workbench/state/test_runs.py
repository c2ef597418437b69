"""Which runs a session has: its own first, and of others one per schedule."""

from __future__ import annotations

import pytest

from fuseloom_workbench.running.view import view as result_of
from fuseloom_workbench.state.shared import SharedRun, StoredRuns
from fuseloom_workbench.why.finding import pinned_of
from tests.workbench.outcomes import outcome


def kept(session, number, schedule, **how):
    given = {"engine": "", "estimated": None, **how}
    return SharedRun(f"{number:064x}", schedule, 100 * number, changed=0.0, **given)


def test_a_schedule_is_shown_once_by_this_engine_if_it_has_run_it(session):
    runs = (
        kept(session, 1, "fuse T1..H"),
        kept(session, 2, "fuse T1..H", engine="0.0.2+b"),
        kept(session, 3, "fuse T1..T2", engine="0.0.2+b"),
        kept(session, 4, "fuse T1..T2", engine="0.0.1+a"),
    )
    session.take_in(StoredRuns(session.built.problem, runs=runs, total=4))
    assert session.others == [runs[0], runs[2]]
    session.choose("spmv")
    assert session.others == []
    session.undo()
    assert session.others == [runs[0], runs[2]]


def test_the_unfused_run_of_others_is_a_baseline_too(session):
    problem = session.built.problem
    assert session.unfused_cycles(problem) is None
    session.preset("unfused")
    schedule = session.built.resolved
    other = kept(session, 3, schedule, engine="0.0.1+a")
    session.take_in(StoredRuns(problem, runs=(other,)))
    session.judged = type(session.judged)(problem, names={schedule: "unfused"})
    assert session.unfused_cycles(problem) is None  # another engine's is none
    session.take_in(StoredRuns(problem, runs=(kept(session, 2, schedule), other)))
    assert session.unfused_cycles(problem) == 200
    assert session.unfused_cycles("another") is None
    session.finish(session.built, outcome(500, session=session))
    assert session.unfused_cycles(problem) == 500


def test_only_what_is_shown_can_be_taken_over(session):
    before, answers = session.design, session.answers
    for key in ("", "0" * 64, "../../etc/passwd"):
        assert not session.take_kept(key)
        assert "not shown any more" in session.message
    assert session.design == before
    assert session.answers == answers + 3


def test_the_names_of_runs_are_digits_of_their_keys(session):
    assert session.name_of(kept(session, 5, "fuse T1..H")) == "kept 000000"


def test_a_wrong_run_is_nobodys_baseline(session):
    problem = session.built.problem
    session.preset("unfused")
    session.finish(session.built, outcome(500, ok=False, session=session))
    assert session.unfused_cycles(problem) is None
    session.finish(session.built, outcome(500, session=session))
    assert session.unfused_cycles(problem) == 500


@pytest.mark.parametrize(("ok", "compared"), [(True, "5.00× faster than A (unfused)"), (False, "")])
def test_with_a_wrong_run_nothing_is_compared(session, ok, compared):
    session.preset("unfused")
    session.finish(session.built, outcome(500, ok=ok, session=session))
    session.pin(0)
    session.preset("partial")
    session.finish(session.built, outcome(100, session=session))
    assert result_of(session)["result"]["compared"] == compared
    assert (pinned_of(session) is not None) is ok
