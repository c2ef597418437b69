"""Deep fusion: kernels of a computation, grown from its result towards its parameters.

Section 3.2 of FusionStitching (Long et al., 2018).  Layer by layer, elementwise operations of one
shape are grouped (``ElementwiseFusion``); then each group, and each other operation of the layer,
is the root of a kernel, which takes in operations of the layers behind it up to the next layer with
a call of a library (Algorithm 1).  An operation is taken in if

* none of its readers was given up for this kernel, and one is in it,
* no other kernel would come to lie between parts of it,
* some schedule of the root fits all operations, with blocks enough (see
  :class:`FusionSettings`), and with the shared memory that reductions and dots need.

Bitcasts, iotas, slices and broadcasts are taken in from behind that layer, too, since they are
computed where they are read.  The layers alone do not exclude cycles: of two kernels with roots in
one layer, either could take in what the other reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import Protocol, TypeAlias, runtime_checkable

from fuseloom.stitch.consistency import (
    InconsistentPart,
    OperationPart,
    ScheduleConsistency,
    ScheduleTrial,
)
from fuseloom.stitch.contracted import ContractedGraph
from fuseloom.stitch.copies import with_copies
from fuseloom.stitch.graph import DenseComputation, DenseOperation
from fuseloom.stitch.opcodes import (
    POINTWISE,
    OperationClass,
    ProductFusion,
    is_launched,
    is_library_call,
    is_light,
    operation_class,
)
from fuseloom.stitch.spans import SpanAnalysis, analyse_spans, joined_roots
from fuseloom.stitch.stitched import DeepFusion, FusionRefusal, StitchedKernel
from fuseloom.wording import counted

SHARED_MEMORY = 20_480
"""Bytes of shared memory of a block, as in the paper."""
KernelCheck: TypeAlias = Callable[[StitchedKernel], str]
"""Says why a kernel is not possible, such as that its buffers do not fit; else an empty text."""


@runtime_checkable
class RoomCheck(Protocol):
    """A check of kernels that can tell without seeing one that there is no objection to it."""

    def has_room(self, direct_bytes: int) -> bool:
        """Tell if kernels pass whose reductions and dots take so many bytes, if none is shared."""


@dataclass(frozen=True)
class FusionSettings:
    """Limits on the size of kernels.

    Attributes
    ----------
    enough_blocks : int
        Blocks that keep a device busy: with as many, a kernel may always grow.
    block_elements : int
        Elements of an operation that one block may compute. A kernel with fewer blocks may grow
        while none has to compute more, or more than blocks of the root alone do.
    call_layers : bool
        True if nothing is taken in from layers that calls of libraries are in, as in the paper;
        otherwise only the calls themselves, and what they read, are not taken in.
    give_up : bool
        True if nothing is taken in that is read by what was not, as in the paper; otherwise
        everything that makes no cycle.
    """

    enough_blocks: int = 64
    block_elements: int = 8_192
    call_layers: bool = True
    give_up: bool = True


def fuse(
    computation: DenseComputation,
    products: ProductFusion = ProductFusion.NEVER,
    *,
    footprint: int = 1 << 22,
    shared_memory: int = SHARED_MEMORY,
    consistent: KernelCheck | None = None,
    settings: FusionSettings | None = None,
) -> DeepFusion:
    """Fuse the operations of a computation into kernels.

    Parameters
    ----------
    computation : DenseComputation
    products : ProductFusion
        The dots that are fused; the others are calls of libraries.
    footprint : int
        Bytes that elementwise operations of one layer may read and write in one kernel.
    shared_memory : int
        Bytes of shared memory that a block has; reductions and dots that are not the root of a
        kernel need some.
    consistent : callable, optional
        Asked about each kernel before it grows, as it would be.
    settings : FusionSettings, optional

    Examples
    --------
    Softmax of rows is one kernel, in which each block computes rows.

    >>> from fuseloom.stitch.shapes import TensorShape
    >>> rows, row = TensorShape("f32", (64, 512)), TensorShape("f32", (64,))
    >>> made = fuse(DenseComputation("softmax", (
    ...     DenseOperation("x", "parameter", rows),
    ...     DenseOperation("zero", "constant", TensorShape("f32", ())),
    ...     DenseOperation("e", "exponential", rows, ("x",)),
    ...     DenseOperation("s", "reduce", row, ("e", "zero"), {"dimensions": (1,)}),
    ...     DenseOperation("wide", "broadcast", rows, ("s",), {"dimensions": (0,)}),
    ...     DenseOperation("y", "divide", rows, ("e", "wide")),
    ... ), "y"))
    >>> [(kernel.operations, str(kernel.schedule)) for kernel in made.kernels]
    [(('e', 's', 'wide', 'y'), 'row 0/64')]
    >>> [len(kernel.satisfiable) for kernel in made.kernels]
    [7]
    """
    copied = with_copies(computation, products)
    fuser = _DeepFuser(
        copied.computation, products, footprint, shared_memory, consistent,
        settings or FusionSettings(),
    )  # fmt: skip
    kernels = fuser.kernels()
    return DeepFusion(
        copied.computation, copied.originals, fuser.analysis, kernels, tuple(fuser.refused)
    )


class _DeepFuser:
    def __init__(
        self,
        computation: DenseComputation,
        products: ProductFusion,
        footprint: int,
        shared_memory: int,
        consistent: KernelCheck | None,
        settings: FusionSettings,
    ) -> None:
        self.computation = computation
        self.products = products
        self.footprint = footprint
        self.check = consistent
        given: object = consistent
        self.room = given if isinstance(given, RoomCheck) else None
        self.settings = settings
        self.analysis: SpanAnalysis = analyse_spans(computation, products)
        self.shared_memory = shared_memory
        self.checker = ScheduleConsistency(computation)
        self.graph = ContractedGraph({one.name: one.operands for one in computation.operations})
        self.places = {one.name: place for place, one in enumerate(computation.operations)}
        self.outputs = {*computation.outputs, computation.root}
        self.done: dict[str, int] = {}  # per operation the kernel that it is in
        self.refused: list[FusionRefusal] = []

    def kernels(self) -> tuple[StitchedKernel, ...]:
        """All kernels, in an order in which they can run."""
        computation, grown = self.computation, list[_Growth]()
        for span, layer in enumerate(self.analysis.layers):
            open_ = [name for name in layer if name not in self.done and self._is_root(name)]
            for roots in joined_roots(computation, open_, self.graph, self.footprint):
                growth = _Growth(self, roots, span)
                grown.append(growth)
                self.done |= dict.fromkeys(roots, len(grown))
                if growth.trials:
                    growth.grow()
        return self._in_order([growth.kernel() for growth in grown])

    def _is_root(self, name: str) -> bool:
        return is_launched(self.computation, self.computation.by_name[name])

    def is_fused(self, operation: DenseOperation) -> bool:
        """Tell if an operation is of a class that is fused."""
        found = operation_class(operation)
        if found is OperationClass.PRODUCT:
            return not is_library_call(operation, self.products)
        return found in POINTWISE or found in (OperationClass.REDUCE, OperationClass.INDEXED)

    def is_output(self, name: str, inside: Sequence[str] | set[str] | dict[str, None]) -> bool:
        """Tell if others than some operations read the value of an operation."""
        readers = self.computation.users[name]
        return name in self.outputs or any(user not in inside for user in readers)

    def has_room(self, direct_bytes: int) -> bool:
        """Tell if nothing objects to kernels whose reductions and dots take so many bytes."""
        return self.room.has_room(direct_bytes) if self.room else self.check is None

    def objection(self, kernel: StitchedKernel) -> str:
        """The reason for which the check refuses a kernel; empty if it does not."""
        return self.check(kernel) if self.check else ""

    def _in_order(self, kernels: Sequence[StitchedKernel]) -> tuple[StitchedKernel, ...]:
        homes = {name: number for number, one in enumerate(kernels) for name in one.operations}
        made: list[StitchedKernel] = []
        seen: set[str | int] = set()
        stack: list[tuple[str, bool]] = [(one.name, False) for one in kernels[::-1]]
        while stack:
            name, behind = stack.pop()
            key = homes.get(name, name)
            if behind:
                if isinstance(key, int):
                    made.append(kernels[key])
                continue
            if key in seen:
                continue
            seen.add(key)
            stack.append((name, True))
            members = kernels[key].operations if isinstance(key, int) else (name,)
            for member in members:
                stack += [(one, False) for one in self.computation.by_name[member].operands]
        return tuple(made)


class _Growth:
    """A kernel as it grows."""

    def __init__(self, fuser: _DeepFuser, roots: tuple[str, ...], span: int) -> None:
        self.fuser = fuser
        self.roots = roots
        self.span = span
        self.fused: dict[str, None] = dict.fromkeys(roots)
        self.given_up: set[str] = set()
        self.roof = span
        first = fuser.computation.by_name[roots[0]]
        self.trials: list[ScheduleTrial] = []
        if fuser.is_fused(first):
            self.trials = fuser.checker.trials(roots)
        self.work = max(fuser.checker.work[root] for root in roots)
        most = max((trial.blocks for trial in self.trials), default=1)
        self.root_share = self.work / most
        self.chosen = self._by_choice(self.trials, self.work)

    def grow(self) -> None:
        """Take in operations of the layers behind, up to the roof: Algorithm 1."""
        analysis = self.fuser.analysis
        whole = len(analysis.layers)
        self.roof = analysis.roof(self.span) if self.fuser.settings.call_layers else whole
        waiting: list[tuple[int, int, str]] = []
        seen: set[str] = set()
        read = self._operands(self.roots)
        while True:
            for name in read:
                if name not in seen and analysis.spans[name] < self.roof:
                    seen.add(name)
                    heappush(waiting, (analysis.spans[name], self.fuser.places[name], name))
            if not waiting:
                break
            name = heappop(waiting)[2]
            read = self._operands([name]) if self._consider(name) else ()
        fresh: Sequence[str] = [*self.fused]
        while light := self._light_operands(fresh):
            fresh = [name for name in light if self._consider(name)]

    def _operands(self, names: Iterable[str]) -> tuple[str, ...]:
        by_name = self.fuser.computation.by_name
        return tuple(
            one for name in names for one in by_name[name].operands if one not in self.fuser.done
        )  # fmt: skip

    def _is_given_up(self, name: str) -> bool:
        """Tell if an operation was passed over; up to the roof, that is all that no kernel has."""
        if self.span < self.fuser.analysis.spans[name] < self.roof:
            operation = self.fuser.computation.by_name[name]
            is_value = operation_class(operation) is OperationClass.VALUE
            return name not in self.fuser.done and not is_value
        return name in self.given_up

    def _light_operands(self, fresh: Sequence[str]) -> list[str]:
        """Operands behind the roof that are computed where they are read, the nearest first."""
        computation = self.fuser.computation
        light = {
            name for name in self._operands(fresh)
            if not self._is_given_up(name) and is_light(computation, computation.by_name[name])
        }  # fmt: skip
        return sorted(light, key=lambda one: (self.fuser.analysis.spans[one], one))

    def _consider(self, name: str) -> bool:
        """Take an operation in, or give it up; true if it is in."""
        operation = self.fuser.computation.by_name[name]
        if operation_class(operation) is OperationClass.VALUE:
            return False
        why = self._refusal(operation)
        if why is None:
            self.fused[name] = None
            self.fuser.done[name] = self.fuser.done[self.roots[0]]
            self.fuser.graph.join(self.roots[0], name)
            if self.fuser.checker.work[name] > self.work:
                self.work = self.fuser.checker.work[name]
                self.chosen = self._by_choice(self.trials, self.work)
            return True
        self.given_up.add(name)
        self.fuser.refused.append(
            FusionRefusal(name, self.roots[0], why.reader, why.rule, why.dims)
        )  # fmt: skip
        return False

    def _refusal(self, operation: DenseOperation) -> InconsistentPart | None:
        """Say why an operation is not taken in; if it is, keep the schedules that fit it."""
        name = operation.name
        users = self.fuser.computation.users[name]
        if not self.fuser.is_fused(operation) or operation.shape.byte_size == 0:
            return InconsistentPart(f"nothing takes in {operation.opcode}", name)
        if self.fuser.settings.give_up:
            for user in users:
                if self._is_given_up(user):
                    return InconsistentPart("one of its readers was given up", user)
        if self.fuser.graph.makes_cycle(self.roots[0], name):
            return InconsistentPart("another kernel would lie between", name)
        return self._fits(name)

    def _fits(self, name: str) -> InconsistentPart | None:
        stored = self.fuser.is_output(name, self.fused)
        work = max(self.work, self.fuser.checker.work[name])
        found: list[tuple[ScheduleTrial, OperationPart]] = []
        why: InconsistentPart | None = None
        for trial in self.chosen:
            part = self.fuser.checker.part(trial, name, stored)
            if isinstance(part, OperationPart):
                found.append((trial, part))
            else:
                why = why or part
        good = [trial for trial, _ in found if self._has_enough(trial.blocks, work)]
        if not good:
            most = max((trial.blocks for trial, _ in found), default=0)
            few = InconsistentPart(f"schedules that fit have at most {most:,} blocks", name)
            return why if why is not None and self._was_enough(work) else few
        own = self.fuser.computation.by_name[name]
        least = min(self._bytes_with(trial, own) for trial in good)
        if least > self.fuser.shared_memory:
            return InconsistentPart(
                f"reductions and dots take {counted(least, 'byte')} of shared memory", name
            )
        if text := self._checked(name, found):
            return InconsistentPart(text, name)
        self._keep(name, found)
        return None

    def _bytes_with(self, trial: ScheduleTrial, operation: DenseOperation) -> int:
        return trial.direct_bytes + self.fuser.checker.direct_bytes(operation, trial.blocks)

    def _is_usable(self, trial: ScheduleTrial, work: int) -> bool:
        return (
            self._has_enough(trial.blocks, work)
            and trial.direct_bytes <= self.fuser.shared_memory
        )  # fmt: skip

    def _was_enough(self, work: int) -> bool:
        return any(self._is_usable(trial, work) for trial in self.trials)

    def _has_enough(self, blocks: int, work: int) -> bool:
        """Tell if a kernel with so many blocks keeps a device busy, or has little to do."""
        settings = self.fuser.settings
        most = max(settings.block_elements, self.root_share)
        return blocks >= settings.enough_blocks or work <= most * blocks

    def _keep(self, name: str, found: Sequence[tuple[ScheduleTrial, OperationPart]]) -> None:
        operation = self.fuser.computation.by_name[name]
        for trial, part in found:
            trial.parts[name] = part
            trial.direct_bytes = self._bytes_with(trial, operation)
        if len(found) < len(self.trials):
            kept = {id(trial) for trial, _ in found}
            self.trials = [trial for trial in self.trials if id(trial) in kept]
            self.chosen = [trial for trial, _ in found]

    def _checked(self, name: str, found: Sequence[tuple[ScheduleTrial, OperationPart]]) -> str:
        """The objection to the kernel with an operation, or to all schedules that it may have."""
        work = max(self.work, self.fuser.checker.work[name])
        parts = {id(trial): part for trial, part in found}
        trials = [trial for trial, _ in found]
        text = ""
        for trial in self._by_choice(trials, work) if work > self.work else trials:
            direct = self._bytes_with(trial, self.fuser.computation.by_name[name])
            if not self._has_enough(trial.blocks, work) or direct > self.fuser.shared_memory:
                continue
            if self.fuser.has_room(direct):
                return ""
            grown = replace(
                trial, parts={**trial.parts, name: parts[id(trial)]}, direct_bytes=direct
            )
            text = self.fuser.objection(self._made({**self.fused, name: None}, [grown], grown))
            if not text:
                return ""
        return text

    def _by_choice(self, trials: Sequence[ScheduleTrial], work: int) -> list[ScheduleTrial]:
        """Schedules, the best first: the most blocks of those that have enough to do each."""
        least = min(work, 32)

        def rank(trial: ScheduleTrial) -> tuple[bool, int]:
            busy = work // trial.blocks >= least
            return (not busy, -trial.blocks if busy else trial.blocks)

        return sorted(trials, key=rank)

    def kernel(self) -> StitchedKernel:
        """The kernel that it has become."""
        trials = self.chosen
        usable = [one for one in trials if self._is_usable(one, self.work)] or trials
        if len(self.fused) > len(self.roots):
            checked = (
                one for one in usable
                if self.fuser.has_room(one.direct_bytes)
                or not self.fuser.objection(self._made(self.fused, self.trials, one))
            )  # fmt: skip
            usable = [next(checked, usable[0])]
        return self._made(self.fused, trials, usable[0] if usable else None)

    def _made(
        self, fused: dict[str, None], trials: Sequence[ScheduleTrial], best: ScheduleTrial | None
    ) -> StitchedKernel:
        computation = self.fuser.computation
        order = sorted(fused, key=self.fuser.places.__getitem__)
        roots = frozenset(self.roots)
        others = [
            name for name in order
            if name not in roots and self.fuser.is_output(name, fused)
        ]  # fmt: skip
        call = is_library_call(computation.by_name[self.roots[0]], self.fuser.products)
        return StitchedKernel(
            tuple(order),
            (*self.roots, *others),
            best.schedule if best else None,
            {name: best.parts[name] for name in order} if best else {},
            tuple(trial.schedule for trial in trials),
            self._reason(call),
            call,
        )

    def _reason(self, call: bool) -> str:
        opcode = self.fuser.computation.by_name[self.roots[0]].opcode
        if call:
            return f"a call of a library: {opcode}"
        if not self.trials:
            return f"{opcode} is a kernel of its own"
        start = f"{len(self.roots)} of layer {self.span}" if len(self.roots) > 1 else "grown"
        return f"{start} from layer {self.span} up to layer {self.roof - 1}"
