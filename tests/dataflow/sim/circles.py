"""Graphs whose nodes wait for each other."""

from __future__ import annotations

from engine.dataflow.sim.machine import Machine

OURS = Machine.default()
