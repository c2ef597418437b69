"""A figure in one call, for notebooks and scripts."""

from __future__ import annotations

from pathlib import Path

from fuseloom.experiments.driver import Figure, Laboratory, Told, data_folder, notes_beside
from fuseloom.experiments.recipe import AccountingMode, ExperimentSize
from fuseloom.experiments.registry import chosen
from fuseloom.exploration.executors import InProcess
from fuseloom.exploration.store import RunStore


def _quiet(event: str, what: str, seconds: float) -> None:
    """Tell nobody."""


def figure(
    id_: str,
    size: ExperimentSize | str = ExperimentSize.SMALL,
    mode: AccountingMode | str = AccountingMode.PAPER,
    *,
    store: Path | None = None,
    data_dir: Path | None = None,
    told: Told = _quiet,
) -> Figure:
    """A table or figure of the paper: run as far as it is not yet, with its claims and plots.

    Parameters
    ----------
    id_ : str
        As ``fuseloom figures`` takes it: ``"12"``, ``"table4"``.
    store : Path, optional
        File of the runs; by default the one that every command uses.
    told : callable, optional
        Called as runs come out (:data:`fuseloom.experiments.driver.Told`).

    Raises
    ------
    FuseloomError
        An id that no figure has, or a store that cannot be used.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     figure("table4", "smoke", store=Path(folder) / "runs.sqlite").claims[0].got
    1134.0
    """
    with RunStore(store) as runs, notes_beside(runs) as notes, InProcess() as executor:
        laboratory = Laboratory(runs, notes, executor, data_folder(data_dir), told=told)
        (made, *_) = laboratory.figures(chosen([id_]), ExperimentSize(size), AccountingMode(mode))
        return made
