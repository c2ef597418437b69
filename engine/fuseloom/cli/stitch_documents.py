"""The documents of ``fuseloom stitch --json``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, TypedDict

from fuseloom.results.declarations import Amount, Count, Positive


class StitchedRow(TypedDict):
    """A kernel."""

    frame: Annotated[str, "The computation that it belongs to."]
    ops: Annotated[Sequence[str], "Its operations, each behind those that it reads."]
    roots: Annotated[Sequence[str], "Those whose values it writes."]
    schedule: Annotated[str | None, "The division of its root into blocks: row or column, and the "
                        "dimension / the number of its parts; null of a call."]  # fmt: skip
    blocks: Annotated[Positive | None, "Blocks of threads; null of a call."]
    shared_bytes: Annotated[Count | None, "Bytes of shared memory of a block; null of a call."]
    recomputed: Annotated[Sequence[str], "Operations without the buffer that they would have."]
    call: Annotated[bool, "True of a call of a library, which is counted as no kernel."]
    predicted: Annotated[Amount | None, "Nanoseconds, by times of its operations; null unless "
                         "schedules are tuned."]  # fmt: skip
    reason: Annotated[str, "The way in which it came to be."]


class UnfusedPair(TypedDict):
    """An operation that is not in a kernel that reads it."""

    frame: Annotated[str, "The computation."]
    operation: Annotated[str, "What is read."]
    root: Annotated[str, "The operation that the kernel was grown from."]
    reader: Annotated[str, "The operation that is in the way."]
    rule: Annotated[str, "The reason."]
    dims: Annotated[Sequence[Count], "Dimensions of the reader that are in the way."]


class EndToEndTimes(TypedDict):
    """Times of the computation that is run, and the speedup of the whole, on this machine."""

    fused: Annotated[Amount, "Nanoseconds of all kernels."]
    baseline: Annotated[Amount, "Of the kernels by the rules of XLA."]
    taken_in: Annotated[Amount, "Of products that are calls by these rules, and in kernels here."]
    calls: Annotated[Amount, "Of calls of libraries that both have."]
    fusable_ratio: Annotated[Amount, "The share, by these rules, of what kernels are made of."]
    fusion_speedup: Annotated[Amount, "The time of that over the time of all kernels."]
    predicted: Annotated[Amount, "The speedup of the whole by the formula of the paper."]
    amdahl: Annotated[Amount, "The speedup of the whole by Amdahl's law."]
    measured: Annotated[Amount, "The time of a whole run by the rules, over that of one here."]
    ok: Annotated[bool, "True if both programs compute what the module means."]
    error: Annotated[Amount | None, "The largest difference of both programs from the meaning, by "
                     "the largest value; null if it has no number."]  # fmt: skip
    left_out: Annotated[Sequence[str], "Loops and branches, which are in no time."]
    evaluated: Annotated[Sequence[str], "Kernels that NumPy evaluates, on both sides."]


class KernelUse(TypedDict):
    """The resources of a kernel on a GPU, as its compiler tells them."""

    function: Annotated[str, "Its name."]
    architecture: Annotated[str, "Such as sm_90."]
    registers: Annotated[Count, "Of a thread."]
    spill_stores: Annotated[Count, "Bytes of a thread that registers do not suffice for."]
    spill_loads: Annotated[Count, "Bytes of a thread that are read back."]
    shared_bytes: Annotated[Count, "Of shared memory of a block."]


class EmittedFile(TypedDict):
    """A file of kernels."""

    frame: Annotated[str, "The computation that its kernels are of."]
    path: Annotated[str, "Its place."]
    functions: Annotated[Mapping[str, str], "Per kernel, by its first root, its function."]
    left_out: Annotated[Mapping[str, str], "Per kernel that has no such code the reason."]
    resources: Annotated[Sequence[KernelUse], "Of CUDA, if nvcc is there."]
    note: Annotated[str, "The reason why there are no resources; empty if there are."]


class CardRun(TypedDict):
    """A whole model on a GPU."""

    way: Annotated[str, "stitched, eager, or compiled; the latter two by PyTorch."]
    nanoseconds: Annotated[Amount, "Of a run, the median of several."]
    launches: Annotated[Count | None, "Kernels that ran; null if they were not counted."]
    error: Annotated[Amount, "The largest difference from its meaning, by its largest value."]


class GpuRun(TypedDict):
    """A job for a GPU, and its result if there is one."""

    folder: Annotated[str, "The job; empty if it ran here and was removed."]
    kernels: Annotated[Count, "Kernels of the model."]
    timed: Annotated[Count, "Functions that are timed: each kernel under several schedules."]
    left_out: Annotated[Mapping[str, str], "Per kernel that has no CUDA the reason."]
    reason: Annotated[str, "The reason why it was not run here; empty if it was."]
    card: Annotated[str, "The GPU that it ran on; empty if it did not run."]
    wrong: Annotated[Sequence[str], "Functions with a wrong result."]
    imported: Annotated[Count, "Times that were kept."]
    models: Annotated[Sequence[CardRun], "Whole models."]


class StitchTimesDocument(TypedDict):
    """The documents of ``fuseloom stitch --import-times``."""

    job: Annotated[str, "The module."]
    card: Annotated[str, "The GPU."]
    imported: Annotated[Count, "Times that were kept."]
    wrong: Annotated[Sequence[str], "Functions with a wrong result, whose times were not kept."]
    models: Annotated[Sequence[CardRun], "Whole models."]


class StitchDocument(TypedDict):
    """The documents of ``fuseloom stitch --json``."""

    name: Annotated[str, "The module."]
    products: Annotated[Literal["never", "batched", "all"], "Matrix products that are fused."]
    shared_memory: Annotated[Positive, "Bytes that a block may have."]
    sharing: Annotated[Literal["none", "dominance", "liveness"], "How buffers come to share space."]
    kernels: Annotated[Sequence[StitchedRow], "Kernels and calls, each behind those it reads."]
    count: Annotated[Count, "Kernels without calls, those of loops once."]
    xla_rules: Annotated[Count, "Kernels by the rules of XLA in 2018, counted alike."]
    ratio: Annotated[Amount, "The former by the latter."]
    refused: Annotated[Sequence[UnfusedPair], "What was not fused, and why."]
    max_rel_error: Annotated[
        Amount | None,
        "The largest difference of compiled kernels from the meaning of the operations, by the "
        "largest value; null if nothing was compiled.",
    ]
    compiled: Annotated[Count, "Kernels that were compiled and run; the others were interpreted."]
    end_to_end: Annotated[EndToEndTimes | None, "Null unless it was asked for."]
    emitted: Annotated[Sequence[EmittedFile] | None, "Null unless files were asked for."]
    gpu: Annotated[GpuRun | None, "Null unless it was asked for."]
