"""Parameters of machines as forms: each field is an edit with undo."""

from __future__ import annotations

from fuseloom_workbench.input import forms
from fuseloom_workbench.input.panels import MachinePanel
from fuseloom_workbench.state.session import Session


def test_parameters_of_the_machine_have_units_and_are_edits():
    session = Session("spmv", "random")
    session.set_machine("hbm2")
    panel = MachinePanel(session)
    shown = {f["path"]: f for g in panel.view["groups"] for f in g["fields"]}
    assert (shown["clock_hz"]["value"], shown["clock_hz"]["unit"]) == ("1000", "MHz")
    assert (shown["memory.timing.cl"]["value"], shown["memory.timing.cl"]["unit"]) == (
        "14",
        "clocks",
    )
    assert all(f["unit"] for f in shown.values() if f["value"].isdecimal())

    def give(path: str, text: str) -> bool:
        panel.handle({"kind": "field", "path": path, "text": text})
        return session.ok

    assert give("clock_hz", "1,500")
    assert session.machine.clock_hz == 1.5e9
    assert give("memory.timing.cl", "20")
    assert give("memory.refresh", "off")
    assert session.machine.memory.timing.cl == 20
    assert session.machine.memory.refresh is False
    assert give("channel_capacity", "unbounded")
    session.undo()
    before = session.machine
    for path, text in (("alu_latency", "0"), ("alu_latency", "1.5"), ("alu_latency", "soon"),
                       ("clock_hz", "nan"), ("clock_hz", "inf"), ("memory.rows", "-1"),
                       ("memory.refresh", "maybe"), ("memory", "x"), ("a.b", "1"),
                       ("memory.timing", "1"), ("name", "x")):  # fmt: skip
        assert not give(path, text), (path, text)
        assert panel.status["message"]
        assert session.machine == before
    assert forms.fields(session.machine)[0]["title"] == "Machine"
