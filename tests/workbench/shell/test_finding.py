"""The entries of Ctrl+K can be asked for."""

from __future__ import annotations

from fuseloom_workbench.shell.finding import TAKEN, finds
from fuseloom_workbench.shell.top_bar import TopBar
from fuseloom_workbench.state import commands


def test_all_that_is_found_can_be_asked_for(session):
    session.preset("partial")
    found = finds(session)
    for entry in found:
        name, *arguments = entry["do"]
        assert name in TAKEN
        assert commands.known(name, arguments), entry
    groups = [entry["group"] for entry in found]
    assert groups.count("Region") == len(session.regions)
    assert groups.count("Kernel") == sum(not unit.memory for unit in session.built.units)
    assert {"Preset", "Model", "Data", "Machine"} <= set(groups)


def test_what_is_found_is_carried_out_and_nothing_else(session):
    session.preset("partial")
    bar = TopBar(session)
    bar.handle({"kind": "take", "do": ["select_region", len(session.regions) - 1]})
    assert session.region == len(session.regions) - 1
    bar.handle({"kind": "take", "do": ["set_program", "nonsense"]})
    bar.handle({"kind": "take", "do": []})
    assert session.design.text is None
    bar.handle({"kind": "take", "do": ["preset", "full"]})
    assert session.built.preset_name == "full"
