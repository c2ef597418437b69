"""The best schedule of a model in one call: its verdict, and the presets beside it."""

from __future__ import annotations

import json

import pytest

import fuseloom as fl
from fuseloom.arguments import ArgumentError
from fuseloom.dataflow.machine import Machine
from fuseloom.errors import CancelledError, FuseloomError
from fuseloom.exploration.best import BestSchedule
from fuseloom.results.archive import ModelArchive


@pytest.fixture(scope="module")
def gcn() -> ModelArchive:
    model, data = fl.load("gcn", "karate")
    return ModelArchive(model.program, data, model.presets)


@pytest.fixture(scope="module")
def found(gcn: ModelArchive) -> BestSchedule:
    return fl.best(gcn, time_limit=20)


def test_what_is_found_is_what_the_search_finds(gcn: ModelArchive, found: BestSchedule) -> None:
    run = fl.simulate(found.compilation, gcn.data)
    assert run.check().ok
    assert run.cycles == found.cycles == found.found.cycles
    assert found.found.certificate.gap <= 0.05


def test_each_preset_costs_what_it_is_estimated_to(gcn: ModelArchive, found: BestSchedule) -> None:
    assert [preset.name for preset in found.presets] == [*gcn.presets]
    for preset in found.presets:
        compiled = fl.compile(gcn.program, gcn.presets[preset.name], gcn.data)
        expected = fl.estimate(compiled, gcn.data)
        assert (preset.cycles, preset.bytes) == (expected.cycles, expected.bytes)
        assert preset.regions == len(compiled.regions)
        assert preset.cycles is not None
        assert preset.cycles >= found.found.certificate.bound - 1


def test_it_is_a_table_a_document_and_a_picture(found: BestSchedule) -> None:
    text = str(found)
    assert found.found.certificate.verdict in text
    rows = text.splitlines()[-1 - len(found.presets) - 1 :]
    assert rows[0].split()[:3] == ["schedule", "regions", "cycles"]
    assert rows[-1].split()[0] == "best"
    assert f"{found.cycles:,}" in rows[-1]
    document = json.loads(json.dumps(found.to_dict()))
    assert document["best"]["schedule"] == found.schedule
    assert [p["name"] for p in document["presets"]] == [p.name for p in found.presets]
    assert "no schedule of this space" in found._repr_html_()
    assert f"{found.cycles:,} cycles" in repr(found)


def test_a_preset_that_cannot_be_built_says_why() -> None:
    program = fl.parse(
        "A: 8x8 csr\nB: 8x8 csc\nT[i,j] = A[i,j] + B[i,j]\nU[i,j] = relu(T[i,j])\noutput U"
    )
    data = {
        name: fl.StoredTensor.from_dense(program.tensor(name), [[1.0] * 8] * 8) for name in "AB"
    }
    presets = {"unfused": "", "wrong": "fuse T..U; order T..U: j,i; permute A to i,j"}
    made = fl.best(ModelArchive(program, data, presets), time_limit=5)
    assert made.presets[0].cycles is not None
    assert made.presets[1].cycles is None
    assert made.presets[1].reason
    assert made.presets[1].reason.split()[0] in str(made)


def test_another_machine_and_a_larger_budget(gcn: ModelArchive, found: BestSchedule) -> None:
    slow = fl.best(gcn, machine=Machine.preset("ddr4"), time_limit=10)
    assert slow.presets[0].cycles != found.presets[0].cycles
    assert fl.best(gcn, lanes=4, time_limit=10).cycles < found.cycles


def test_what_is_no_model_is_refused_and_a_search_can_be_cancelled(gcn: ModelArchive) -> None:
    with pytest.raises(ArgumentError, match="best takes a model with data"):
        fl.best(gcn.program)
    with pytest.raises(FuseloomError, match="time limit"):
        fl.best(gcn, time_limit=0)
    with pytest.raises(CancelledError):
        fl.best(gcn, progress=lambda cycles, text: False)
