"""Machines and parameters of the worked examples."""

from __future__ import annotations

from fuseloom.dataflow.machine import Machine

COMAL = Machine.comal()

ADD = {"fn": "add"}
