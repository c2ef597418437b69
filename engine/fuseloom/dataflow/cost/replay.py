"""Requests replayed (:mod:`fuseloom.dataflow.dram.replay`) as machine code, or as Python."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.dram import Config, build
from fuseloom.dataflow.dram.replay import FREE, HEADER, PORT, replay_requests
from fuseloom.dataflow.machine import Machine

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
        As :mod:`fuseloom.dataflow.dram.replay` lays it out.
    ports, requests : int
        How many there are.
    """
    model = build(memory, machine.clock_hz, ports, machine.outstanding)
    compiled = compiled_replay()
    if compiled is None or (requests <= FEW and not compiled.memory_replay.ready):
        state: Any = trace.tolist()
        replay_requests(model.tolist(), state)
        return _free(np.array(state), ports)
    trace = trace.copy()
    compiled.replay(model, trace)
    return _free(trace, ports)


def _free(trace: npt.NDArray[np.int64], ports: int) -> npt.NDArray[np.int64]:
    """By port, when what takes its tokens is done with them."""
    return trace[HEADER : HEADER + ports * PORT].reshape(-1, PORT)[:, FREE]


def compiled_replay() -> ModuleType | None:
    """The simulator's kernel, if this installation can import it; the first import costs a second.

    Its module is only named, as an estimate needs no simulator.
    """
    try:
        return import_module("fuseloom.dataflow.sim.compiled.kernels.replaying")
    except ImportError:
        return None
