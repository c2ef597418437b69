"""Comparisons that were made before: kept in the cache, found again by all that they depend on."""

from __future__ import annotations

import hashlib
from pathlib import Path

import platformdirs

from fuseloom.atomic_files import replacing
from fuseloom.comparison.problem import ComparedProgram
from fuseloom.comparison.rows import Comparison, FusionSystem
from fuseloom.dataflow.sim.reports import Limits
from fuseloom.errors import FuseloomError
from fuseloom.exploration.store.identity import SIMULATION, data_hash, engine_version
from fuseloom.program import regular_files
from fuseloom.results.cpu import cpu
from fuseloom.results.declarations import read
from fuseloom.results.document import DocumentKind, content_of, document, from_text, to_text

MAX_FILE = 1 << 20
"""Bytes of a kept comparison."""
MOST_KEPT = 200
"""Comparisons that are kept; the oldest go."""
SOURCES = (
    *SIMULATION,
    "codegen",
    "contraction",
    "access",
    "calls",
    "stitch",
    "exploration",
    "comparison",
)
"""Packages on whose sources rows depend."""


def known_comparison(problem: ComparedProgram, system: FusionSystem) -> Comparison | None:
    """Return the rows of a system that were kept, or None.

    A file that is damaged, or of another version, counts as none.
    """
    path = _path(problem, system)
    try:
        text = regular_files.text(path, MAX_FILE, what="comparison", error=FuseloomError)
        content = content_of(DocumentKind.COMPARISON, from_text(text))
        return read(Comparison, content, "comparison")
    except FuseloomError:
        return None


def keep_comparison(problem: ComparedProgram, system: FusionSystem, made: Comparison) -> None:
    """Keep the rows of a system; where the cache cannot be written, nothing happens."""
    path = _path(problem, system)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path, private=True) as file:
            file.write(to_text(document(DocumentKind.COMPARISON, made.to_dict())).encode())
        kept = sorted(path.parent.glob("*.json"), key=lambda one: one.stat().st_mtime)
        for old in kept[:-MOST_KEPT]:
            old.unlink(missing_ok=True)
    except OSError:
        return


def _path(problem: ComparedProgram, system: FusionSystem) -> Path:
    """The file of a comparison: its name is a hash of all that its rows depend on."""
    limits = problem.limits or Limits()
    told = repr((
        str(problem.program), data_hash(problem.data), sorted(problem.presets.items()),
        problem.machine.fingerprint, problem.array, problem.seconds, problem.rounds,
        (limits.tokens, limits.memory, limits.cycles), system.value, cpu().fingerprint,
        engine_version(SOURCES),
    ))  # fmt: skip
    folder = platformdirs.user_cache_path("fuseloom") / "comparisons"
    return folder / f"{hashlib.sha256(told.encode()).hexdigest()}.json"
