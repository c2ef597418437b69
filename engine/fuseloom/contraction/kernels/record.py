"""A kernel's run as a record, beside those of the dataflow machine."""

from __future__ import annotations

from fuseloom.contraction.kernels.data import Data
from fuseloom.contraction.kernels.run import EXACT, KernelMeasurement, NestKernel
from fuseloom.contraction.loopnest.ir import Forall, walk
from fuseloom.errors import ProgramError
from fuseloom.program import StoredTensor
from fuseloom.results.check import Check
from fuseloom.results.cpu import NANOSECOND, cpu
from fuseloom.results.record import DataSource, RegionRecord, RunRecord


def kernel_record(
    kernel: NestKernel,
    measured: KernelMeasurement,
    *,
    name: str = "",
    products: float = 0.0,
    source: DataSource | None = None,
) -> RunRecord:
    """Return the record of a kernel's run.

    It has one region, the whole nest.  Its cycles are nanoseconds by the clock, its bytes those of
    the workspaces, its operations two per multiplication (a product and a sum).

    Parameters
    ----------
    products : float
        Multiplications of the run, as they are estimated.

    Raises
    ------
    ProgramError
        If its result was wrong: then there is no time.

    Examples
    --------
    >>> from fuseloom.contraction.kernels.run import kernels, measure
    >>> from fuseloom.contraction.loopnest.parser import parse_nest
    >>> from fuseloom.contraction.networks import from_einsum
    >>> from fuseloom.contraction.paths import binary
    >>> import numpy as np
    >>> tree = binary(from_einsum("ij,j->i", {"i": 2, "j": 2}))
    >>> nest = parse_nest("forall(i, forall(j, R(i) += A(i,j) * B(j)))")
    >>> (kernel,) = kernels([nest], tree)
    >>> times = measure({"rows": kernel}, {"A": np.eye(2), "B": np.ones(2)}, runs=1)
    >>> made = kernel_record(kernel, times["rows"], name="rows")
    >>> made.ok, made.regions[0].order, made.schedule
    (True, ('i', 'j'), 'forall(i, forall(j, R(i) += A(i,j) * B(j)))')
    """
    if measured.seconds is None:
        raise ProgramError(
            "a kernel whose result is wrong has no time", hint="look at max_rel_error"
        )
    loops = dict.fromkeys(part.index for part in walk(kernel.nest) if isinstance(part, Forall))
    region = RegionRecord(
        name=kernel.tree.result.tensor,
        order=tuple(loops),
        cycles=max(1, round(measured.seconds / NANOSECOND)),
        flops=2.0 * products,
        bytes=float(measured.workspace_bytes),
    )
    check = Check(measured.max_rel_error, tolerance=EXACT)
    return RunRecord(
        name or kernel.tree.result.tensor,
        str(kernel.nest),
        cpu(),
        source,
        (region,),
        check,
        measured.seconds,
    )


def stored(data: Data) -> dict[str, StoredTensor]:
    """The given tensors as the dataflow side keeps them, in float32."""
    return {
        name: StoredTensor.from_coo(one.tensor, one.coords, one.values)
        for name, one in data.elements.items()
    }
