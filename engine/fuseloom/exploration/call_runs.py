"""Measured calls in the run store, beside runs of the dataflow machine."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import scipy.sparse

from fuseloom.calls.composition import Composition
from fuseloom.calls.measuring import PipelineMeasurement
from fuseloom.calls.pipelines import PipelineCase
from fuseloom.calls.record import fused_record, whole_record
from fuseloom.exploration.store.identity import RunIdentity
from fuseloom.exploration.store.runs import Outcome, RunLabel
from fuseloom.exploration.store.store import RunStore
from fuseloom.results.record import DataSource, RunRecord


def keep_calls(
    store: RunStore,
    case: PipelineCase,
    measured: Sequence[PipelineMeasurement],
    name: str,
    label: str,
    settings: Mapping[str, str] | None = None,
) -> tuple[RunRecord, ...]:
    """Keep fused calls, and the whole calls beside them; what is there already stays as it is.

    Parameters
    ----------
    name : str
        What people call the composition.
    label : str
        What they call the data.
    settings : mapping, optional
        What else decides on times, such as the number of threads.

    Raises
    ------
    StoreError
        If the store cannot be used.
    """
    program = program_text(case.composition)
    contents = hashlib.sha256()
    for name_of_data in sorted(case.given):
        given: Any = case.given[name_of_data]
        contents.update(f"{name_of_data}{given.shape}".encode())
        sparse = scipy.sparse.issparse(given)
        for array in (given.indptr, given.indices, given.data) if sparse else (given,):
            contents.update(array.tobytes())
    records = [fused_record(one, name, DataSource(label)) for one in measured]
    records += [whole_record(one, name, DataSource(label)) for one in measured[:1]]
    for record in records:
        identity = RunIdentity(
            program, record.schedule, contents.hexdigest(), record.machine.fingerprint,
            numerics="float32", settings=settings or {},
        )  # fmt: skip
        names = RunLabel(name, label, record.machine.name)
        store.put(identity, Outcome.of(record), names)
    return tuple(records)


def program_text(composition: Composition) -> str:
    """Calls and their annotations as text, which tells compositions apart.

    Examples
    --------
    >>> from fuseloom.calls.pipelines import PIPELINES
    >>> print(program_text(PIPELINES["add6"].make({"n": 8}).composition)[:21])
    t1 = add(a1, a2, t1)
    """
    lines, annotations = [], {}
    for call in composition.calls:
        given = (str(getattr(value, "name", value)) for value in call.arguments.values())
        lines.append(f"{call.output.name} = {call.function.name}({', '.join(given)})")
        annotations[call.function.name] = str(call.function.annotation)
    return "\n".join([*lines, *(f"{name}: {text}" for name, text in annotations.items())])
