"""Graphs whose nodes wait for each other."""

from __future__ import annotations

from fuseloom.dataflow.machine import Machine

OURS = Machine.default()
