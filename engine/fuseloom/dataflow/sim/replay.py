"""Run a replay of requests (:mod:`fuseloom.dataflow.sim.dram.replay`) on whatever is at hand."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.sim.dram import Config, build
from fuseloom.dataflow.sim.dram.replay import FREE, HEADER, PORT, replay_requests
from fuseloom.dataflow.sim.machine import Machine

FEW = 2_000
"""Requests up to which Python is done before the replay could be compiled."""


def replayed(
    machine: Machine, memory: Config, trace: npt.NDArray[np.int64], ports: int, requests: int
) -> npt.NDArray[np.int64]:
    """Replay requests against a memory at rest; by port, the cycle when its last token is taken.

    Parameters
    ----------
    memory : Dram, Ideal or Queues
        The memory, in place of the machine's.
    trace : array
        As :mod:`fuseloom.dataflow.sim.dram.replay` lays it out.
    ports, requests : int
        How many there are.
    """
    model = build(memory, machine.clock_hz, ports, machine.outstanding)
    kernels = compiled_kernels()
    if kernels is None or (requests <= FEW and not kernels.KERNELS["memory_replay"].ready):
        state: Any = trace.tolist()
        replay_requests(model.tolist(), state)
        return _free(np.array(state), ports)
    fields = import_module("fuseloom.dataflow.sim.compiled.layout").SimulationState._fields
    table = np.zeros(len(fields), dtype=np.int64)
    trace = trace.copy()
    table[fields.index("ints")], table[fields.index("mem")] = trace.ctypes.data, model.ctypes.data
    kernels.KERNELS["memory_replay"].compiled.ctypes(0, table.ctypes.data)
    return _free(trace, ports)


def _free(trace: npt.NDArray[np.int64], ports: int) -> npt.NDArray[np.int64]:
    """By port, when what takes its tokens is done with them."""
    return trace[HEADER : HEADER + ports * PORT].reshape(-1, PORT)[:, FREE]


def compiled_kernels() -> ModuleType | None:
    """The kernels, if this installation can import them; the first import costs a second."""
    try:
        return import_module("fuseloom.dataflow.sim.compiled.kernels")
    except ImportError:
        return None
