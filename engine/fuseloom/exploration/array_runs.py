"""Mappings onto arrays in the run store, beside runs of the dataflow machine."""

from __future__ import annotations

import hashlib

from fuseloom.access.record import mapped_record
from fuseloom.access.sweep import ArrayDesign
from fuseloom.access.text import to_text
from fuseloom.exploration.store.identity import RunIdentity
from fuseloom.exploration.store.runs import Outcome, RunLabel
from fuseloom.exploration.store.store import RunStore
from fuseloom.results.record import DataSource, RunRecord


def keep_design(
    store: RunStore, design: ArrayDesign, name: str, label: str, *, schedule: str = ""
) -> RunRecord:
    """Keep layers on an array; what is there already stays as it is.

    Parameters
    ----------
    name : str
        What people call the network or kernel.
    label : str
        What they call the data.
    schedule : str
        The rules and limits of the saturation.

    Raises
    ------
    ProgramError
        If nothing is computed by the array.
    StoreError
        If the store cannot be used.
    """
    record = mapped_record(design, name, DataSource(label), schedule=schedule)
    program = "\n\n".join(to_text(layer.mapped.before) for layer in design.made.layers)
    contents = hashlib.sha256()
    for layer in design.made.layers:
        for tensor in sorted(layer.data):
            contents.update(tensor.encode())
            contents.update(layer.data[tensor].tobytes())
    identity = RunIdentity(
        program, record.schedule, contents.hexdigest(), record.machine.fingerprint,
        numerics="float64",
    )  # fmt: skip
    names = RunLabel(record.name, label, record.machine.name, float(design.made.cycles))
    store.put(identity, Outcome.of(record), names)
    return record
