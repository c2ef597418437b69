"""Code of the kernels of a fusion, in each language that there is a back end for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from fuseloom.errors import LimitError, LoweringError
from fuseloom.stitch.c.emitter import emit_stitched_c, stitched_source
from fuseloom.stitch.cuda.emitter import cuda_source, emit_stitched_cuda
from fuseloom.stitch.fusion import SHARED_MEMORY
from fuseloom.stitch.graph import DenseModule
from fuseloom.stitch.kernel_memory import memory_of
from fuseloom.stitch.phases import PhasedKernel, phases_of
from fuseloom.stitch.shared_memory import SpaceSharing
from fuseloom.stitch.stitched import DeepFusion, StitchedKernel
from fuseloom.stitch.triton.emitter import emit_stitched_triton, triton_source


class KernelLanguage(StrEnum):
    """Languages of kernels."""

    C = "c"
    CUDA = "cuda"
    TRITON = "triton"


@dataclass(frozen=True)
class KernelBackend:
    """The back end of a language.

    Attributes
    ----------
    title : str
    suffix : str
        Of names of files.
    emit : callable
        Writes a kernel as a function of some name.
    source : callable
        Puts functions together to a file, with what they call.
    """

    title: str
    suffix: str
    emit: Callable[[PhasedKernel, str], str]
    source: Callable[[Sequence[str]], str]


BACKENDS: Mapping[KernelLanguage, KernelBackend] = {
    KernelLanguage.C: KernelBackend("C", ".c", emit_stitched_c, stitched_source),
    KernelLanguage.CUDA: KernelBackend("CUDA C", ".cu", emit_stitched_cuda, cuda_source),
    KernelLanguage.TRITON: KernelBackend("Triton", ".py", emit_stitched_triton, triton_source),
}


@dataclass(frozen=True)
class KernelCode:
    """A kernel in some language.

    Attributes
    ----------
    kernel : str
        The operation that it was grown from.
    function : str
        The name of the function.
    text : str
        The function; empty if there is none.
    phased : PhasedKernel, optional
        What the function was written from.
    reason : str
        The reason why there is none.
    """

    kernel: str
    function: str
    text: str = ""
    phased: PhasedKernel | None = None
    reason: str = ""


def kernel_codes(
    module: DenseModule,
    fusion: DeepFusion,
    language: KernelLanguage = KernelLanguage.C,
    *,
    limit: int = SHARED_MEMORY,
    sharing: SpaceSharing = SpaceSharing.LIVENESS,
    prefix: str = "kernel",
) -> tuple[KernelCode, ...]:
    """Write all kernels of a fusion; what has no form in the language gets the reason.

    Parameters
    ----------
    module : DenseModule
        Has the computations that reductions apply.
    fusion : DeepFusion
        Of one of its computations.
    language : KernelLanguage
    limit : int
        Bytes of shared memory that a block may have.
    sharing : SpaceSharing
    prefix : str
        What names of functions begin with.

    Examples
    --------
    >>> from fuseloom.stitch.fusion import fuse
    >>> from fuseloom.stitch.hlo import read_hlo
    >>> module = read_hlo('''HloModule m
    ... ENTRY main {
    ...   x = f32[3,3] parameter(0)
    ...   y = f32[3,3] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    ...   ROOT z = f32[3,3] tanh(y)
    ... }''')
    >>> [(one.kernel, one.function, one.reason) for one in kernel_codes(module, fuse(module.main))]
    [('y', 'kernel_0', 'a call of a library: dot'), ('z', 'kernel_1', '')]
    """
    emit = BACKENDS[language].emit
    made = []
    for number, kernel in enumerate(fusion.kernels):
        name = f"{prefix}_{number}"
        try:
            phased = _phased(module, fusion, kernel, limit, sharing)
            made.append(KernelCode(kernel.name, name, emit(phased, name), phased))
        except (LimitError, LoweringError) as error:
            made.append(KernelCode(kernel.name, name, reason=error.message))
    return tuple(made)


def _phased(
    module: DenseModule,
    fusion: DeepFusion,
    kernel: StitchedKernel,
    limit: int,
    sharing: SpaceSharing,
) -> PhasedKernel:
    if kernel.schedule is None:
        raise LoweringError(kernel.reason)
    plan = memory_of(fusion.computation, kernel, limit, sharing)
    return phases_of(module, fusion.computation, kernel, plan)
