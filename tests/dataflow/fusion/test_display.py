"""Schedules and partial orders in a notebook."""

from __future__ import annotations

from xml.etree import ElementTree

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.fusion.display import order_drawing, order_html
from fuseloom.dataflow.fusion.pog import Edge, EdgeOrigin, PartialOrderGraph
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.models import load
from fuseloom.program import parse


def test_a_schedule_by_directive() -> None:
    html = Schedule.parse("fuse T1..H; order T1..H: i,k,p,n; parallel i by 2")._repr_html_()
    assert html.count("<code>") == 3
    assert "makes one region" in html
    assert "region of its own" in Schedule()._repr_html_()


def test_an_order_says_why() -> None:
    model, _ = load("gcn", "karate")
    region = compile_program(model.program, model.presets["partial"]).regions[0].region
    html = region._repr_html_()
    assert "legal orders: 5" in html
    assert "A is stored (i, k)" in html
    assert "T1[i,p] = A[i,k] * X[k,p]" in html


def pog(*pairs: str) -> PartialOrderGraph:
    indices = tuple(dict.fromkeys("".join(pairs)))
    return PartialOrderGraph(indices, tuple(Edge(a, b, EdgeOrigin.MODE, "so") for a, b in pairs))


def arrows(order: PartialOrderGraph) -> int:
    root = ElementTree.fromstring(order_drawing(order).svg)
    return sum(e.get("class") == "edge" for e in root.iter("{http://www.w3.org/2000/svg}path"))


def test_arrows_that_follow_are_left_out() -> None:
    assert arrows(pog("ij", "jk", "ik", "ij")) == 2
    assert arrows(pog("ij", "kl")) == 2


def test_a_circle_and_nothing_at_all() -> None:
    assert arrows(pog("ij", "ji")) == 2
    assert "no order satisfies" in order_html(pog("ij", "ji"))
    assert "Nothing constrains it." in order_html(PartialOrderGraph(("i",), ()))


def test_a_region_says_which_circle_was_broken_and_how() -> None:
    text = "A: 4x4 dcsr\nG[i,j] = A[i,k] * A[j,k]"
    asked = compile_program(parse(text), "order G: i,k,j").regions[0].region
    assert "the cycle of j, k is broken: store A' a second time" in asked._repr_html_()
    assert "broken" not in compile_program(parse(text)).regions[0].region._repr_html_()
