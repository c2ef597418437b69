"""The machine of a design, and what a run on it leaves behind."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fuseloom.dataflow.dram import Dram
from fuseloom.dataflow.machine import PRESETS, Machine
from fuseloom_workbench.state.machines import PATIENCE, expected_seconds, machine_label

from ..outcomes import outcome


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_can_be_chosen_and_undone(session, name):
    built = session.built
    assert session.set_machine(name), session.message
    assert session.machine == Machine.preset(name)
    # Without searchers no intermediate has dense levels; with a DRAM, other orders are best.
    if session.machine.has_searchers and not isinstance(session.machine.memory, Dram):
        assert session.built.compilation is built.compilation  # nothing else has changed
    assert replace(session.built.design, machine=built.design.machine) == built.design
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
    session.set_machine("ideal")
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
        (lambda s: s.set_capacity("many"), "an integer of tokens, or unbounded"),
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


def test_small_programs_start_at_once(session):
    assert expected_seconds(session.built.tokens, session.machine, True) < PATIENCE
    memory = Machine.preset("hbm2")
    assert expected_seconds(1e9, memory, False) > expected_seconds(1e9, session.machine, False)
