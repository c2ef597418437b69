"""The analysis that takes a moment, and its dependencies."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from fuseloom_workbench.state.session import Session
from fuseloom_workbench.why import finding

from .answered import found, fused, looked


@pytest.mark.deep  # takes seconds
def test_what_is_found_of_the_full_fusion():
    made = found()
    assert [one.tensor for one in made.repeated] == ["T1", "T2", "T3", "H"]
    assert made.suggestions[0].text == "Cut before A·H"
    assert made.pinned is not None
    assert made.pinned.cycles == fused().reference.run.cycles


def test_it_goes_to_another_process_and_back():
    assert pickle.loads(pickle.dumps(found())) == found()


def test_what_is_computed_again_is_known_before_what_would_help():
    first, last = finding.find(fused())
    assert (first.whole, last.whole) == (False, True)
    assert first.repeated == last.repeated
    assert first.repeated
    assert (bool(first.suggestions), bool(last.suggestions)) == (False, True)


@pytest.mark.deep  # takes seconds
def test_what_a_mask_spares_is_not_told_as_computed_again():
    session = Session("gpt3", "random")
    session.preset("partial")
    first = next(finding.find(session))
    assert any(one.factor < 1 for one in first.repeated)
    assert first.again
    assert all(one.factor >= finding.MUCH for one in first.again)


def test_it_depends_on_the_design_its_run_and_run_a():
    session = fused()
    keys = [finding.key(session)]
    session.select_node(3)
    assert finding.key(session) == keys[0]
    session.pin(0)  # no more
    keys.append(finding.key(session))
    session.preset("unfused")
    keys.append(finding.key(session))
    assert len(set(keys)) == 3


def test_run_a_of_another_model_is_not_compared_with():
    session = fused()
    assert finding.pinned_of(session) is session.reference
    session.choose("spmv")
    assert finding.pinned_of(session) is None


def test_a_run_is_not_compared_with_itself():
    session = fused()
    session.pin(1)
    assert finding.pinned_of(session) is None


def test_a_run_a_of_regions_that_are_no_more_is_left_out():
    session = fused()
    old = session.reference
    regions = tuple(replace(r, name=f"{r.name}, of old") for r in old.run.regions)
    session.records = {
        **session.records,
        old.configuration: replace(old, run=replace(old.run, regions=regions)),
    }
    made = looked(session)
    assert made.pinned is None
    assert made.suggestions
