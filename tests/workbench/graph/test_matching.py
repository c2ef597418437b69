"""Nodes that do the same are found again, one to one and both ways."""

from __future__ import annotations

import random

import pytest

from fuseloom_workbench.graph.matching import Marked, NodeSignature, match
from fuseloom_workbench.graph.net import faces_of
from fuseloom_workbench.state.session import Session


def marked(session: Session, region: int = 0) -> Marked:
    """A region's graph, as it is matched."""
    graph = session.regions[region].graph
    marks = [face.mark for face in faces_of(session.regions[region], region)]
    return Marked(marks, [(a, b) for a, b, _ in graph.edges()])


def shuffled(graph: Marked, rng: random.Random) -> tuple[Marked, list[int]]:
    """The same graph with its nodes in another order, and where each went."""
    order = list(range(len(graph.marks)))
    rng.shuffle(order)
    place = {old: new for new, old in enumerate(order)}
    edges = [(place[a], place[b]) for a, b in graph.edges]
    return Marked([graph.marks[k] for k in order], edges), [place[k] for k in range(len(order))]


def test_equal_graphs_match_wholly(session):
    graph = marked(session)
    assert match(graph, graph) == {k: k for k in range(len(graph.marks))}


@pytest.mark.parametrize("seed", range(4))
def test_small_edits_lose_what_they_touch_and_no_more(session, seed):
    rng = random.Random(seed)
    graph = marked(session)
    gone = set(rng.sample(range(len(graph.marks)), 4))
    kept = [k for k in range(len(graph.marks)) if k not in gone]
    place = {old: new for new, old in enumerate(kept)}
    smaller = Marked(
        [graph.marks[k] for k in kept] + [NodeSignature("fork", "T1", "i", label="made up")],
        [(place[a], place[b]) for a, b in graph.edges if a in place and b in place],
    )
    other, went = shuffled(smaller, rng)
    there, back = match(graph, other), match(other, graph)
    assert back == dict(sorted((b, a) for a, b in there.items())), seed
    assert len(set(there.values())) == len(there)
    assert went[-1] not in back, "what nobody has is new"
    same = {k: graph.marks[k] for k in there}
    assert all(other.marks[there[k]] == mark for k, mark in same.items())
    assert len(there) == len(kept), "each node that stayed is there, or one that does the same"


def test_graphs_of_other_designs_match_what_they_share(session):
    partial = marked(session)
    session.preset("full")
    full = marked(session)
    pairs = match(partial, full)
    for a, b in pairs.items():
        assert (partial.marks[a].op, partial.marks[a].tensor) == (
            full.marks[b].op,
            full.marks[b].tensor,
        )
    assert 20 < len(pairs) < len(partial.marks)
    assert match(full, partial) == dict(sorted((b, a) for a, b in pairs.items()))
