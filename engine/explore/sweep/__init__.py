"""Sweeps: every configuration of a declared space, estimated, simulated, and kept as a run.

::

    space = Space(Base("gcn"), {"preset": ["partial", "full"], "lanes.i": [1, 2, 4]})
    explore(space, simulate=True).frame
"""

from engine.explore.sweep.explored import Explored, Row
from engine.explore.sweep.space import Base, Given, Space
from engine.explore.sweep.sweep import Status, explore

__all__ = ["Base", "Explored", "Given", "Row", "Space", "Status", "explore"]
