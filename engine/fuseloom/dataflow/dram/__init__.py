"""Memory outside the chip: DRAM with FR-FCFS controllers, fixed-latency queues, or ideal.

:func:`build` makes the array a memory lives in; :mod:`fuseloom.dataflow.dram.controller` has
the functions that run it, :mod:`fuseloom.dataflow.sim.compiled.dram` the same as machine code.
"""

from fuseloom.dataflow.dram.config import (
    Config,
    Dram,
    Ideal,
    Queues,
    from_dict,
    given_fields,
    peak_bandwidth,
)
from fuseloom.dataflow.dram.mapping import DramAddress, Mapping
from fuseloom.dataflow.dram.presets import PRESETS, ddr4_3200, hbm2, preset
from fuseloom.dataflow.dram.state import DramCommand, Memory, build, trace
from fuseloom.dataflow.dram.stats import ChannelStats, MemoryStats
from fuseloom.dataflow.dram.timing import DramTiming

__all__ = [
    "PRESETS",
    "ChannelStats",
    "Config",
    "Dram",
    "DramAddress",
    "DramCommand",
    "DramTiming",
    "Ideal",
    "Mapping",
    "Memory",
    "MemoryStats",
    "Queues",
    "build",
    "ddr4_3200",
    "from_dict",
    "given_fields",
    "hbm2",
    "peak_bandwidth",
    "preset",
    "trace",
]
