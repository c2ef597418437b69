"""``fuseloom figures``: the paper's tables and figures, run, compared and drawn."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuseloom.cli.command import (
    Command,
    check_folder,
    complete_with,
    json_option,
    natural,
    print_json,
)
from fuseloom.errors import UsageError
from fuseloom.experiments.claims import Claim, ClaimVerdict
from fuseloom.experiments.recipe import AccountingMode, ExperimentSize
from fuseloom.exploration.store.location import VARIABLE
from fuseloom.program import regular_files
from fuseloom.results.document import DocumentKind

if TYPE_CHECKING:
    from fuseloom.cli.documents import FiguresDocument
    from fuseloom.experiments.recipe import Recipe

MOST_JOBS = 64
IDS = (
    *(f"table{number}" for number in range(1, 5)),
    "1", "4b", "5", "9", "12", "13", "14", "15", "16a", "16b", "17", "18",
)  # fmt: skip


def _processes(text: str) -> int:
    """Return the number of worker processes, 0 for none."""
    value = natural(text)
    if value > MOST_JOBS:
        raise argparse.ArgumentTypeError(f"at most {MOST_JOBS}")
    return value


def _declare(parser: argparse.ArgumentParser) -> None:
    ids = parser.add_argument(
        "ids", nargs="*", metavar="ID",
        help="table1 to table4, 1, 4b, 5, 9, 12, 13, 14, 15, 16a, 16b, 17, 18 (default: all)",
    )  # fmt: skip
    complete_with(ids, IDS)
    parser.add_argument("--size", choices=[s.value for s in ExperimentSize],
        default=ExperimentSize.SMALL.value,
                        help="full: as published, more than an hour; small: minutes; smoke: "
                        "seconds (default: %(default)s)")  # fmt: skip
    parser.add_argument("--mode", choices=[m.value for m in AccountingMode],
        default=AccountingMode.PAPER.value,
                        help="paper: as the publication counts; ours: this project's defaults "
                        "(default: %(default)s)")  # fmt: skip
    parser.add_argument("--jobs", type=_processes, default=1, metavar="N",
                        help="worker processes; 0: all in this one (default: 1)")  # fmt: skip
    parser.add_argument("--heavy", action="store_true",
                        help="simulate what is only estimated otherwise, and run the kernels of "
                        "Fig. 13 as hardware: hours, and more than 16 GB of memory")  # fmt: skip
    parser.add_argument("--data-dir", type=Path, metavar="DIR",
                        help="folder with the files of real data sets")  # fmt: skip
    parser.add_argument("--output", type=Path, metavar="DIR",
                        help="write the figures there as SVG, PDF and PNG")  # fmt: skip
    parser.add_argument("--report", type=Path, metavar="FILE.md",
                        help="write a page with every claim and what it was run on")  # fmt: skip
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--store", type=Path, metavar="FILE",
                        help=f"file of the runs (default: ${VARIABLE}, or one in the user's data "
                        "directory); what was done is not done again")  # fmt: skip
    json_option(parser)


def _run(options: Any) -> int:
    from fuseloom.experiments.driver import Laboratory, data_folder, notes_beside
    from fuseloom.experiments.registry import chosen
    from fuseloom.experiments.report import markdown_kinds, page, text_report
    from fuseloom.experiments.totals import totals
    from fuseloom.exploration.store import RunStore
    from fuseloom.exploration.store.identity import engine_version

    if options.json and options.markdown:
        raise UsageError("--json and --markdown contradict each other", hint="leave one out")
    if options.report is not None:
        check_folder(options.report)
    recipes = chosen(options.ids)
    size, mode = ExperimentSize(options.size), AccountingMode(options.mode)
    require_packages(drawn=options.output is not None, heavy=options.heavy, recipes=recipes)
    started = time.monotonic()
    with RunStore(options.store) as store, notes_beside(store) as notes:
        with _progress(options) as shown, _executor(options.jobs, shown) as executor:
            laboratory = Laboratory(
                store,
                notes,
                executor,
                data_folder(options.data_dir),
                options.heavy,
                told=shown.told,
            )
            figures = laboratory.figures(recipes, size, mode)
        seconds = time.monotonic() - started
        claims = [claim for figure in figures for claim in figure.claims]
        if options.output is not None:
            from fuseloom.experiments.drawing import write_figures

            for path in write_figures(figures, options.output):
                print(f"fuseloom: {path}", file=sys.stderr)
        if options.report is not None:
            regular_files.write_bytes(options.report, page(figures, size, mode, seconds).encode())
        if options.json:
            content: FiguresDocument = {
                "size": size,
                "mode": mode,
                "store": str(store.path),
                "engine": engine_version(),
                "seconds": seconds,
                "figures": [
                    {"id": f.recipe.id, "title": f.recipe.title, "text": f.recipe.text}
                    for f in figures
                ],
                "totals": totals(claims),
                "claims": claims,
            }
            print_json(DocumentKind.FIGURES, content)
        else:
            for line in (markdown_kinds if options.markdown else text_report)(claims):
                print(line)
    return exit_code(claims)


def require_packages(*, drawn: bool, heavy: bool, recipes: Sequence[Recipe]) -> None:
    """See that what the command needs beyond its own package is there, before anything is run.

    Raises
    ------
    FuseloomError
        If a package or a tool is missing.
    """
    if drawn:
        from fuseloom.experiments.drawing import require_matplotlib

        require_matplotlib()
    if heavy and any(recipe.id == "13" for recipe in recipes):
        from fuseloom.experiments.hardware_runs import require_tools

        require_tools()


def exit_code(claims: list[Claim]) -> int:
    """1 if a number is wrong and nothing explains it, or one is missing."""
    return int(any(c.verdict in (ClaimVerdict.DIFFERS, ClaimVerdict.MISSING) for c in claims))


@contextmanager
def _executor(jobs: int, shown: _Shown) -> Iterator[Any]:
    from fuseloom.exploration.executors import InProcess, LocalProcesses

    with InProcess(shown.moved) if jobs == 0 else LocalProcesses(jobs, shown.moved) as made:
        yield made


class _Shown:
    """Progress on the terminal, a line per run, and a bar for each that is under way."""

    def __init__(self, progress: Any) -> None:
        self._progress = progress
        self._bars: dict[str, Any] = {}
        self._there = 0

    def told(self, event: str, what: str, seconds: float) -> None:
        """See :data:`fuseloom.experiments.driver.Told`."""
        if event == "there":
            self._there += 1
            return
        if self._there:
            self._progress.console.print(f"{self._there} were there already")
            self._there = 0
        how = f"{seconds:.1f} s" if event == "done" else event
        self._progress.console.print(f"{what}: {how}", highlight=False, markup=False)

    def moved(self, key: str, share: float, text: str) -> None:
        """See :data:`fuseloom.exploration.executors.job.Progress`."""
        if key not in self._bars:
            for bar in self._bars.values():
                self._progress.update(bar, visible=False)
            self._bars[key] = self._progress.add_task("", total=1.0)
        shown = text.replace("[", "\\[")
        self._progress.update(self._bars[key], completed=share, description=shown, visible=True)


@contextmanager
def _progress(options: Any) -> Iterator[_Shown]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True, soft_wrap=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        yield _Shown(progress)


FIGURES = Command(_declare, _run)
