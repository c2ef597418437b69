"""The jobs of a worker: the same results as the commands, and the notes."""

from __future__ import annotations

import resource

import pytest

import fuseloom as fl
from fuseloom.errors import ScheduleError
from fuseloom.experiments.configuration import Configuration, Orders
from fuseloom.experiments.jobs import estimate_configuration, request_of, run_configuration
from fuseloom.experiments.notes import Notes
from fuseloom.results.record import RunRecord

GIVEN = Configuration("gcn", "karate", (("density", 0.5),), "partial", "locate off")


def done(work, configuration, tmp_path):
    path = tmp_path / "notes.sqlite"
    made = work(request_of(configuration, None, path, "key"), lambda share, text: True)
    with Notes(path) as notes:
        return made, notes.get("key")


def test_a_run_is_that_of_the_command(tmp_path) -> None:
    made, note = done(run_configuration, GIVEN, tmp_path)
    record = RunRecord.from_dict(made)
    model, data = fl.models.load("gcn", "karate", density=0.5)
    compiled = fl.compile(model.program, model.presets["partial"] + "; locate off")
    run = fl.simulate(fl.best_orders(compiled, data).compilation, data)
    assert record.cycles == run.cycles
    assert record.check is not None
    assert record.check.ok
    for region, noted in zip(run.regions, note["regions"], strict=True):
        assert noted["busiest"] == max(region.result.busy)
        assert noted["busiest"] <= region.cycles
        assert noted["words"] >= region.work.bytes / 4
    assert note["cpu"] > 0
    assert note["peak"] > 1e7
    assert "order T1..H" in note["schedule"]


def test_words_count_coordinates_of_dense_scans(tmp_path) -> None:
    """T[i,j] = A[i,k] * X[k,j]: every row of X that is met is scanned in full, once for each."""
    made, note = done(run_configuration, Configuration("nested", "ikjl"), tmp_path)
    (first, _) = note["regions"]
    record = RunRecord.from_dict(made)
    scanned = first["words"] - record.regions[0].bytes / 4
    assert scanned == 156 * 34


def test_an_estimate_is_that_of_the_command(tmp_path) -> None:
    made, note = done(estimate_configuration, GIVEN, tmp_path)
    assert note is None
    assert sum(r["cycles"] for r in made["regions"]) > 10_000
    assert {r["mode"] for r in made["regions"]} == {"exact"}


def test_the_first_orders_are_taken_where_they_are_asked_for(tmp_path) -> None:
    first = Configuration("gcn", "karate", (), "full", "", orders=Orders.FIRST)
    _, note = done(run_configuration, first, tmp_path)
    model, _ = fl.models.load("gcn", "karate")
    assert note["schedule"] == str(fl.compile(model.program, model.presets["full"]).resolved)


def test_presets_that_are_none(tmp_path) -> None:
    with pytest.raises(ScheduleError, match="no preset 'ful'"):
        done(run_configuration, Configuration("gcn", "karate", (), "ful"), tmp_path)


def test_data_are_made_once_for_schedules_that_follow(tmp_path, monkeypatch) -> None:
    from fuseloom.experiments import jobs

    jobs.load_once.cache_clear()
    for level in ("unfused", "full"):
        done(estimate_configuration, GIVEN.scheduled(level), tmp_path)
    assert jobs.load_once.cache_info().misses == 1


def test_an_estimate_without_data(tmp_path) -> None:
    sizes = (("inputs", 1_048_576), ("hidden", 512))
    given = Configuration("images", "nih", sizes, "full", "locate off").estimated()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    made, _ = done(estimate_configuration, given, tmp_path)
    products = 32 * 1_048_576 * 512 // 2
    (region,) = made["regions"]
    assert products < region["cycles"] < 1.02 * products
    assert region["mode"] == "metadata"
    assert made["peak"] < before + 1e9  # what other tests left in this process counts, too
