"""``fuseloom simulate --keep``: a run that goes into the run store, or is there already."""

from __future__ import annotations

import sys
from typing import Any

from fuseloom.cli.inputs import CompiledInputs
from fuseloom.errors import FuseloomError
from fuseloom.exploration.store import Lease, Outcome, RunIdentity, RunLabel, RunStore, data_hash
from fuseloom.exploration.store.runs import FINISHED
from fuseloom.exploration.sweep.plan import run_identity
from fuseloom.results.record import RunRecord


def identity_of(given: CompiledInputs, options: Any) -> RunIdentity:
    """Return everything that the result of a program's run depends on."""
    compilation = given.compilation
    program = compilation.source or compilation.program
    schedule, sized = str(compilation.resolved), options.capacity == "sized"
    return run_identity(program, schedule, data_hash(given.data), given.machine, sized=sized)


class Keeping:
    """The store's part in a run: what it knows of it beforehand, and what it is told.

    Inside, a run that ends by an error is kept as such.

    Attributes
    ----------
    stored : RunRecord or None
        The record of this very run, if it was done before and holds all that is asked for.
    """

    def __init__(self, options: Any, given: CompiledInputs) -> None:
        self.stored: RunRecord | None = None
        self._lease: Lease | None = None
        self._store = RunStore()
        identity = identity_of(given, options)
        before = self._store.get(identity.key)
        self._before = None if before is None else before.record
        if self._before is not None:
            details = options.trace or options.explain or options.trace_out is not None
            details = details or (options.area and self._before.area is None)
            if not details and (options.no_check or self._before.check is not None):
                self.stored = self._before
                return
        source = given.source
        label = RunLabel(
            options.model or given.compilation.program.name,
            "" if source is None else source.label,
            given.machine.name,
        )
        self._lease = self._store.claim(identity, label, again=FINISHED)
        if self._lease is None:
            print("fuseloom: another process is at this run; this one is not kept", file=sys.stderr)

    def done(self, record: RunRecord) -> None:
        """Keep this record, unless there is one that holds what this one lacks."""
        if self._lease is not None:
            if self._before is None or _parts(self._before) <= _parts(record):
                self._store.finish(self._lease, Outcome.of(record))
            else:
                self._store.release(self._lease)
            self._lease = None

    def __enter__(self) -> Keeping:
        return self

    def __exit__(self, kind: object, value: BaseException | None, trace: object) -> None:
        if self._lease is not None:
            # what was done before is worth more than why it could not be done again
            if isinstance(value, FuseloomError) and self._before is None:
                self._store.finish(self._lease, Outcome.of_error(value))
            else:
                self._store.release(self._lease)
        self._store.close()


def _parts(record: RunRecord) -> set[str]:
    """Return the parts of a record that other records may lack."""
    regions = record.regions
    return {
        *(["check"] if record.check is not None else []),
        *(["path"] if all(region.path is not None for region in regions) else []),
        *(["area"] if record.area is not None else []),
        *(["nodes"] if all(region.nodes is not None for region in regions) else []),
    }
