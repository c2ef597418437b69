"""A laboratory of its own for each module, and every recipe at its smallest, run once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fuseloom.experiments.driver import Figure, Laboratory, notes_beside
from fuseloom.experiments.recipe import AccountingMode, ExperimentSize
from fuseloom.experiments.registry import RECIPES
from fuseloom.exploration.executors import InProcess
from fuseloom.exploration.store import RunStore


@pytest.fixture
def laboratory(tmp_path) -> Iterator[Laboratory]:
    with RunStore(tmp_path / "runs.sqlite") as store, notes_beside(store) as notes:
        yield Laboratory(store, notes, InProcess())


@pytest.fixture(scope="session")
def shop(tmp_path_factory) -> Path:
    """The file of a store in which every recipe was done at its smallest."""
    return tmp_path_factory.mktemp("figures") / "runs.sqlite"


@pytest.fixture(scope="session")
def few(tmp_path_factory) -> dict[str, Figure]:
    """Some recipes that take no time: text, bars, lines."""
    path = tmp_path_factory.mktemp("few") / "runs.sqlite"
    with RunStore(path) as store, notes_beside(store) as notes, InProcess() as executor:
        laboratory = Laboratory(store, notes, executor)
        chosen = [RECIPES[id_] for id_ in ("table4", "5", "9", "13", "16a", "18")]
        made = laboratory.figures(chosen, ExperimentSize.SMOKE, AccountingMode.PAPER)
    return {figure.recipe.id: figure for figure in made}


@pytest.fixture(scope="session")
def smoke(shop) -> dict[str, Figure]:
    """Every recipe at its smallest size, as the paper counts."""
    with RunStore(shop) as store, notes_beside(store) as notes, InProcess() as executor:
        made = Laboratory(store, notes, executor).figures(
            [*RECIPES.values()], ExperimentSize.SMOKE, AccountingMode.PAPER
        )
    return {figure.recipe.id: figure for figure in made}
