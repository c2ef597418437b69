"""Proofs and schedules in a notebook."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest

import fuseloom as fl
from fuseloom.exploration.autoschedule import Autoscheduled, Choice
from fuseloom.exploration.certificate import Certificate
from fuseloom.exploration.display import certificate_drawing
from fuseloom.results.method import Cost

PROOF = Certificate(200.0, 150.0, True, True, {"looked at": 3, "abandoned": 0}, ("<blocks>",))


@pytest.fixture(scope="module")
def found() -> Autoscheduled:
    model, data = fl.load("spmm")
    return fl.autoschedule(model.program, data, gap=0)


def test_a_gap_is_told_and_drawn_to_scale() -> None:
    html = PROOF._repr_html_()
    assert "better by 25.0% at most" in html
    assert "&lt;blocks&gt;" in html
    assert "looked at" in html
    assert "abandoned" not in html
    root = ElementTree.fromstring(certificate_drawing(PROOF).svg)
    low, rest = (float(e.attrib["width"]) for e in root.iter("{http://www.w3.org/2000/svg}rect"))
    assert low == pytest.approx(3 * rest, rel=0.01)


def test_a_whole_proof_and_none() -> None:
    assert "no schedule of this space takes fewer" in replace(PROOF, bound=200.0)._repr_html_()
    none = replace(PROOF, bound=0.0, counts={}, unsearched=(), simulated=False)._repr_html_()
    assert "Nothing is proved. The cycles are those of an estimate." in none
    assert "<details>" not in none


def test_a_schedule_is_shown_with_its_reasons_and_rivals(found: Autoscheduled) -> None:
    html = found._repr_html_()
    assert f"{found.cycles:,} cycles, of {found.space}" in html
    assert found.schedule in html
    assert all(reason.partition(",")[0] in html for reason in found.reasons)
    assert "on chip" not in html
    choice = Choice("parallel i by 2", Cost(9.0, 8.0, 6400.0, 2), False)
    more = replace(found, choices=(choice,), schedule="")._repr_html_()
    assert "parallel i by 2" in more
    assert "6,400" in more
    assert "estimated" in more
    assert "every statement by itself" in more
