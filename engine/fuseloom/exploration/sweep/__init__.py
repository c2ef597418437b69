"""Sweeps: every configuration of a declared space, estimated, simulated, and kept as a run.

::

    space = Space(Base("gcn"), {"preset": ["partial", "full"], "lanes.i": [1, 2, 4]})
    explore(space, simulate=True).frame
"""

from fuseloom.exploration.sweep.explored import Explored, ExploredRow
from fuseloom.exploration.sweep.space import Base, ProgramWithData, Space
from fuseloom.exploration.sweep.sweep import Status, explore

__all__ = ["Base", "Explored", "ExploredRow", "ProgramWithData", "Space", "Status", "explore"]
