"""Memory outside the chip: DRAM with FR-FCFS controllers, fixed-latency queues, or ideal.

:func:`build` makes the array a memory lives in; :mod:`engine.sim.dram.controller` has the
functions that run it, :mod:`engine.sim.dram.compiled` the same as machine code.
"""

from engine.sim.dram.config import Config, Dram, Ideal, Queues, from_dict, peak_bandwidth
from engine.sim.dram.mapping import Mapping, Place
from engine.sim.dram.presets import PRESETS, ddr4_3200, hbm2, preset
from engine.sim.dram.state import Command, Memory, build, trace
from engine.sim.dram.stats import ChannelStats, MemoryStats
from engine.sim.dram.timing import Timing

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
    "hbm2",
    "peak_bandwidth",
    "preset",
    "trace",
]
