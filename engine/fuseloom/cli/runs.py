"""``fuseloom runs``: the runs that were kept, listed, shown, exported, imported, thrown away."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fuseloom.cli.command import Command, age, json_option, natural, print_json, print_nowhere
from fuseloom.cli.limits import size
from fuseloom.cli.tables import area_line, energy_line, memory_table, run_table
from fuseloom.errors import RecordError, UsageError, shortened
from fuseloom.exploration.store import RunStore, State, StoredRun
from fuseloom.exploration.store.location import VARIABLE
from fuseloom.exploration.store.table import export_runs, read_runs
from fuseloom.results.document import DocumentKind
from fuseloom.results.text_table import Align, TextColumn, text_table
from fuseloom.terminal import table_width, tables_within
from fuseloom.wording import counted, grouped

if TYPE_CHECKING:
    from fuseloom.cli.documents import RunsDocument, UpkeepDocument

SHOWN = 20
"""Runs of a list, unless told otherwise."""
PERIOD = 0.3
"""Seconds between two looks of ``--follow``."""
_COLUMNS = (
    TextColumn("run", 12, Align.LEFT),
    TextColumn("when", 16, Align.LEFT),
    TextColumn("state", 11, Align.LEFT),
    TextColumn("program", 12, Align.LEFT),
    TextColumn("data", 12, Align.LEFT),
    TextColumn("machine", 8, Align.LEFT),
    TextColumn("cycles", 14),
    TextColumn("estimated", 14),
    TextColumn("seconds", 8),
    TextColumn("schedule, or the reason", 0, Align.LEFT, wrap=False),
)


def _declare(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(required=True, metavar="ACTION", dest="action")

    made = actions.add_parser("list", help="the latest runs", description="List runs.")
    made.add_argument("--limit", type=natural, default=SHOWN, metavar="N",
                      help="at most so many (default: %(default)s)")  # fmt: skip
    made.add_argument("--state", action="append", choices=[s.value for s in State], default=[],
                      help="only runs that stand so; may be repeated")  # fmt: skip
    made.add_argument("--follow", action="store_true",
                      help="go on with every run that changes, until Ctrl-C")  # fmt: skip
    _common(made, _list)

    made = actions.add_parser("show", help="one run", description="Show a run.")
    made.add_argument("key", metavar="KEY", help="the first digits of its key")
    _common(made, _show)

    made = actions.add_parser("export", help="write a file", description="Write runs to a file.")
    made.add_argument("file", type=Path, metavar="FILE", help=".csv, .parquet or .json")
    made.add_argument("--state", action="append", default=[],
                      choices=[s.value for s in State if s is not State.LEASED],
                      help="only runs that stand so; may be repeated")  # fmt: skip
    _common(made, _export)

    made = actions.add_parser(
        "import", help="read a file", description="Add the runs of a file; none is overwritten."
    )
    made.add_argument("file", type=Path, metavar="FILE", help="as export writes it")
    _common(made, _import)

    made = actions.add_parser("gc", help="throw old runs away", description="Throw runs away.")
    made.add_argument("--older-than", type=age, metavar="AGE",
                      help="runs that last changed so long ago, such as 30d")  # fmt: skip
    made.add_argument("--larger-than", type=size, metavar="SIZE",
                      help="the oldest runs, until the others take less: 500MiB")  # fmt: skip
    made.add_argument("--dry-run", action="store_true", help="only say what would go")
    _common(made, _gc)


def _common(parser: argparse.ArgumentParser, run: Any) -> None:
    parser.add_argument("--store", type=Path, metavar="FILE",
                        help=f"file of the runs (default: ${VARIABLE}, or one in the user's data "
                        "directory)")  # fmt: skip
    json_option(parser)
    parser.set_defaults(runs=run)


def _run(options: Any) -> int:
    with RunStore(options.store) as store:
        code: int = options.runs(options, store)
    return code


def _list(options: Any, store: RunStore) -> int:
    if options.follow and options.json:
        raise UsageError("--follow goes on, --json is one object", hint="leave one out")
    states = [State(name) for name in options.state]
    change = store.change()
    runs = store.runs(states, options.limit)
    counts = store.counts()
    total = sum(count for state, count in counts.items() if not states or state in states)
    if options.json:
        content: RunsDocument = {"total": total, "runs": runs}
        print_json(DocumentKind.RUNS, content)
        return 0
    if not options.follow:
        if not total:
            print(f"no runs are kept in {store.path}")
            return 0
        _print_lines(_lines(runs))
        if total > len(runs):
            print(f"showing {len(runs):,} of {counted(total, 'run')}")
        return 0
    width = table_width()
    try:
        with tables_within(None):  # later rows have columns of the same widths
            _print_lines(_cut(_lines(reversed(runs)), width))
            while True:
                for run in store.since(change, states):
                    change = run.change
                    _print_lines(_cut(_lines([run], header=False), width))
                time.sleep(PERIOD)
    except BrokenPipeError:  # who reads has had enough, such as head
        print_nowhere()
        return 0


def _cut(lines: Iterable[str], width: int | None) -> Iterable[str]:
    """Yield lines that are no wider than the terminal."""
    return lines if width is None else (shortened(line, width) for line in lines)


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)
    sys.stdout.flush()


def _lines(runs: Iterable[StoredRun], *, header: bool = True) -> list[str]:
    return text_table(_COLUMNS, [_row(run) for run in runs], header=header)


def _row(run: StoredRun) -> list[str]:
    about = run.reason or run.identity.schedule or "every statement alone"
    if run.state is State.LEASED and run.holder is not None:
        about = f"{'nobody: gone is ' if run.holder.gone else ''}{run.holder}"
    return [
        run.key[:12],
        f"{run.when.astimezone():%Y-%m-%d %H:%M}",
        run.state.value,
        _plain(run.label.name, 24),
        _plain(run.label.data, 24),
        _plain(run.label.machine, 16),
        "" if run.cycles is None else f"{run.cycles:,}",
        "" if run.label.estimated is None else grouped(run.label.estimated),
        "" if run.seconds is None else f"{run.seconds:,.2f}",
        _plain(about, 60 if table_width() is None else 500),
    ]


def _plain(text: str, most: int) -> str:
    """A text on one line that no terminal takes for a command; names come from files, too."""
    shown = "".join(c if c.isprintable() else " " for c in " ".join(text.split()))
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def _show(options: Any, store: RunStore) -> int:
    run = store.find(options.key)
    if options.json:
        content: RunsDocument = {"total": 1, "runs": [run]}
        print_json(DocumentKind.RUNS, content)
        return 0
    _print_lines(_told(run))
    return 0


def _told(run: StoredRun) -> Iterator[str]:
    identity, label = run.identity, run.label
    rows = [
        ("run", run.key),
        ("state", run.state.value + (f": {run.reason}" if run.reason else "")),
        ("when", f"{run.when.astimezone():%Y-%m-%d %H:%M:%S}"),
        ("program", label.name),
        ("data", label.data),
        ("machine", f"{label.machine} ({identity.machine})"),
        ("engine", f"{identity.engine}, {identity.numerics}"),
        ("settings", ", ".join(f"{k} {v}" for k, v in sorted(identity.settings.items()))),
        ("estimated", "" if label.estimated is None else f"{counted(label.estimated, 'cycle')}"),
        ("attempts", f"{run.attempts:,}" if run.attempts > 1 else ""),
        ("held by", "" if run.holder is None else str(run.holder)),
        ("schedule", identity.schedule.replace("\n", "; ")),
    ]
    columns = (TextColumn("", align=Align.LEFT), TextColumn("", align=Align.LEFT))
    yield from text_table(columns, [(k, _plain(v, 10_000)) for k, v in rows if v], header=False)
    try:
        record = run.record
    except RecordError as problem:
        yield f"its record is not read: {problem}"
        return
    if record is not None:
        yield ""
        yield from run_table(record)
        yield from memory_table(record.regions)
        if record.energy is not None:
            yield energy_line(record.energy)
        if record.area is not None:
            yield area_line(record.area)
        took = f"simulated in {record.seconds:.2f} s"
        yield f"{record.check or 'not checked'}; {took}"


def _export(options: Any, store: RunStore) -> int:
    states = [State(name) for name in options.state]
    finished = states or [state for state in State if state is not State.LEASED]
    count = export_runs(store.whole(finished), options.file)
    return _done(
        options, store, "export", count, f"{counted(count, 'run')} written to {options.file}"
    )


def _import(options: Any, store: RunStore) -> int:
    runs = read_runs(options.file)
    count = store.put_all(runs)
    skipped = len(runs) - count
    told = f"{counted(count, 'run')} added"
    if skipped:
        told += f"; {skipped:,} were there already and stay as they are"
    return _done(options, store, "import", count, told, skipped=skipped)


def _gc(options: Any, store: RunStore) -> int:
    if options.older_than is None and options.larger_than is None:
        raise UsageError(
            "say what is to go", hint="fuseloom runs gc --older-than 30d --larger-than 500MiB"
        )
    gone = store.collect(options.older_than, options.larger_than, dry_run=options.dry_run)
    verb = "would go" if options.dry_run else "thrown away"
    told = f"{counted(gone.runs, 'run')} {verb} ({gone.bytes / 2**20:,.1f} MiB)"
    return _done(options, store, "gc", gone.runs, told, size_=gone.bytes)


def _done(
    options: Any,
    store: RunStore,
    action: Literal["export", "import", "gc"],
    count: int,
    told: str,
    *,
    skipped: int | None = None,
    size_: int | None = None,
) -> int:
    """Say what was done."""
    if not options.json:
        print(told)
        return 0
    content: UpkeepDocument = {
        "action": action,
        "store": str(store.path),
        "file": None if action == "gc" else str(options.file),
        "runs": count,
        "skipped": skipped,
        "bytes": size_,
        "dry_run": bool(getattr(options, "dry_run", False)),
    }
    print_json(DocumentKind.UPKEEP, content)
    return 0


RUNS = Command(_declare, _run)
