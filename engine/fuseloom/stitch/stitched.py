"""Kernels of deep fusion, and what was not fused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from fuseloom.stitch.consistency import OperationPart
from fuseloom.stitch.graph import DenseComputation
from fuseloom.stitch.schedules import BlockSchedule
from fuseloom.stitch.spans import SpanAnalysis
from fuseloom.stitch.xla_rules import XlaFusion


@dataclass(frozen=True)
class StitchedKernel:
    """Operations that run as one kernel.

    Attributes
    ----------
    operations : tuple of str
        Each behind those that it reads.
    roots : tuple of str
        Operations whose values it writes; the first is the one that it was grown from.
    schedule : BlockSchedule, optional
        Of the root; None for a kernel that is no division into blocks: a call of a library, or
        something that nothing is fused into.
    parts : mapping
        Per operation its schedule, or that it is inlined.
    satisfiable : tuple of BlockSchedule
        All divisions of the root that are possible, one schedule for each.
    reason : str
        The way in which it came to be.
    is_call : bool
        True if it is a call of a library.
    """

    operations: tuple[str, ...]
    roots: tuple[str, ...]
    schedule: BlockSchedule | None
    parts: Mapping[str, OperationPart]
    satisfiable: tuple[BlockSchedule, ...]
    reason: str
    is_call: bool = False

    @property
    def name(self) -> str:
        """The operation that it was grown from."""
        return self.roots[0]

    @property
    def schedules(self) -> dict[str, BlockSchedule | None]:
        """Per operation its schedule; None if it is inlined."""
        return {name: part.schedule for name, part in self.parts.items()}


@dataclass(frozen=True)
class FusionRefusal:
    """An operation that was not fused into the kernel of an operation that reads it.

    Attributes
    ----------
    operation : str
    root : str
        The operation that the kernel was grown from.
    reader : str
        The operation, of the kernel or not, that is in the way.
    rule : str
        The reason.
    dims : tuple of int
        The dimensions of the reader that are in the way, if these are the reason.
    """

    operation: str
    root: str
    reader: str
    rule: str
    dims: tuple[int, ...] = ()


@dataclass(frozen=True)
class DeepFusion:
    """The kernels of a computation.

    Attributes
    ----------
    computation : DenseComputation
        With a copy of light operations for each of their readers.
    originals : mapping
        Per copy the operation of the computation that was given.
    analysis : SpanAnalysis
        Of the computation with the copies.
    kernels : tuple of StitchedKernel
        Each behind those whose values it reads.
    refused : tuple of FusionRefusal
    """

    computation: DenseComputation
    originals: Mapping[str, str]
    analysis: SpanAnalysis
    kernels: tuple[StitchedKernel, ...]
    refused: tuple[FusionRefusal, ...]

    @property
    def count(self) -> int:
        """The number of kernels without calls of libraries."""
        return sum(not kernel.is_call for kernel in self.kernels)

    @cached_property
    def kernel_of(self) -> Mapping[str, StitchedKernel]:
        """The kernel of each operation that is in one."""
        return {name: kernel for kernel in self.kernels for name in kernel.operations}

    @property
    def rules(self) -> Counter[str]:
        """The number of refusals by each rule."""
        return Counter(one.rule for one in self.refused)

    def ratio(self, baseline: XlaFusion) -> float:
        """The number of kernels by that of the baseline, both without calls of libraries.

        It is 1 where neither has any.
        """
        return self.count / baseline.count if baseline.count else 1.0
