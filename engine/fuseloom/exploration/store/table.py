"""Runs as tables and files: pandas, CSV, Parquet and JSON, and back.

All three kinds of file hold everything that the store knows of a run, so what was exported is
imported without loss.  An import checks every row before it keeps the first: the key has to be
that of what the row says, and the record one that this version reads.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from fuseloom.errors import DataError, RecordError
from fuseloom.exploration.store.identity import RunIdentity
from fuseloom.exploration.store.runs import (
    LONGEST_REASON,
    MOST,
    Outcome,
    RunLabel,
    State,
    StoredRun,
    StoredRunData,
)
from fuseloom.program import regular_files
from fuseloom.results.declarations import Count, declared, read, wrong
from fuseloom.results.document import DocumentKind, content_of, document, from_text, to_text
from fuseloom.results.record import RunRecord
from fuseloom.wording import counted

if TYPE_CHECKING:
    import pandas as pd

MAX_FILE = 2 << 30
"""Bytes of a file that is imported."""
MAX_ROWS = 5_000_000
LAST = datetime(9000, 1, 1, tzinfo=UTC).timestamp()

COLUMNS = tuple(declared(StoredRunData))
"""The exported columns of a run, named as in :meth:`StoredRun.to_dict`."""
_FORMATS = (".csv", ".parquet", ".json")
_NUMBERS: Mapping[str, Callable[[str], Any]] = {"cycles": int, "attempts": int, "estimated": float,
                                                "seconds": float}  # fmt: skip
_OBJECTS = ("settings", "record")
_FIGURES = {"cycles": "Int64", "attempts": "Int64", "estimated": "Float64", "seconds": "Float64"}
_OTHERS = {*_FIGURES, *_OBJECTS, "created", "changed"}


def frame_of(runs: Iterable[StoredRun]) -> pd.DataFrame:
    """Runs as a table without programs and records: a row per run, missing figures as NA."""
    import pandas as pd

    shown = [name for name in COLUMNS if name not in ("program", "record")]
    rows: list[Mapping[str, Any]] = [run.to_dict() for run in runs]
    frame = pd.DataFrame({name: [row[name] for row in rows] for name in shown}, columns=shown)
    for name in ("created", "changed"):
        frame[name] = pd.to_datetime(frame[name], utc=True, format="ISO8601").astype(
            "datetime64[us, UTC]"
        )
    texts = {name: "string" for name in shown if name not in _OTHERS}
    return frame.astype({**_FIGURES, **texts, "settings": "object"})


def export_runs(runs: Iterable[StoredRun], path: Path) -> int:
    """Write runs to a file; its ending says how.

    Returns
    -------
    int
        How many there are.

    Raises
    ------
    DataError
        If the ending is not known, the file cannot be written, or a library is missing.
    """
    ending = _ending(path)
    if not regular_files.is_folder(path.parent):
        raise DataError(f"{path.parent} is no folder", hint="make it first")
    rows = [run.to_dict() for run in runs]
    match ending:
        case ".json":
            content = (
                to_text(document(DocumentKind.RUNS, {"total": len(rows), "runs": rows}))
            ).encode()
        case ".csv":
            content = _flat(rows).to_csv(index=False).encode()
        case _:
            content = _parquet(rows)
    regular_files.write_bytes(path, content)
    return len(rows)


def read_runs(path: Path) -> list[StoredRun]:
    """The runs in a file that :func:`export_runs` wrote, all of them checked.

    Raises
    ------
    FuseloomError
        If it is no such file, a row is wrong (the message names row and column), or a library
        is missing.
    """
    ending = _ending(path)
    content = regular_files.content(path, MAX_FILE, what="file of runs")
    match ending:
        case ".json":
            rows = _json_rows(_decoded(content, path))
        case ".csv":
            rows = _csv_rows(_decoded(content, path))
        case _:
            rows = _parquet_rows(content, path)
    return [_run(row, f"run {number}") for number, row in enumerate(rows, 1)]


def _ending(path: Path) -> str:
    ending = path.suffix.lower()
    if ending not in _FORMATS:
        raise DataError(
            f"{path.name}: runs are written to and read from .csv, .parquet or .json",
            hint="name the file so, such as runs.csv",
        )
    return ending


def _decoded(content: bytes, path: Path) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise DataError(f"{path} is not UTF-8 text", hint="save it as UTF-8") from None


# Writing ----------------------------------------------------------------------------------------


def _flat(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """A table of plain cells: objects as JSON."""
    import pandas as pd

    flat = [
        {**row, **{name: None if row[name] is None else json.dumps(row[name]) for name in _OBJECTS}}
        for row in rows
    ]
    frame = pd.DataFrame({name: [row[name] for row in flat] for name in COLUMNS}, columns=COLUMNS)
    texts = {name: "string" for name in COLUMNS if name not in _FIGURES}
    return frame.astype({**_FIGURES, **texts})


def _parquet(rows: Sequence[Mapping[str, Any]]) -> bytes:
    _arrow()
    buffer = io.BytesIO()
    _flat(rows).to_parquet(buffer, engine="pyarrow", index=False)
    return buffer.getvalue()


def _arrow() -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise DataError(
            "Parquet files need pyarrow, which is not installed",
            hint="pip install 'fuseloom[parquet]', or write .csv or .json",
        ) from None
    return pyarrow.parquet


# Reading ----------------------------------------------------------------------------------------


class _RunsFile(TypedDict):
    """A file of runs, before they are read."""

    total: Count
    runs: list[Any]


def _json_rows(text: str) -> list[Any]:
    given = read(_RunsFile, content_of(DocumentKind.RUNS, from_text(text)), "runs")
    if given["total"] != len(given["runs"]):
        raise wrong("runs.total", given["total"], f"{len(given['runs'])}, the number of runs")
    return given["runs"]


def _csv_rows(text: str) -> list[dict[str, Any]]:
    import pandas as pd

    try:
        frame = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False, na_filter=False)
    except (ValueError, MemoryError, OverflowError) as problem:  # ParserError is a ValueError
        raise DataError(f"no table of runs: {_short(problem)}") from None
    return _cells(frame.to_dict("list"), len(frame))


def _parquet_rows(content: bytes, path: Path) -> list[dict[str, Any]]:
    parquet = _arrow()
    try:
        file = parquet.ParquetFile(io.BytesIO(content))
        told = file.metadata
        size = sum(told.row_group(k).total_byte_size for k in range(told.num_row_groups))
        if told.num_rows > MAX_ROWS or size > MAX_FILE:
            raise DataError(f"{path} holds more than is read: {counted(told.num_rows, 'row')}")
        columns = {
            name: file.read([name]).column(0).to_pylist() for name in file.schema_arrow.names
        }
    except DataError:
        raise
    except Exception as problem:  # pyarrow raises errors of many kinds on damaged files
        raise DataError(f"{path} is no Parquet file of runs: {_short(problem)}") from None
    texts = {
        name: ["" if v is None else v if isinstance(v, str) else repr(v) for v in values]
        for name, values in columns.items()
    }
    return _cells(texts, told.num_rows)


def _cells(columns: Mapping[str, list[str]], count: int) -> list[dict[str, Any]]:
    """Rows of plain data from columns of text, in which an empty cell is none."""
    if set(columns) != set(COLUMNS):
        odd = sorted(map(str, set(columns) ^ set(COLUMNS)))
        raise DataError(
            f"no table of runs: the column {odd[0][:40]!r} is missing or unknown",
            hint=f"columns: {', '.join(COLUMNS)}",
        )
    if short := next((name for name in COLUMNS if len(columns[name]) != count), None):
        raise DataError(
            f"no table of runs: its column {short} has {counted(len(columns[short]), 'cell')} of "
            f"{count:,}",
            hint="export the runs again",
        )
    return [
        {name: _cell(name, columns[name][k], f"run {k + 1}.{name}") for name in COLUMNS}
        for k in range(count)
    ]


def _cell(name: str, text: str, where: str) -> Any:
    if name in _NUMBERS or name in _OBJECTS or name == "program":
        if text == "":
            return None
        try:
            if name in _NUMBERS:
                return _NUMBERS[name](text[:40])
            return from_text(text) if name in _OBJECTS else text
        except (ValueError, RecordError) as problem:
            raise RecordError(f"{where}: {_short(problem)}") from None
    return text


def _run(row: Any, where: str) -> StoredRun:
    """A run from plain data of others."""
    given = read(StoredRunData, row, where)
    identity = RunIdentity(
        given["program"] or "",
        given["schedule"],
        given["data_hash"],
        given["fingerprint"],
        given["engine"],
        given["numerics"],
        given["settings"],
    )
    if given["key"] != identity.key:
        raise wrong(
            f"{where}.key", given["key"], f"{identity.key}, the hash of what the run rests on"
        )
    record = None if given["record"] is None else _record(given["record"], where)
    if len(given["reason"]) > LONGEST_REASON:
        raise RecordError(f"{where}.reason is longer than {LONGEST_REASON:,} characters")
    try:
        outcome = Outcome(given["state"], record, given["reason"])
    except RecordError as problem:
        raise RecordError(f"{where}: {problem.message}") from None
    cycles = None if record is None else record.cycles
    if given["cycles"] != cycles:
        raise wrong(f"{where}.cycles", given["cycles"], f"{cycles}, as its record has it")
    if record is not None and given["seconds"] != record.seconds:
        raise RecordError(f"{where}.seconds is not what its record has")
    if given["attempts"] > MOST:
        raise RecordError(f"{where}.attempts is {str(given['attempts'])[:20]}")
    estimated = _float(given["estimated"], f"{where}.estimated")
    label = RunLabel(given["name"], given["data"], given["machine"], estimated)
    if given["state"] is State.ESTIMATED and estimated is None:
        raise RecordError(f"{where}.estimated is missing: that is all that is known of it")
    for name in ("name", "data", "machine", "schedule", "program", "reason"):
        _storable(row[name], f"{where}.{name}")
    return StoredRun(
        identity.key,
        0,
        given["state"],
        label,
        identity,
        cycles,
        _float(given["seconds"], f"{where}.seconds"),
        outcome.reason,
        given["attempts"],
        _moment(given["created"], f"{where}.created"),
        _moment(given["changed"], f"{where}.changed"),
        None,
        None if record is None else record.to_json(),
    )


def _record(data: Any, where: str) -> RunRecord:
    try:
        return RunRecord.from_dict(data)
    except RecordError as problem:
        raise RecordError(f"{where}: {problem.message}", hint=problem.hint) from None


def _float(value: float | None, where: str) -> float | None:
    try:
        return None if value is None else float(value)
    except OverflowError:
        raise RecordError(f"{where} is too large") from None


def _storable(text: str | None, where: str) -> None:
    try:
        (text or "").encode()
    except UnicodeEncodeError:
        raise RecordError(f"{where} holds half a character, which is no text") from None


def _moment(text: str, where: str) -> float:
    """Seconds since 1970 of a moment as text."""
    try:
        moment = datetime.fromisoformat(text)
        seconds = moment.timestamp() if moment.tzinfo else math.nan
    except (ValueError, OverflowError):
        seconds = math.nan
    if not 0 <= seconds <= LAST:
        raise wrong(where, text, "a moment such as 2026-01-31T12:00:00Z")
    return seconds


def _short(problem: Exception) -> str:
    return " ".join(str(problem).split())[:200]
