"""Each configuration once, whatever ends in between; and what is told of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fuseloom.errors import DataError
from fuseloom.experiments.claims import ClaimVerdict, Got
from fuseloom.experiments.configuration import Configuration
from fuseloom.experiments.driver import Laboratory, claims_of, data_folder, notes_beside
from fuseloom.experiments.recipe import (
    AccountingMode,
    ExperimentSize,
    Measure,
    Recipe,
    RecipeResults,
    nothing,
)
from fuseloom.experiments.registry import RECIPES
from fuseloom.exploration.executors import InProcess
from fuseloom.exploration.store import RunStore, State

SMALL = Configuration("nested", "ikjl", (("density", 0.5),), "full")
WRONG = Configuration("nested", "ikjl", (), "full", "order T..D: i,k,l,j")


def recipe(**configurations) -> Recipe:
    return Recipe(
        "18",
        "",
        "",
        lambda size, mode: configurations,
        lambda size, mode: {
            "18.best": lambda results: Got(results["one"].cycles / results["two"].cycles)
        },
        lambda results, size, mode: (),
    )


def counting(laboratory: Laboratory) -> list[tuple[str, str]]:
    told: list[tuple[str, str]] = []
    laboratory.told = lambda event, what, seconds: told.append((event, what))
    return told


def test_nothing_is_done_twice(laboratory) -> None:
    told = counting(laboratory)
    given = recipe(one=SMALL, two=SMALL, three=SMALL.estimated())
    (first,) = laboratory.figures([given], ExperimentSize.SMOKE, AccountingMode.PAPER)
    assert [event for event, _ in told] == ["done", "done"]
    told.clear()
    (again,) = laboratory.figures([given], ExperimentSize.SMOKE, AccountingMode.PAPER)
    assert [event for event, _ in told] == ["there", "there"]
    assert again.results["one"] == first.results["one"]
    (claim,) = again.claims
    assert claim.got == 1.0
    assert claim.seconds > 0
    assert claim.bytes > 0
    estimated = again.results["three"]
    assert estimated.estimated
    assert estimated.cycles == pytest.approx(first.results["one"].cycles, rel=0.05)


def test_a_run_whose_note_is_lost_is_done_again(laboratory, tmp_path) -> None:
    laboratory.run([SMALL])
    laboratory.notes.close()
    laboratory.notes.path.unlink()
    laboratory.notes = notes_beside(laboratory.store)
    assert laboratory.result(SMALL) is None
    laboratory.run([SMALL])
    assert laboratory.result(SMALL) is not None


def test_what_was_refused_is_told_and_the_others_are_there(laboratory) -> None:
    told = counting(laboratory)
    (made,) = laboratory.figures(
        [recipe(one=SMALL, two=WRONG)], ExperimentSize.SMOKE, AccountingMode.PAPER
    )
    (claim,) = made.claims
    assert claim.verdict is ClaimVerdict.MISSING
    assert "j must stay outside l" in claim.reason
    assert any("j must stay outside l" in event for event, _ in told)
    assert laboratory.store.counts()[State.REFUSED] == 1
    assert "one" in made.results


def test_a_driver_that_ends_in_between_loses_nothing(tmp_path) -> None:
    """The second of three runs ends the driver; who starts again does two of them."""
    path = tmp_path / "runs.sqlite"
    every = [replace(SMALL, seed=seed) for seed in range(3)]

    def end(event, what, seconds) -> None:
        if event == "done" and len(done) == 1:
            raise KeyboardInterrupt
        done.append(event)

    done: list[str] = []
    with RunStore(path) as store, notes_beside(store) as notes:
        first = Laboratory(store, notes, InProcess(), told=end)
        with pytest.raises(KeyboardInterrupt):
            first.run(every)
    with RunStore(path) as store, notes_beside(store) as notes:
        second = Laboratory(store, notes, InProcess())
        told = counting(second)
        second.run(every)
        assert sorted(event for event, _ in told) == ["done", "there", "there"]
        assert all(second.result(configuration) for configuration in every)


def test_heavy_configurations_are_estimated_unless_asked_for(laboratory) -> None:
    given = replace(recipe(one=SMALL, two=SMALL), heavy=lambda size, mode: frozenset({"one"}))
    (made,) = laboratory.figures([given], ExperimentSize.SMOKE, AccountingMode.PAPER)
    assert made.results["one"].estimated
    assert made.claims[0].notes == "estimated"
    laboratory.heavy = True
    (made,) = laboratory.figures([given], ExperimentSize.SMOKE, AccountingMode.PAPER)
    assert not made.results["one"].estimated


def test_a_wrong_run_gives_no_number(laboratory) -> None:
    (made,) = laboratory.figures(
        [recipe(one=SMALL, two=SMALL)], ExperimentSize.SMOKE, AccountingMode.PAPER
    )
    wrong = replace(made.results["one"], ok=False, check="differs in 3 elements")
    results = RecipeResults({"one": wrong, "two": made.results["two"]})
    (claim,) = claims_of(made.recipe, results, ExperimentSize.SMOKE, AccountingMode.PAPER)
    assert claim.verdict is ClaimVerdict.MISSING
    assert "differs in 3 elements" in claim.reason


def test_measurements_that_fail_are_told(laboratory) -> None:
    given = replace(
        RECIPES["table2"],
        configurations=nothing,
        measures=lambda size, mode: {
            "mask64": Measure("fuseloom.experiments.measures:describe", {"mask": 7, "tokens": 64})
        },
    )
    (made,) = laboratory.figures([given], ExperimentSize.SMOKE, AccountingMode.PAPER)
    (claim, *_) = [claim for claim in made.claims if claim.published.id == "table2.mask64"]
    assert claim.verdict is ClaimVerdict.MISSING
    assert "do not divide" in claim.reason


def test_the_folder_of_data(monkeypatch, tmp_path) -> None:
    monkeypatch.delenv("FUSELOOM_DATA_DIR", raising=False)
    assert data_folder(None) is None
    monkeypatch.setenv("FUSELOOM_DATA_DIR", str(tmp_path))
    assert data_folder(None) == tmp_path
    with pytest.raises(DataError, match="no folder"):
        data_folder(tmp_path / "other")
