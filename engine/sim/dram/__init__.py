"""The memory of a machine: a DRAM with its controllers, fixed-latency queues, or no limit."""

from engine.sim.dram.config import Config, Dram, Ideal, Queues, Timing, from_dict
from engine.sim.dram.presets import ddr4_3200, hbm2

__all__ = [
    "Config",
    "Dram",
    "Ideal",
    "Queues",
    "Timing",
    "ddr4_3200",
    "from_dict",
    "hbm2",
]
