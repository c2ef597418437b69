"""Memory outside the chip: DRAM with FR-FCFS controllers, fixed-latency queues, or ideal.

:func:`build` makes the array a memory lives in; :mod:`fuseloom.dataflow.sim.dram.controller` has
the functions that run it, :mod:`fuseloom.dataflow.sim.compiled.dram` the same as machine code.
"""

from fuseloom.dataflow.sim.dram.config import (
    Config,
    Dram,
    Ideal,
    Queues,
    from_dict,
    given_fields,
    peak_bandwidth,
)
from fuseloom.dataflow.sim.dram.mapping import Mapping, Place
from fuseloom.dataflow.sim.dram.presets import PRESETS, ddr4_3200, hbm2, preset
from fuseloom.dataflow.sim.dram.state import Command, Memory, build, trace
from fuseloom.dataflow.sim.dram.stats import ChannelStats, MemoryStats
from fuseloom.dataflow.sim.dram.timing import Timing

__all__ = [
    "PRESETS",
    "ChannelStats",
    "Command",
    "Config",
    "Dram",
    "Ideal",
    "Mapping",
    "Memory",
    "MemoryStats",
    "Place",
    "Queues",
    "Timing",
    "build",
    "ddr4_3200",
    "from_dict",
    "given_fields",
    "hbm2",
    "peak_bandwidth",
    "preset",
    "trace",
]
