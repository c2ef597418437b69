"""The entries of Ctrl+K can be asked for."""

from __future__ import annotations

from fuseloom_workbench.graph.drawing import is_copy
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
    gaps = len(session.built.units) - 1 - 2 * sum(unit.memory for unit in session.built.units)
    assert groups.count("Fusion") == gaps
    nodes = {e["do"][1] for e in found if e["group"] == "Node"}
    assert nodes == {n.id for n in session.current.graph.nodes if not is_copy(n)}
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


def test_a_kernel_is_cut_off_and_fused_again(session):
    """By what is found under its name."""
    session.preset("full")
    bar = TopBar(session)

    def take(name: str) -> None:
        (entry,) = [e for e in finds(session) if e["name"] == name]
        bar.handle({"kind": "take", "do": entry["do"]})

    last, kernel = session.built.units[-2:]
    take(f"cut before {kernel.name}")
    assert len(session.regions) == 2
    take(f"fuse {last.name} with {kernel.name}")
    assert len(session.regions) == 1
