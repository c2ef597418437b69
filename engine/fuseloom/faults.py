"""Reports of internal errors: files that say what a fault of Fuseloom needs to be found.

A report is a JSON document with the program, the schedule, the versions and the traceback, and
without tensor data.  Reports lie in the folder that ``$FUSELOOM_REPORTS`` names, or in ``reports``
of the user's data directory; the same fault has one file, however often it occurs.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import platform
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from types import MappingProxyType

import platformdirs

from fuseloom.atomic_files import replacing
from fuseloom.errors import shortened

VARIABLE = "FUSELOOM_REPORTS"
"""Environment variable that names another folder of reports."""
MOST_REPORTS = 100
"""Reports that a folder keeps; the oldest are removed."""
LONGEST = 200_000
"""Characters of a text that a report keeps."""
SHOWN = 140
"""Characters of a summary in a message, so that the path of the report stays whole."""
LIBRARIES = ("numpy", "scipy", "networkx", "numba", "pandas", "lark", "panel", "bokeh", "torch")
"""Libraries whose versions a report names, as far as they are installed."""


@dataclass(frozen=True)
class FaultReport:
    """An internal error that was reported.

    Attributes
    ----------
    summary : str
        What failed and how, on one line.
    path : Path or None
        The file of the report; None if it could not be written.
    """

    summary: str
    path: Path | None

    def __str__(self) -> str:
        saved = "no report could be written" if self.path is None else f"report: {self.path}"
        return f"internal error: {shortened(self.summary, SHOWN)} ({saved})"


_LOG = logging.getLogger(__name__)
_collected: ContextVar[list[FaultReport] | None] = ContextVar("fault_reports", default=None)
_subject: ContextVar[Mapping[str, Callable[[], str]]] = ContextVar(
    "fault_subject", default=MappingProxyType({})
)


@contextlib.contextmanager
def collected() -> Iterator[list[FaultReport]]:
    """Collect the reports that are made inside, each once.

    Whoever collects them shows them; reports that nobody collects are logged as warnings.
    """
    reports: list[FaultReport] = []
    token = _collected.set(reports)
    try:
        yield reports
    finally:
        _collected.reset(token)


@contextlib.contextmanager
def about(**texts: Callable[[], str]) -> Iterator[None]:
    """Add texts, such as the program and its schedule, to reports that are made inside.

    The texts are made only when there is something to report.
    """
    token = _subject.set({**_subject.get(), **texts})
    try:
        yield
    finally:
        _subject.reset(token)


def report(what: str, fault: BaseException, **texts: str) -> FaultReport:
    """Save a report of an unexpected exception and return it.

    Parameters
    ----------
    what : str
        What could not be done, such as ``"order i,j of region T0..T1 could not be built"``.
    fault : BaseException
        The exception.
    **texts : str
        Further texts, such as the region; they win over those of :func:`about`.
    """
    summary = f"{what}: {type(fault).__name__}: {fault}".replace("\n", " ")[:500]
    content = {
        "summary": summary,
        **{name: text()[:LONGEST] for name, text in _subject.get().items() if name not in texts},
        **{name: text[:LONGEST] for name, text in texts.items()},
        "traceback": "".join(traceback.format_exception(fault))[-LONGEST:],
        "versions": _versions(),
    }
    made = FaultReport(summary, _saved(content))
    reports = _collected.get()
    if reports is None:
        _LOG.warning("%s", made)
    elif made not in reports:
        reports.append(made)
    return made


def folder() -> Path:
    """Return the folder of reports: that of ``$FUSELOOM_REPORTS``, or one in the user's data."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    return Path(platformdirs.user_data_dir("fuseloom", appauthor=False)) / "reports"


def _versions() -> dict[str, str]:
    versions = {"python": sys.version, "platform": platform.platform()}
    for library in ("fuseloom", *LIBRARIES):
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[library] = metadata.version(library)
    return versions


def _saved(content: Mapping[str, object]) -> Path | None:
    """Write a report whole or not at all; return None if the folder takes no file."""
    text = json.dumps({"fuseloom": "internal error", "version": 1, **content}, indent=2)
    name = f"internal-error-{hashlib.sha256(text.encode()).hexdigest()[:12]}.json"
    try:
        place = folder()
        place.mkdir(parents=True, exist_ok=True)
        path = place / name
        if path.exists():
            return path
        with replacing(path, private=True) as file:
            file.write(f"{text}\n".encode())
        _prune(place)
    except OSError:
        return None
    return path


def _prune(place: Path) -> None:
    reports = sorted(place.glob("internal-error-*.json"), key=lambda path: path.stat().st_mtime)
    for path in reports[:-MOST_REPORTS]:
        path.unlink(missing_ok=True)
