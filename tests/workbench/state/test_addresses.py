"""Addresses ask as a visitor would."""

from __future__ import annotations

from fuseloom_workbench.base.page import words_of
from fuseloom_workbench.state.addresses import requests_of


def test_the_address_of_a_page_asks_as_its_visitor_would() -> None:
    given = {"model": "gcn", "data": "uniform", "nodes": "50", "preset": "full"}
    assert requests_of(given) == [
        ("choose", "gcn"),
        ("choose_data", "uniform"),
        ("set_options", {"nodes": "50"}),
        ("preset", "full"),
    ]
    assert given["model"] == "gcn"  # what is given stays as it is


def test_a_schedule_is_more_than_a_preset() -> None:
    given = {"model": "gcn", "schedule": "fuse T1..Y", "preset": "full"}
    assert requests_of(given) == [("choose", "gcn"), ("set_schedule", "fuse T1..Y")]


def test_without_a_model_nothing_is_asked() -> None:
    assert requests_of({"data": "cora"}) == requests_of({}) == []
    assert requests_of(words_of({"model": []})) == []


def test_what_is_no_text_is_replaced() -> None:
    assert words_of({"model": [b"\xff<script>", b"gcn"]}) == {"model": "\ufffd<script>"}
