"""The machine of a design, and what a run on it leaves behind."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.dataflow.sim.machine import PRESETS, Machine
from engine.dataflow.sim.machine_text import print_machine
from engine.models.datasets import GRAPHS, VARIABLE
from workbench.data_label import DataLabel
from workbench.design import fitting_data
from workbench.graph_view import GraphView
from workbench.machine_panel import MachinePanel
from workbench.machines import PATIENCE, expected_seconds, machine_label
from workbench.memory_panel import MemoryPanel, memory_html
from workbench.node_details import NodeDetails
from workbench.path_panel import PathPanel
from workbench.quantities import about
from workbench.records import ports_of, source_of
from workbench.run_panel import RunPanel
from workbench.runs_table import RunsTable
from workbench.session import Session
from workbench.utilisation import Utilisation

from .test_session import outcome


@pytest.fixture
def session():
    return Session("gcn", "karate")


@pytest.fixture(scope="module")
def explained():
    """A session with an explained run on hbm2; tests only look at it."""
    from engine.dataflow.sim.explain.data import PAGE, observation
    from engine.dataflow.sim.program_runs import simulate
    from engine.dataflow.sim.records import program_record

    session = Session("gcn", "karate", machine=Machine.preset("hbm2"))
    run = simulate(
        session.compilation, session.built.data, session.machine, observe=observation(True)
    )
    session.finish(session.built, program_record(run, run.check(), PAGE, source_of(session.built)))
    return session


# The machine is part of the design ----------------------------------------------------------


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_can_be_chosen_and_undone(session, name):
    built = session.built
    assert session.set_machine(name), session.message
    assert session.machine == Machine.preset(name)
    assert session.built.compilation is built.compilation  # nothing else has changed
    if name != "default":
        assert session.undo()
    assert session.machine == Machine.default()


def test_the_machine_stays_while_the_design_changes(session):
    session.set_machine("ddr4")
    session.preset("full")
    session.set_schedule("fuse T1..H")
    session.choose("spmv")
    assert session.machine.name == "ddr4"


def test_the_selection_survives_another_machine(session):
    session.select_region(1)
    session.select_node(3)
    session.set_machine("hbm2")
    assert (session.region, session.node) == (1, 3)


def test_runs_on_other_machines_are_other_runs(session):
    plain = session.finish(session.built, outcome(200, session=session))
    session.set_machine("hbm2")
    assert session.record is None
    assert session.stale
    slow = session.finish(session.built, outcome(900, session=session))
    assert (plain.machine, slow.machine) == ("default", "hbm2")
    assert plain.problem != slow.problem  # their cycles are no speed-up
    assert session.recall(plain.configuration)
    assert session.machine.name == "default"


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (lambda s: s.set_machine("hbm9"), "no machine is called 'hbm9'"),
        (lambda s: s.set_machine(""), "no machine is called ''"),
        (lambda s: s.set_machine("alu_latency = 0"), "alu_latency is 0"),
        (lambda s: s.set_machine("alu_latency = "), "machine: Invalid value"),
        (lambda s: s.set_machine("colour = 3"), "a machine has no 'colour'"),
        (lambda s: s.set_capacity("0"), "channel_capacity is 0"),
        (lambda s: s.set_capacity("-4"), "a channel capacity of '-4'"),
        (lambda s: s.set_capacity("many"), "a whole number of tokens, or unbounded"),
        (lambda s: s.set_capacity("9" * 30), "a channel capacity of"),
    ],
)
def test_a_machine_that_is_none_is_refused(session, request_, reason):
    design = session.design
    assert not request_(session)
    assert reason in session.message
    assert session.topic == "machine"
    assert session.design == design


@pytest.mark.parametrize(
    ("text", "tokens"), [("64", 64), (" 1,024 ", 1024), ("", None), ("unbounded", None)]
)
def test_channels_take_a_number_or_none(session, text, tokens):
    session.set_machine("hbm2")
    assert session.set_capacity(text), session.message
    assert session.machine == replace(Machine.preset("hbm2"), channel_capacity=tokens)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("hbm2", "hbm2"),
        ('base = "hbm2"\nchannel_capacity = 8', "hbm2, 8 tokens per channel"),
        ('base = "hbm2"\nalu_latency = 3', "hbm2, edited"),
        ('base = "hbm2"\nname = "mine"', "mine"),
    ],
)
def test_labels_say_how_a_machine_differs(session, text, label):
    assert session.set_machine(text), session.message
    assert machine_label(session.machine) == label


# Components ---------------------------------------------------------------------------------


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
    assert run.status["ok"]  # the answer stands where the question was


@pytest.mark.parametrize(
    "request_",
    [{"kind": "preset"}, {"kind": "capacity", "tokens": 3}, {"kind": "apply", "text": None}],
)
def test_the_machine_panel_ignores_nonsense(session, request_):
    panel = MachinePanel(session)
    panel._handle_msg(request_)
    assert session.answers == 1


def test_details_and_heat_tell_stalls_by_cause(explained):
    heat = GraphView(explained).heat
    region = explained.record.run.regions[0]
    node = next(n for n in region.rows if ports_of(region, n))
    waits = sum(p["stall_memory"] for p in ports_of(region, node))
    expected = min(1.0, (region.rows[node]["stall_memory"] + waits) / region.cycles)
    assert heat["stall_memory"][f"n{node}"] == pytest.approx(expected)
    explained.select_node(node)
    text = NodeDetails(explained).html()
    for name in ("waits for memory", "its memory ports wait", "idle after its end"):
        assert name in text
    assert f"{waits:,} cycles" in text
    explained.select_node(-1)


def test_the_path_is_outlined_in_the_graph(explained):
    critical = GraphView(explained).critical
    path = explained.record.run.regions[0].path
    assert set(critical["nodes"]) == {f"n{n}" for n in path["shares"]}
    assert critical["edges"]
    streams = {s.id for s in explained.current.graph.streams}
    assert {int(e.removeprefix("e")) for e in critical["edges"]} <= streams


def test_the_path_panel_lists_what_the_cycles_went_on(explained):
    panel = PathPanel(explained)
    view = panel.view["path"]
    path = explained.record.run.regions[0].path
    assert len(view["rows"]) == path["summaries"]
    assert sum(row["share"] for row in view["rows"]) == pytest.approx(1)
    first = path["what_if"][0]
    assert view["head"].startswith(
        f"Bottleneck: {first['label']} works for {first['own']:,} cycles"
    )
    assert panel.view["channels"][0]["capacity"] in ("512", "unbounded")
    panel.handle({"kind": "select", "node": view["rows"][0]["node"]})
    assert explained.node == view["rows"][0]["node"]
    explained.select_node(-1)


def test_a_path_known_in_part_says_so(explained):
    panel = PathPanel(explained)
    text = panel._start({"start": 900, "cycles": 1000})
    assert "known from 900 cycles on, the last 10.00%" in text


def test_a_run_that_was_not_explained_can_be(session):
    panel = PathPanel(session)
    assert not panel.view["ready"]
    session.finish(session.built, outcome(session=session))
    assert panel.view["ready"]
    assert panel.view["path"] == {}


def test_what_takes_too_long_to_explain_is_not_started(session, monkeypatch):
    session.finish(session.built, outcome(session=session))
    panel = PathPanel(session)
    assert "a log of every wait, less than a second" in panel.view["takes"]
    assert not panel.view["too_long"]
    monkeypatch.setattr("workbench.run_panel.expected_seconds", lambda *_: 1e4)
    panel.refresh()
    assert "about 167 minutes, more than the limit of about 15 minutes" in panel.view["takes"]
    panel.handle({"kind": "explain"})
    assert not panel.run.runner.running
    assert panel.run.runner.status == ""


def test_a_later_run_keeps_what_was_explained(explained):
    parts = outcome(explained.record.run.cycles, session=explained)
    other = Session("gcn", "karate", machine=Machine.preset("hbm2"))
    other.records = dict(explained.records)
    record = other.finish(other.built, parts)
    assert record.run.explained
    assert record.run.regions[0].path == explained.record.run.regions[0].path


def test_memory_statistics_carry_units(explained):
    memory = explained.record.run.regions[0].memory
    text = memory_html("T1..H", memory)
    assert f"{memory['bandwidth'] / 1e9:,.2f} GB/s" in text
    assert "% of 256.0 GB/s" in text
    assert f"{memory['read_latency']:,.1f} cycles" in text
    panel = MemoryPanel(explained)
    assert panel._plots.visible
    assert len(panel.channels.data["rate"]) == 16
    assert sum(panel.channels.data["rate"]) == pytest.approx(memory["bandwidth"] / 1e9)
    assert sum(panel.latencies.data["reads"]) == memory["reads"]


def test_without_a_memory_there_are_no_statistics(session):
    panel = MemoryPanel(session)
    assert not panel._plots.visible
    assert "has no memory" in panel._text.object
    session.set_machine("ideal")
    assert "Press Run" in panel._text.object


def test_the_heat_map_has_a_rectangle_per_node_and_bin(explained):
    shown = Utilisation(explained)
    region = explained.record.run.regions[0]
    for activity in ("busy", "stall_memory"):
        shown.choice.value = activity
        data = shown.source.data
        bins = -(-region.cycles // region.timeline["width"])
        assert len(data["x"]) == bins * len(region.nodes)
        total = sum(row[activity] for row in region.rows.values())
        assert sum(data["cycles"]) == total
        assert max(data["share"]) <= 1


# Long runs and stand-ins --------------------------------------------------------------------


def test_a_long_run_is_asked_about_first(session, monkeypatch):
    panel = RunPanel(session)
    monkeypatch.setattr("workbench.run_panel.expected_seconds", lambda *_: 2000.0)
    panel.handle({"kind": "run"})
    assert not panel.runner.running
    assert panel.view["asking"].startswith("This may take about 33 minutes, more than the limit")
    session.preset("full")
    assert panel.view["asking"] == ""  # another design is another question
    panel.handle({"kind": "run"})
    assert panel.view["asking"]
    panel.handle({"kind": "leave"})
    assert panel.view["asking"] == ""


def test_small_programs_start_at_once(session):
    assert expected_seconds(session.built.tokens, session.machine, True) < PATIENCE
    memory = Machine.preset("hbm2")
    assert expected_seconds(1e9, memory, False) > expected_seconds(1e9, session.machine, False)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "less than a second"),
        (1.2, "about 1 second"),
        (23, "about 20 seconds"),
        (200, "about 3 minutes"),
    ],
)
def test_durations_are_rough(seconds, text):
    assert about(seconds) == text


def test_large_graphs_are_left_out():
    offered = set(fitting_data("gcn")) & set(GRAPHS)
    assert offered == {"cora", "cora_ml", "dblp"}
    assert not set(fitting_data("spmv")) & set(GRAPHS)


def test_a_stand_in_is_labelled_everywhere(session, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    label, table, run = DataLabel(session), RunsTable(session), RunPanel(session)
    assert label.html() == ""
    assert session.choose("gcn", "cora"), session.message
    warning = "stand-in: NOT the real graph, Cora (stand-in, seed 0)"
    assert warning in label.html()
    assert label._pane.visible
    record = session.finish(session.built, outcome(session=session))
    assert record.standin
    assert table.view["runs"][-1]["standin"] == warning
    assert run.view["result"]["standin"] == warning


def test_graphs_come_from_the_folder_of_data(session, monkeypatch, tmp_path):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "nowhere"))
    assert not session.choose("gcn", "cora_ml")
    assert "there is no folder" in session.message
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert session.choose("gcn", "cora_ml"), session.message
    assert session.built.loaded.standin  # the folder has none
