"""Keys of the performance library, of operations and of whole kernels."""

from __future__ import annotations

from dataclasses import replace

from fuseloom.codegen.shared_objects import key_of
from fuseloom.stitch.graph import DenseComputation, DenseModule, DenseOperation
from fuseloom.stitch.operation_timing import PerformanceKey, PerformanceLookup, features_of
from fuseloom.stitch.schedules import BlockSchedule
from fuseloom.stitch.shared_memory import SharedMemoryPlan
from fuseloom.stitch.stitched import StitchedKernel


class PerformanceKeys:
    """Makes lookups of times of one machine.

    Parameters
    ----------
    machine : str
        Its fingerprint.
    """

    def __init__(self, machine: str) -> None:
        self._machine = machine
        self._features: dict[tuple[int, int, int], tuple[str, tuple[object, ...]]] = {}

    def lookup(
        self,
        module: DenseModule,
        computation: DenseComputation,
        operation: DenseOperation,
        schedule: BlockSchedule,
    ) -> PerformanceLookup:
        """Return the lookup of an operation under a schedule."""
        place = (id(module), id(computation), id(operation))
        if place not in self._features:
            kept = (module, computation, operation)  # so that none is freed and its id used again
            self._features[place] = (features_of(*kept), kept)
        warps = int(operation.opcode in ("reduce", "transpose"))
        key = PerformanceKey(
            operation.opcode, self._features[place][0], schedule.split_dim, schedule.sword,
            schedule.sched_type.value, warps=warps, machine=self._machine,
        )  # fmt: skip
        return PerformanceLookup(key, module, computation, operation)

    def kernel_lookup(
        self,
        module: DenseModule,
        computation: DenseComputation,
        kernel: StitchedKernel,
        plan: SharedMemoryPlan,
    ) -> PerformanceLookup:
        """Return the lookup of a whole kernel, which has a schedule.

        Its features are those of its operations, their schedules and buffers, and who reads whom.
        """
        assert kernel.schedule is not None
        places: dict[str, int] = {}
        for name in kernel.operations:
            for one in (*computation.by_name[name].operands, name):
                places.setdefault(one, len(places))
        told: list[object] = []
        for name in kernel.operations:
            operation = computation.by_name[name]
            part = kernel.parts[name].schedule or BlockSchedule(0, 1)
            own = replace(self.lookup(module, computation, operation, part).key, machine="")
            buffer = plan.buffers.get(name)
            reads = [places[one] for one in operation.operands]
            told.append((own, kernel.schedules[name] is None, buffer and buffer.slot, reads))
        told.append(([places[name] for name in kernel.roots], plan.slots))
        first = kernel.schedule
        key = PerformanceKey(
            "kernel", key_of(*told), first.split_dim, first.sword, first.sched_type.value,
            machine=self._machine,
        )  # fmt: skip
        root = computation.by_name[kernel.roots[0]]
        return PerformanceLookup(key, module, computation, root, (kernel, plan))
