"""The component of the memory's statistics."""

from __future__ import annotations

from fuseloom.dataflow.machine import Machine
from fuseloom_workbench.memory.memory_panel import MemoryPanel
from fuseloom_workbench.memory.view import view


def test_it_shows_the_region_selected(run_once):
    panel = MemoryPanel(run_once)
    assert panel.view == view(run_once)
    run_once.select_region(1)
    assert panel.view == view(run_once)
    assert panel.view["region"] == "T5..Y"


def test_it_follows_the_machine(session):
    panel = MemoryPanel(session)
    assert not panel.view["there"]
    session.set_machine("ideal")
    assert panel.view["there"]
    assert panel.view["memory"] is None
    assert session.machine == Machine.preset("ideal")
