"""The answer in the result bar, without a browser."""

from __future__ import annotations

import pytest

from fuseloom_workbench.base.page_backend import LocalBackend
from fuseloom_workbench.why import finding
from fuseloom_workbench.why.why_bar import WhyBar

from .answered import found, fused


def bar_of(session):
    backend = LocalBackend(session)
    backend._reasons[finding.key(session)] = found()
    return WhyBar(backend)


@pytest.mark.deep  # takes seconds
def test_it_shows_the_answer_and_applies_a_change():
    session = fused()
    bar = bar_of(session)
    assert bar.view["answer"]["head"].startswith("A·X to relu are computed once per non-zero of A")
    assert bar.view["buttons"][0]["text"] == "Cut before A·H"
    bar.handle({"kind": "apply", "text": "Cut before A·H"})
    assert [r.name for r in session.regions] == ["T1..H", "T5..Y"]
    assert bar.view["promise"]["text"].startswith("est. ")
    assert session.undo()
    assert [r.name for r in session.regions] == ["T1..Y"]


@pytest.mark.deep  # takes seconds
def test_nonsense_is_not_carried_out():
    session = fused()
    bar = bar_of(session)
    before = session.design
    for request in ({"kind": "apply"}, {"kind": "apply", "text": 3}, {"kind": "melt"}):
        bar.receive(request)
    assert session.design == before
