"""Regions and tables as JSON for machines, and the check that a table is whole."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import fuseloom as fl
from fuseloom.dataflow.table.cells import CellKind, ConstructionStep
from fuseloom.errors import LoweringError

PROGRAM = "A: 3x4 dcsr\nX: 4x5 dcsr\nT[i,j] = A[i,k] * X[k,j]"


def test_json_says_what_the_text_says() -> None:
    (compiled,) = fl.compile(fl.parse(PROGRAM)).regions
    region = json.loads(compiled.region.to_json())
    assert (region["fuseloom"], region["version"]) == ("region", 1)
    assert {"name": "k", "size": 4} in region["indices"]
    assert {e["reason"] for e in region["edges"]} >= {"A is stored (i, k)"}
    table = json.loads(compiled.table.to_json())
    assert (table["fuseloom"], table["version"]) == ("table", 1)
    cells = {(c["column"], c["row"]): c for s in table["steps"] for c in s["cells"]}
    assert cells["A", "k"]["text"] == "LS(<A.i>) -> I_k"
    assert cells["A", "k"]["kind"] == CellKind.JOIN.value
    assert table["rows"] == [*compiled.order, "val"]


def test_a_dangling_reference_is_found() -> None:
    (compiled,) = fl.compile(fl.parse(PROGRAM)).regions
    table = compiled.table
    broken = replace(table.cell("X", "j"), target="Y.k")
    with pytest.raises(LoweringError, match=r"X\.j refers to Y\.k"):
        replace(
            table, steps=(*table.steps, ConstructionStep("edit", "", (("X", "j", broken),)))
        ).verify()
    outside = replace(
        table, steps=(*table.steps, ConstructionStep("edit", "", (("X", "q", broken),)))
    )
    with pytest.raises(LoweringError, match=r"X\.q is outside the table"):
        outside.verify()
