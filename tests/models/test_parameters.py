"""The parameters of models: declared once, checked before anything is built, and used."""

from __future__ import annotations

import inspect
import json
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuseloom.errors import DataError, FuseloomError, ProgramError
from fuseloom.models import (
    DATASETS,
    MODELS,
    PARAMETERS,
    data_for,
    fitting,
    load,
    load_labelled,
    load_model,
    parameters,
)
from fuseloom.models.parameters import FILE
from tests.frontends.files import Citation

SMALL = ("karate", "bigbird", "random", "uniform", "power-law", "block-diagonal", "digits", "cora")
PAIRS = [(model, data) for model in MODELS for data in fitting(model) if data in SMALL]


def test_every_model_declares_what_its_function_takes() -> None:
    assert PARAMETERS.keys() == MODELS.keys()
    for model, declared in PARAMETERS.items():
        taken = inspect.signature(MODELS[model]).parameters
        assert len({p.name for p in declared}) == len(declared)
        for parameter in declared:
            assert isinstance(parameter.default, parameter.kind)
            assert parameter.least <= parameter.default <= parameter.most
            assert parameter.unit
            assert parameter.help
            assert set(parameter.data) <= DATASETS.keys()
            assert set(parameter.defaults) <= {*DATASETS, FILE}
            if parameter.argument:
                assert taken[parameter.argument].default == parameter.default
        assert {p.argument for p in declared} - {""} == taken.keys() - {"name"}
        json.dumps([p.to_dict() for p in declared], allow_nan=False)


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize(("model", "data"), PAIRS)
def test_defaults_given_change_nothing(model: str, data: str) -> None:
    plain = load_labelled(model, data)
    given = {p.name: p.default for p in parameters(model, data) if p.default is not None}
    again = load_labelled(model, data, **given)
    assert again.model.program == plain.model.program
    assert again.options == plain.options
    for name, stored in plain.data.items():
        assert stored.content_hash() == again.data[name].content_hash()


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize(("model", "data"), PAIRS)
def test_each_option_changes_something_and_is_recorded(model: str, data: str) -> None:
    plain = load_labelled(model, data)
    for parameter in parameters(model, data):
        value = {int: plain.options[parameter.name] // 2, float: 0.8}[parameter.kind]
        changed = load_labelled(model, data, **{parameter.name: value})
        assert changed.options == {**plain.options, parameter.name: value}
        assert changed.model.program != plain.model.program or any(
            changed.data[name].content_hash() != stored.content_hash()
            for name, stored in plain.data.items()
        ), parameter.name


def test_what_is_recorded_makes_the_same_again() -> None:
    made = load_labelled("gpt3", sequence="24", block=8, layers=1, heads=4)
    assert made.label == "bigbird"
    assert made.options == {
        "sequence": 24, "width": 8, "heads": 4, "inner": 16, "layers": 1, "block": 8
    }  # fmt: skip
    again = load_labelled("gpt3", "bigbird", **made.options)
    assert again.model.program == made.model.program
    assert again.data["M"].content_hash() == made.data["M"].content_hash()
    assert made.data["M"].tensor.shape == (24, 24)


def test_numbers_of_other_kinds() -> None:
    assert load("spmm", rows=np.int32(5))[0].program.tensor("A").shape == (5, 8)
    assert load_labelled("spmm", density=1).options["density"] == 1.0
    assert load("spmm", density="0.5")[1]["A"].nnz > 10


@pytest.mark.parametrize(
    ("model", "data", "options", "message"),
    [
        ("gpt3", None, {"sequnce": 4}, "gpt3 takes no 'sequnce' (hint: did you mean 'sequence'?)"),
        ("gpt3", None, {"sequence": 0}, "sequence of gpt3 is 0, below 1 (hint: 1 to 16,384 tokens"),
        ("gpt3", None, {"sequence": 10**30}, "sequence of gpt3 is 10000000000"),
        ("gpt3", None, {"sequence": 8.0}, "is '8.0', not an integer"),
        ("gpt3", None, {"sequence": True}, "is 'True', not an integer"),
        ("gpt3", None, {"sequence": None}, "is 'None', not an integer"),
        ("gpt3", None, {"sequence": "9" * 5000}, "not an integer"),
        ("gpt3", None, {"block": 3}, "blocks of 3 do not divide 16 tokens"),
        ("gpt3", None, {"heads": 3}, "3 heads do not divide a model width of 8"),
        ("gpt3", "random", {"block": 4}, "block of gpt3 has no meaning for the data random"),
        ("gcn", None, {"density": nan}, "density of gcn is 'nan', not a number"),
        ("gcn", None, {"density": inf}, "density of gcn is 'inf', not a number"),
        ("gcn", None, {"density": 0}, "density of gcn is 0, below 1e-06"),
        ("gcn", None, {"density": 1.5}, "density of gcn is 1.5, above 1"),
        ("gcn", "karate", {"nodes": 5}, "nodes of gcn is decided by the data karate (hint: leave"),
        ("gcn", "cora", {"features": 5}, "or choose --data random or uniform"),
        ("gcn", "uniform", {"nodes": 9_000}, "a pattern of 9,000 nodes"),
        ("autoencoder", "digits", {"inputs": 65}, "inputs of autoencoder is decided by"),
        ("autoencoder", "digits", {"batch": 1_798}, "1,798 images"),
    ],
)
def test_errors(model: str, data: str | None, options: dict[str, Any], message: str) -> None:
    with pytest.raises(FuseloomError) as caught:
        load_labelled(model, data, **options)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("spmm", {"rows": 2**31 - 1}),
        ("spmv", {"columns": 2**31 - 1}),
        ("gcn", {"nodes": 2**31 - 1}),
        ("gcn", {"hidden": 65_536, "classes": 65_536}),
        ("graphsage", {"features": 2**31 - 1}),
        ("autoencoder", {"inputs": 2**31 - 1, "hidden": 65_536}),
        ("gpt3", {"width": 8_192, "heads": 1, "layers": 8}),
        ("attention", {"sequence": 16_384, "features": 65_536}),
    ],
)
def test_sizes_are_refused_before_anything_is_made(
    model: str, options: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any) -> Any:
        raise AssertionError("numbers were drawn")

    monkeypatch.setattr("numpy.random.default_rng", never)
    for data in {data_for(model, options), "uniform" if "uniform" in fitting(model) else "random"}:
        with pytest.raises(DataError, match="too many to make up at random"):
            load(model, data, **options)


@pytest.mark.deep  # takes seconds
def test_the_largest_decoders_there_can_be_are_a_program() -> None:
    assert len(load_model("gpt3", layers=96).kernels) == 96 * 20


def test_the_data_that_options_ask_for() -> None:
    assert data_for("gcn", {}) == "karate"
    assert data_for("gcn", {"hidden": 8}) == "karate"
    assert data_for("gcn", {"nodes": 50}) == "random"
    assert data_for("gcn", {"sparsity": 0.5}) == "uniform"
    assert data_for("gpt3", {"density": 0.5}) == "random"
    assert data_for("gpt3", {"density": 0.5, "block": 2}) == "bigbird"  # which then says why not
    with pytest.raises(ProgramError, match="no meaning"):
        load("gpt3", density=0.5, block=2)


def test_what_can_be_chosen_depends_on_the_data(tmp_path: Path) -> None:
    def chosen(data: str | None) -> dict[str, Any]:
        return {p.name: p.default for p in parameters("gcn", data)}

    assert chosen(None) == chosen("karate") == {"hidden": 16, "classes": 4, "density": 0.5}
    assert chosen("collab") == {"hidden": 16, "classes": None, "density": 0.5}
    assert chosen(str(tmp_path)) == {"hidden": 16, "classes": None, "density": 0.5}
    assert chosen("uniform")["nodes"] == 500
    assert chosen("random")["density"] == 0.3
    Citation().write(tmp_path, "cora")
    made = load_labelled("gcn", str(tmp_path), hidden=4, classes=9, density=0.25)
    assert made.options == {
        "nodes": 9, "features": 5, "hidden": 4, "classes": 9, "density": 0.25
    }  # fmt: skip
    assert made.data["W2"].nnz == 9
    plain = load_labelled("gcn", str(tmp_path)).options
    assert plain == load_labelled("gcn", "cora", data_dir=tmp_path).options
    assert plain["classes"] == 3
    with pytest.raises(ProgramError, match="nodes of gcn is decided by the data of"):
        load_labelled("gcn", str(tmp_path), nodes=4)
