"""The graph that is drawn, of one region or of all, and what differs from another design."""

from __future__ import annotations

import pytest

from fuseloom_workbench.graph.folding import GroupLevel
from fuseloom_workbench.graph.net import MEMORY, MISSING, NEW, compared, drawn_of
from fuseloom_workbench.state.session import Session


def test_a_region_has_its_nodes_and_streams_in_kernels(session):
    drawn = drawn_of(session.built, 0)
    graph = session.current.graph
    assert list(drawn.faces) == [f"n{n.id}" for n in graph.nodes]
    assert [line.key for line in drawn.net.lines] == [f"e{s.id}" for s in graph.streams]
    assert {g.name for g in drawn.net.groups.values()} == {"A·X", "·W1", "+b1", "relu"}


@pytest.mark.deep  # takes seconds
def test_all_regions_are_joined_by_tensors_in_memory():
    session = Session("gpt3")
    drawn = drawn_of(session.built, 1, whole=True)
    assert len(drawn.faces) == sum(len(r.graph.nodes) for r in session.regions)
    regions = {k: g for k, g in drawn.net.groups.items() if g.level is GroupLevel.REGION}
    assert len(regions) == len(session.regions)
    between = {
        (drawn.faces[x.start].region, drawn.faces[x.end].region)
        for x in drawn.net.lines
        if drawn.threads[x.key].kind == MEMORY
    }
    assert {(k, k + 1) for k in range(5)} <= between, "reshapes are followed, too"
    assert all(a < b for a, b in between)


def test_a_design_against_itself_is_the_same_and_against_another_adds_up(session):
    drawn = drawn_of(session.built, 0)
    own = compared(drawn, session.built, session.regions, 0, False)
    assert own.counts[NEW] == own.counts[MISSING] == 0
    assert {t.state for t in own.threads.values()} == {""}
    partial = session.regions
    session.preset("full")
    drawn = drawn_of(session.built, 0)
    union = compared(drawn, session.built, partial, 0, False)
    states = [face.state for face in union.faces.values()]
    assert states.count(NEW) == union.counts[NEW] > 0
    assert states.count(MISSING) == union.counts[MISSING] > 0
    assert union.counts["same"] + union.counts[NEW] == len(session.current.graph.nodes)
    theirs = sum(len(r.graph.nodes) for r in partial)
    assert union.counts["same"] + union.counts[MISSING] == union.counts["theirs"] == theirs
    lines = [union.threads[x.key].state for x in union.net.lines]
    assert lines.count("") + lines.count(NEW) == len(session.current.graph.streams)
    assert lines.count("") + lines.count(MISSING) == sum(len(r.graph.streams) for r in partial)
