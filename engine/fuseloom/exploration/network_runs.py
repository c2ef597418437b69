"""Runs of networks' kernels in the run store, beside those of the dataflow machine."""

from __future__ import annotations

from fuseloom.contraction.kernels.data import Data
from fuseloom.contraction.kernels.record import kernel_record, stored
from fuseloom.contraction.kernels.run import KernelMeasurement, NestKernel
from fuseloom.contraction.ranking import Candidate
from fuseloom.exploration.store.identity import RunIdentity, data_hash
from fuseloom.exploration.store.runs import Outcome, RunLabel
from fuseloom.exploration.store.store import RunStore
from fuseloom.results.record import DataSource, RunRecord


def keep(
    store: RunStore,
    candidate: Candidate,
    kernel: NestKernel,
    measured: KernelMeasurement,
    data: Data,
    label: str = "",
    network: str = "",
) -> RunRecord:
    """Keep a measured run; one that is there already stays as it is.

    Parameters
    ----------
    label : str
        What people call the data.
    network : str
        What they call the network.

    Raises
    ------
    ProgramError
        If its result was wrong.
    StoreError
        If the store cannot be used.
    """
    record = kernel_record(
        kernel,
        measured,
        name=f"{network or kernel.tree.result.tensor}, {candidate.scheme.value}",
        products=candidate.predicted.products,
        source=DataSource(label) if label else None,
    )
    identity = RunIdentity(
        str(kernel.tree.program),
        record.schedule,
        data_hash(stored(data)),
        record.machine.fingerprint,
        numerics="float64",
        settings={"by": kernel.built.by},
    )
    estimated = candidate.predicted.nanoseconds
    names = RunLabel(record.name, label, record.machine.name, estimated)
    store.put(identity, Outcome.of(record), names)
    return record
