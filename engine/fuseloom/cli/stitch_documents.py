"""The document of ``fuseloom stitch --json``."""

from __future__ import annotations

from collections.abc import Sequence
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


class StitchDocument(TypedDict):
    """The document of ``fuseloom stitch --json``."""

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
