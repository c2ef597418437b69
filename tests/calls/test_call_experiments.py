"""The experiments of the benchmark, at small extents; times themselves are not judged."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("shapely")
with np.printoptions():  # TileDB changes how NumPy prints
    pytest.importorskip("tiledb")

from benchmarks.call_experiments import (
    CHAINS,
    EXPERIMENTS,
    CallExperiment,
    chosen_and_best,
    shown,
    shown_choices,
)
from benchmarks.call_rows import ExperimentRow, ExperimentSettings, checked, judged

SMALL = ExperimentSettings(rounds=1, scale=0.005)
SWEEPS = ("12", "13")


def test_every_experiment_of_the_paper_is_there() -> None:
    assert [one.number for one in EXPERIMENTS] == [*map(str, range(1, 14)), "T3"]


@pytest.mark.parametrize("one", EXPERIMENTS, ids=lambda one: one.number)
def test_experiments_run(one: CallExperiment) -> None:
    """Each checks its results itself."""
    rows = one.run(SMALL)
    assert rows
    assert all(row.number == one.number for row in rows)
    assert all(row.paper and row.fused > 0 for row in rows)
    wholes = [row for row in rows if row.fresh is not None and row.kept is not None]
    assert len(wholes) == (0 if one.number == "T3" else len(rows))
    assert all((row.library is not None) == (one.number in ("1", "6", "7", "9")) for row in rows)
    if one.number in SWEEPS:
        assert any("the fastest; room of" in row.verdict for row in rows)
    elif wholes:
        assert all(row.verdict.partition(";")[0] in ("fuse", "do not fuse") for row in rows)
    assert len(shown(rows).splitlines()) == 1 + len(rows)


def test_chains_have_the_calls_of_the_paper() -> None:
    assert 17 in CHAINS
    assert (min(CHAINS), max(CHAINS)) == (2, 64)


def test_the_choice_of_the_search_is_among_all_schedules() -> None:
    row = chosen_and_best("blur", SMALL)
    assert row["ratio"] == row["chosen_seconds"] / row["best_seconds"]
    assert row["schedules"] == 4
    assert "blur" in shown_choices([row])


def test_verdicts_are_about_the_fastest_other_way() -> None:
    assert judged(1.0, 2.0, 1.5, None) == "fuse"
    assert judged(1.0, 2.0, 1.5, 1.0) == "do not fuse"


def test_wrong_results_are_refused() -> None:
    with pytest.raises(AssertionError, match="an error of"):
        checked("it", [1.0, 2.0], [1.0, 2.1])


def test_what_is_missing_has_an_empty_cell() -> None:
    line = shown([ExperimentRow("T3", "x", "y", "p", "v", 0.5)]).splitlines()[1]
    assert line.split() == ["T3", "x", "y", "500.00", "p", "v"]
