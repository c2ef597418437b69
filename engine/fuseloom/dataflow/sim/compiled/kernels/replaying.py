"""The kernel that replays requests against a memory, for estimates."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.dram import replay_requests
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState, state_of


@kernel("memory_replay")
def memory_replay(node: Int, table: Int) -> Int:
    """Replay the requests among the integers against the memory; when the last one was taken."""
    s = state_of(table)
    return replay_requests(s.mem, s.ints)


def replay(memory: npt.NDArray[np.int64], trace: npt.NDArray[np.int64]) -> None:
    """Replay a trace against a memory, both in place."""
    addresses = {"ints": trace.ctypes.data, "mem": memory.ctypes.data}
    fields = [addresses.get(name, 0) for name in SimulationState._fields]
    table = np.array(fields, dtype=np.int64)
    memory_replay.compiled.ctypes(0, table.ctypes.data)
