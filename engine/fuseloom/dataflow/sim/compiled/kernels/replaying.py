"""The kernel that replays requests against a memory, for estimates."""

from __future__ import annotations

from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.dram import replay_requests
from fuseloom.dataflow.sim.compiled.layout import Int, state_of


@kernel("memory_replay")
def memory_replay(node: Int, table: Int) -> Int:
    """Replay the requests among the integers against the memory; when the last one was taken."""
    s = state_of(table)
    return replay_requests(s.mem, s.ints)
