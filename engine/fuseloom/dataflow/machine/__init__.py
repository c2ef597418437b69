"""Machines: what a graph runs on, and how long its values take there.

The simulator and the estimate read them, and know nothing of each other.
"""

from fuseloom.dataflow.machine.energy import Energy
from fuseloom.dataflow.machine.machine import PRESETS, Machine, Quirks

__all__ = ["PRESETS", "Energy", "Machine", "Quirks"]
