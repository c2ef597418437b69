"""This machine's processor, as what records of measured code ran on."""

from __future__ import annotations

import hashlib

from fuseloom.codegen.shared_objects import processor
from fuseloom.results.record import MachineId

NANOSECOND = 1e-9
"""Seconds of a cycle of the machine of these records."""


def cpu() -> MachineId:
    """This machine's processor, as a machine whose cycles are nanoseconds."""
    told = processor()
    words = told.split()
    model = words[1] if len(words) > 1 else told
    return MachineId(f"CPU {model}, 1 ns cycles", hashlib.sha256(told.encode()).hexdigest())
