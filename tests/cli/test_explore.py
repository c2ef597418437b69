"""``fuseloom explore``: every graph once, the cheapest first."""

from __future__ import annotations

import json

import pytest

from engine.cli import main

FULL = ("explore", "--model", "gcn", "--preset", "full")


def test_orders_are_ranked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(FULL) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "T1..Y: 10 legal orders, 5 distinct graphs"
    assert lines[1] == "  * i→k→k'→p→n→m                            1 orders  49,039 cycles"


def test_as_json_up_to_a_limit(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FULL, "--limit", "2", "--json"]) == 0
    (region,) = json.loads(capsys.readouterr().out)["regions"]
    assert region["name"] == "T1..Y"
    assert (region["legal_orders"], region["complete"], len(region["graphs"])) == (10, False, 2)
    cycles = [graph["cycles"] for graph in region["graphs"]]
    assert cycles == sorted(cycles)


def test_what_no_machine_can_realise_has_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    """Of each graph either the cycles or the reason are known."""
    command = ["explore", "--model", "gpt3", "--preset", "partial", "--limit", "12"]
    assert main([*command, "--json"]) == 0
    shown = capsys.readouterr()
    graphs = [g for region in json.loads(shown.out)["regions"] for g in region["graphs"]]
    assert all((g["cycles"] is None) == (g["reason"] is not None) for g in graphs)
    assert shown.err == ""
