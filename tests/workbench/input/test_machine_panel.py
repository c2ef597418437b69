"""Choosing a machine, and writing one."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.sim.machine_text import print_machine
from fuseloom_workbench.input.machine_panel import MachinePanel
from fuseloom_workbench.running.run_panel import RunPanel


def test_the_machine_panel_shows_and_answers(session):
    panel, run = MachinePanel(session), RunPanel(session)
    panel.handle({"kind": "preset", "name": "hbm2"})
    assert panel.view["chosen"] == "hbm2"
    assert "256.0 GB/s peak" in panel.view["about"]
    panel.handle({"kind": "capacity", "tokens": "16"})
    assert panel.view["chosen"] == ""
    assert panel.view["label"] == "hbm2, 16 tokens per channel"
    assert panel.view["text"] == print_machine(session.machine)
    panel.handle({"kind": "apply", "text": "alu_latency = 'fast'"})
    assert not panel.status["ok"]
    assert "alu_latency is 'fast'" in panel.status["message"]
    assert not run.status  # the answer stands where the question was


@pytest.mark.parametrize(
    "request_",
    [{"kind": "preset"}, {"kind": "capacity", "tokens": 3}, {"kind": "apply", "text": None}],
)
def test_the_machine_panel_ignores_nonsense(session, request_):
    panel = MachinePanel(session)
    panel.receive(request_)
    assert session.answers == 1
