"""The session: every change goes through the engine, and a refusal changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom_workbench.state.saving import SavedDesign
from fuseloom_workbench.state.session import Session

from ..outcomes import outcome


def state(session):
    return session.design, session.built, session.region, session.travels


def test_starts_with_the_partial_preset(session):
    assert session.cuts == (4,)
    assert session.built.preset_name == "partial"
    assert [u.name for u in session.built.units][:2] == ["A·X", "·W1"]
    assert session.estimate.cycles > 0


def test_moving_a_boundary_recompiles(session):
    before = session.estimate.cycles
    assert session.move_boundary(4, 3)
    assert session.cuts == (3,)
    assert [r.name for r in session.regions] == ["T1..T3", "H..Y"]
    assert session.estimate.cycles != before
    assert session.built.preset_name == ""


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (lambda s: s.move_boundary(4, 0), "no gap 0"),
        (lambda s: s.move_boundary(4, 8), "no gap 8"),
        (lambda s: s.move_boundary(2, 3), "no boundary at gap 2"),
        (lambda s: s.add_boundary(99), "no gap 99"),
        (lambda s: s.move_row("n", 0), "p must stay outside n, because W1 is stored (p, n)"),
        (lambda s: s.move_row("i", -1), "outermost"),
        (lambda s: s.move_row("n", 4), "innermost"),
        (lambda s: s.move_row("nowhere", 0), "cannot be moved"),
        (lambda s: s.set_order(0, ["i", "k"]), "order i→k lacks"),
        (lambda s: s.set_order(0, ["k", "i", "p", "n"]), "i must stay outside k"),
        (lambda s: s.preset("best"), "no preset"),
        (lambda s: s.choose("gcnn"), "gcnn"),
        (lambda s: s.choose("spmv", "karate"), "does not fit"),
        (lambda s: s.set_schedule("fuse H..T1"), "runs backwards"),
        (lambda s: s.set_schedule("melt T1"), "line 1, column 1"),
        (lambda s: s.set_program("A: 3x3 dcsr\nB[i] = A[i,j] * c[j]"), "line 2"),
        (lambda s: s.undo(), "nothing to undo"),
        (lambda s: s.redo(), "nothing to redo"),
    ],
)
def test_a_refusal_changes_nothing_and_says_why(session, request_, reason):
    before, answers = state(session), session.answers
    assert not request_(session)
    assert reason in session.message
    assert not session.ok
    assert session.answers == answers + 1
    assert state(session) == before


def test_a_boundary_does_not_jump_over_another(session):
    session.set_cuts([2, 4])
    assert not session.move_boundary(2, 5)
    assert "boundary stands already between relu and A·H" in session.message
    assert session.cuts == (2, 4)


def test_places_of_errors_reach_the_editor(session):
    assert not session.set_program("A: 3x3 dcsr\nB[i] = A[i,j] * c[j]")
    assert session.place[0] == 2
    assert session.place[1] > 1
    session.add_boundary(2)
    assert session.place == (0, 0)


def test_add_and_remove(session):
    assert session.add_boundary(2)
    assert session.cuts == (2, 4)
    assert session.remove_boundary(4)
    assert session.cuts == (2,)


def test_undo_and_redo(session):
    session.move_boundary(4, 3)
    session.set_order(0, ["i", "k", "p", "n"])
    session.preset("full")
    assert session.undo()
    assert session.undo()
    assert session.cuts == (3,)
    assert session.built.region_order(0) == ("i", "p", "k", "n")
    assert session.redo()
    assert session.built.region_order(0) == ("i", "k", "p", "n")
    session.add_boundary(1)
    assert session.travels == (True, False)


def test_an_order_is_remembered_while_its_region_is_gone(session):
    session.set_order(0, ["i", "p", "k", "n"])
    session.move_boundary(4, 3)
    assert session.move_boundary(3, 4)
    assert session.built.region_order(0) == ("i", "p", "k", "n")


def test_the_usual_order_is_no_choice(session):
    configuration = session.configuration
    session.set_order(0, ["i", "k", "p", "n"])
    assert session.configuration != configuration
    session.set_order(0, ["i", "p", "k", "n"])
    assert session.configuration == configuration
    assert session.built.preset_name == "partial"


def test_move_row(session):
    assert session.move_row("k", 2)
    assert session.current.order == ("i", "p", "k", "n")


def test_schedule_text_may_cut_a_kernel_apart(session):
    assert session.set_schedule("fuse T1..d")
    assert [u.name for u in session.built.units][7:] == ["x", "d", "e", "s", "Y"]
    assert session.set_cuts(session.cuts)


def test_schedule_text_reads_back(session):
    session.set_order(0, ["i", "p", "k", "n"])
    configuration, text = session.configuration, str(session.built.schedule)
    session.preset("full")
    assert session.set_schedule(text)
    assert session.configuration == configuration


def test_another_model(session):
    assert session.choose("attention")
    assert session.design.data == "random"
    assert session.built.preset_name == "partial"
    assert session.undo()
    assert session.design.model == "gcn"


def test_the_seed_changes_the_data(session):
    other = Session("gcn", "karate", seed=1)
    assert other.configuration != session.configuration
    assert session.choose("gcn", seed=1)
    assert session.configuration == other.configuration


def test_an_edited_program_keeps_cuts_and_known_data(session):
    text = str(session.built.program)
    data = session.built.data
    assert session.set_program(text.replace("b2: 4 dense", "b2: 4 compressed"))
    assert session.cuts == (4,)
    assert session.built.data["b2"].tensor != data["b2"].tensor
    for name in ("A", "W1", "b2"):
        assert np.array_equal(session.built.data[name].to_dense(), data[name].to_dense())
    assert session.presets == {}
    assert session.set_program(text)
    assert session.built.preset_name == "partial"


def test_kernels_of_which_statements_were_edited_lose_their_names(session):
    """A pasted program is not what the model's kernels are called."""
    text = str(session.built.program)
    assert [u.name for u in session.built.units] == [
        "A·X", "·W1", "+b1", "relu", "A·H", "·W2", "+b2", "softmax",
    ]  # fmt: skip
    assert session.set_program(text.replace("H[i,n] = relu(T3[i,n])", "H[i,n] = exp(T3[i,n])"))
    assert [u.name for u in session.built.units][:5] == ["A·X", "·W1", "+b1", "H", "A·H"]
    pasted = "T: 4x4 csr\nC: 4x4 csr\nY[i,j] = T[i,k] * C[k,j]"
    assert session.set_program(pasted)
    assert [u.name for u in session.built.units] == ["Y"]


def test_the_region_shown_follows_its_statements(session):
    session.select_region(1)
    session.add_boundary(2)
    assert session.current.name == "T5..Y"
    session.preset("full")
    assert session.region == 0


def test_selection_goes_both_ways(session):
    session.set_order(0, ["i", "k", "p", "n"])
    session.select_cell("T1", "p")
    node = session.node
    assert session.current.graph.nodes[node].op == "spacc1"
    session.select_node(-1)
    assert session.cell == ("", "")
    session.select_node(node)
    assert session.cell == ("T1", "p")
    session.select_node(10_000)
    assert session.node == -1


def test_runs_are_kept_by_configuration(session):
    partial = session.finish(session.built, outcome(200, session=session))
    assert partial.name == "partial"
    assert session.record is partial
    assert not session.stale
    session.preset("unfused")
    assert session.stale
    assert session.record is None
    base = session.finish(session.built, outcome(300, session=session))
    assert session.baseline is base
    session.move_boundary(1, 1)
    session.remove_boundary(1)
    own = session.finish(session.built, outcome(250, session=session))
    assert (own.name, own.preset) == ("yours 1", False)
    session.preset("partial")
    assert session.record is partial
    assert session.latest is partial
    assert not session.stale
    assert session.recall(own.configuration)
    assert session.record is own
    assert not session.recall("unknown")


def test_a_result_of_an_older_design_is_filed_under_that_design(session):
    older = session.built
    parts = outcome(200, session=session)
    session.preset("full")
    record = session.finish(older, parts)
    assert record.name == "partial"
    assert session.record is None
    assert session.stale


@pytest.mark.parametrize(
    ("directive", "regions"),
    [
        ("parallel i by 4", 2),
        ("locate off", 2),
        ("repeat references", 2),
        ("materialise T2", 3),
        ("global T1..T2", 4),
        ("block 2", 2),
        ("strict on", 2),
    ],
)
def test_every_directive_of_a_schedule_is_kept(session, directive, regions):
    assert session.set_schedule(f"fuse T1..H; fuse T5..Y; {directive}"), session.message
    assert len(session.regions) == regions
    assert len(session.built.unit_regions) == len(session.built.units)
    if directive.startswith("materialise"):  # has become a boundary
        assert 2 in session.cuts
    else:
        assert directive in str(session.built.schedule)
        assert directive in session.configuration
    assert session.remove_boundary(max(session.cuts)), session.message
    assert session.undo()


def test_boundaries_stop_at_a_reshape():
    session = Session("gpt3", "bigbird")
    session.preset("partial")
    before = session.design
    heads = next(k for k, u in enumerate(session.built.units) if u.memory)
    assert not session.remove_boundary(heads)
    assert "a reshape is a fusion barrier" in session.message
    assert "across split heads:" in session.message, "the box as it is drawn"
    assert not session.move_boundary(heads, heads - 1)
    assert "across split heads:" in session.message
    out = next(g for g in session.cuts if g > heads + 1 and not session.built.units[g].memory)
    assert not session.move_boundary(out, heads - 1)
    assert "a reshape is a fusion barrier" in session.message
    assert session.design == before
    names = [unit.name for unit in session.built.units]
    assert len(set(names)) == len(names)


def test_how_a_tensor_is_stored_goes_when_it_stays_inside():
    session = Session("gcn", "karate")
    assert session.set_schedule("fuse T1..H; fuse T5..Y; store H compressed,dense")
    text = str(session.built.schedule)
    assert session.move_boundary(4, 3), session.message
    assert "store" not in str(session.built.schedule)
    assert session.undo()
    assert str(session.built.schedule) == text
    assert session.add_boundary(2), session.message
    assert "store H" in str(session.built.schedule), "it is still written"
    assert not session.set_schedule("store H compressed,dense; fuse T1..Y")
    assert "never leaves" in session.message, "what one writes oneself is not left out"


def test_a_later_run_keeps_what_was_explained(explained):
    parts = outcome(explained.record.run.cycles, session=explained)
    other = Session("gcn", "karate", machine=Machine.preset("hbm2"))
    other.records = dict(explained.records)
    record = other.finish(other.built, parts)
    assert record.run.explained
    assert record.run.regions[0].path == explained.record.run.regions[0].path


def test_statements_in_another_order():
    """The chain shows them as they are carried out; boundaries move, and steps come back."""
    session = Session("graphsage", "random")
    assert session.set_schedule("sequence N1, N2, N3, S1, S2; fuse S1..H")
    shown = [name for unit in session.built.units for name in unit.statements]
    assert shown[:7] == ["N1", "N2", "N3", "S1", "S2", "C1", "H"]
    assert session.regions[session.built.unit_regions[3]].name == "S1..H"
    wanted = session.configuration
    gap = session.cuts[2]
    assert session.remove_boundary(gap)
    assert session.regions[2].name == "N3..H"
    assert session.undo()
    assert session.configuration == wanted
    assert session.move_boundary(gap, gap + 1)
    text = str(session.built.schedule)
    assert "sequence N1, N2, N3, S1, S2" in text
    moved = session.configuration
    assert SavedDesign.of(session.design).design() == session.design
    session.preset("full")
    assert session.set_schedule(text)
    assert session.configuration == moved
    assert session.set_program(str(session.built.program))
    assert session.configuration == moved
    assert not session.set_schedule("sequence H, S1")
    assert session.configuration == moved
