"""Models with their data by name, and options that differ from a model's own."""

from __future__ import annotations

import pytest

from fuseloom.errors import ProgramError
from fuseloom.models.datasets import GRAPHS
from fuseloom_workbench.state import sources


@pytest.mark.parametrize(
    ("model", "data", "message"),
    [
        ("gnc", None, "no model is called 'gnc'"),
        ("gcn", "/etc/passwd", "no data set is called '/etc/passwd'"),
        ("gcn", "collab", "more than the 20,000 that the workbench loads"),
    ],
)
def test_a_page_names_models_and_data_sets_only(model: str, data: str | None, message: str) -> None:
    with pytest.raises(ProgramError) as caught:
        sources.known_names(model, data)
    assert message in str(caught.value)


def test_what_is_offered_can_be_loaded() -> None:
    for model in sources.model_names():
        for data in sources.fitting_data(model):
            sources.known_names(model, data)
            assert data not in GRAPHS or GRAPHS[data].nodes <= sources.LARGEST


def test_options_are_those_that_differ_in_the_model_s_order() -> None:
    given = {"density": "0.3", "hidden": 16, "classes": 7, "nodes": 9}
    chosen = sources.chosen_options("gcn", "random", given)
    assert chosen == (("nodes", 9), ("classes", 7))  # the others are its own with random data
    assert sources.fitting_options("gcn", "karate", chosen) == (("classes", 7),)


def test_what_is_kept_can_be_let_go() -> None:
    first = sources.source("spmv", "random", 0, None)
    assert sources.source("spmv", "random", 0, None) is first
    sources.forget()
    again = sources.source("spmv", "random", 0, None)
    assert again is not first
    assert again.model == first.model


def test_an_edited_program_keeps_the_data_of_inputs_left_alone() -> None:
    own = sources.source("spmv", "random", 0, None)
    text = str(own.model.program).replace("A[i,j] * x[j]", "x[j] * A[i,j]")
    edited = sources.source("spmv", "random", 0, text)
    assert edited.model.program != own.model.program
    assert edited.data["A"] is own.data["A"]
    assert edited.model.presets == {}


def test_an_edited_format_keeps_the_values() -> None:
    own = sources.source("gcn", "karate", 0, None)
    text = str(own.model.program)
    for before, after in [("A: 34x34 dcsr", "A: 34x34 csc"), ("A: 34x34 dcsr", "A: 34x34 dense"),
                          ("W1: 34x16 dcsr", "W1: 34x16 dense")]:  # fmt: skip
        assert before in text
        edited = sources.source("gcn", "karate", 0, text.replace(before, after))
        for name, stored in edited.data.items():
            assert stored.tensor == edited.model.program.tensor(name)
            assert (stored.to_dense() == own.data[name].to_dense()).all()


def test_a_dense_input_that_becomes_sparse_loses_its_zeros() -> None:
    own = sources.source("gcn", "karate", 0, None)
    text = str(own.model.program)
    dense = sources.source("gcn", "karate", 0, text.replace("A: 34x34 dcsr", "A: 34x34 dense"))
    again = sources.as_declared(dense.data["A"], own.model.program.tensor("A"))
    assert again.nnz == own.data["A"].nnz
