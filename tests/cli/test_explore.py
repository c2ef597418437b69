"""``fuseloom explore``: every graph once, the cheapest first."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from fuseloom.cli import main
from fuseloom.dataflow import compiler
from fuseloom.dataflow.compilation import CompiledRegion
from fuseloom.dataflow.fusion.region import FusedRegion
from fuseloom.errors import LoweringError
from fuseloom.results.document import DocumentKind
from tests.cli.commands import output
from tests.schemas import check_document

FULL = ("explore", "--model", "gcn", "--preset", "full")


@pytest.mark.deep  # takes seconds
def test_orders_are_ranked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(FULL) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "T1..Y: 10 legal orders, 5 distinct graphs"
    assert lines[1] == "  * i→k→k'→p→n→m                            1 order   49,435 cycles"


@pytest.mark.deep  # takes seconds
def test_as_json_up_to_a_limit(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FULL, "--limit", "2", "--json"]) == 0
    (region,) = json.loads(capsys.readouterr().out)["regions"]
    assert region["name"] == "T1..Y"
    assert (region["legal_orders"], region["complete"], len(region["graphs"])) == (10, False, 2)
    cycles = [graph["cycles"] for graph in region["graphs"]]
    assert cycles == sorted(cycles)


@pytest.mark.deep
def test_very_many_orders_are_not_counted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fuseloom.dataflow.compilation.MOST_COUNTED", 0)
    assert main([*FULL, "--limit", "1"]) == 0
    assert capsys.readouterr().out.startswith("T1..Y: very many legal orders, the first one graph")
    assert main([*FULL, "--limit", "1", "--json"]) == 0
    (region,) = json.loads(capsys.readouterr().out)["regions"]
    assert region["legal_orders"] is None
    assert main(["compile", *FULL[1:]]) == 0
    assert "(of very many)" in capsys.readouterr().out


@pytest.mark.deep  # takes seconds
def test_what_no_machine_can_realise_has_a_reason(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such an order comes last, with the reason in place of cycles."""

    def compile_region(region: FusedRegion, order: Sequence[str]) -> CompiledRegion:
        if order[0] == "i" and order[-1] == "m":
            raise LoweringError("no primitive does that")
        return compiler.compile_region(region, order)

    monkeypatch.setattr("fuseloom.dataflow.orders.compile_region", compile_region)
    assert main(FULL) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("order   no primitive does that")
    assert main([*FULL, "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    check_document(made, DocumentKind.ORDERS)
    (region,) = made["regions"]
    reasons = [(g["cycles"] is None, g["reason"]) for g in region["graphs"]]
    assert reasons[0] == (False, None)
    assert reasons[-1] == (True, "no primitive does that")


@pytest.mark.deep  # takes seconds
def test_the_order_that_is_chosen_is_the_cheapest(capsys: pytest.CaptureFixture[str]) -> None:
    for machine in ("default", "hbm2"):
        model = ("--model", "attention", "--preset", "full", "--machine", machine)
        shown = json.loads(output(capsys, "explore", *model, "--json"))
        for region in shown["regions"]:
            assert region["graphs"][0]["chosen"], region["name"]
        first = json.loads(output(capsys, "explore", *model, "--orders", "first", "--json"))
        assert not all(region["graphs"][0]["chosen"] for region in first["regions"])
