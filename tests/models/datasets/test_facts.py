"""The statistics of the evaluation's graphs, and smaller ones of their kind."""

from __future__ import annotations

import pytest

from fuseloom.models.datasets.facts import GRAPHS, WORDS


@pytest.mark.parametrize("name", GRAPHS)
def test_facts_fit_each_other(name: str) -> None:
    facts = GRAPHS[name]
    assert facts.directed or facts.edges % 2 == 0
    # the sum of squares is at least the square of the mean, nodes times
    assert facts.directed or facts.two_hop_paths >= facts.edges**2 / facts.nodes
    assert facts.largest is None or facts.largest**2 <= facts.two_hop_paths
    assert facts.words is None or facts.words <= facts.nodes * facts.features


def test_words_of_cora_are_counted_and_others_derived() -> None:
    cora = GRAPHS["cora"]
    assert pytest.approx(WORDS) == cora.words / (cora.nodes * cora.features)
    dblp = GRAPHS["dblp"]
    assert dblp.words == round(WORDS * dblp.nodes * dblp.features)


@pytest.mark.parametrize("factor", [0.5, 0.1, 0.037])
@pytest.mark.parametrize("name", GRAPHS)
def test_smaller_graphs_of_the_same_kind(name: str, factor: float) -> None:
    whole = GRAPHS[name]
    part = whole.scaled(factor)
    assert part.edges / part.nodes == pytest.approx(whole.edges / whole.nodes, rel=0.05)
    assert part.two_hop_paths / part.nodes == pytest.approx(
        whole.two_hop_paths / whole.nodes, rel=0.05
    )
    assert part.directed or part.edges % 2 == 0
    assert part.title == f"{whole.title} at {factor:g}"
    assert (part.features, part.classes, part.largest) == (whole.features, whole.classes, None)
    assert (part.words is None) == (whole.words is None)
