"""Programs and data that only the figures need."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.errors import ProgramError
from fuseloom.experiments.configuration import Configuration
from fuseloom.experiments.workloads import data_version, foreseen, load
from fuseloom.program import evaluate


def test_attention_is_that_of_a_decoder() -> None:
    sizes = (("sequence", 16), ("heads", 2), ("features", 4), ("block", 4))
    loaded = load(Configuration("heads", "", sizes))
    arrays = {name: tensor.to_dense() for name, tensor in loaded.data.items()}
    scores = np.einsum("ihe,lhe->hil", arrays["Q"], arrays["K"]) / 2
    weights = np.where(arrays["M"] != 0, np.exp(scores), 0)
    weights /= weights.sum(axis=2, keepdims=True)
    expected = np.einsum("hil,lhv->ihv", weights, arrays["V"])
    made = evaluate(loaded.model.program, loaded.data)["O"].dense()
    np.testing.assert_allclose(made, expected, rtol=1e-5, atol=1e-7)


def test_images_are_dense_and_weights_are_not() -> None:
    loaded = load(Configuration("images", "", (("inputs", 40), ("hidden", 10))))
    assert loaded.data["X"].nnz == 32 * 40
    assert loaded.data["We"].nnz == 200
    assert loaded.options["density"] == 0.5


@pytest.mark.parametrize("order", ["ikjl", "ljki", "jlik"])
def test_nested_products_are_stored_as_they_are_traversed(order) -> None:
    loaded = load(Configuration("nested", order))
    for name, (first, second) in {"A": "ik", "W": "jl"}.items():
        modes = loaded.model.program.tensor(name).format.mode_order
        assert modes == ((0, 1) if order.index(first) < order.index(second) else (1, 0))
    dense = {name: tensor.to_dense() for name, tensor in loaded.data.items()}
    made = evaluate(loaded.model.program, loaded.data)["D"].dense()
    np.testing.assert_allclose(made, dense["A"] @ dense["X"] @ dense["W"], rtol=1e-5, atol=1e-6)


def test_names_that_are_none() -> None:
    with pytest.raises(ProgramError, match="no workload"):
        load(Configuration("nestd"))
    with pytest.raises(ProgramError, match="no order"):
        load(Configuration("nested", "ikj"))


def test_data_are_known_by_how_they_are_made(tmp_path) -> None:
    one = Configuration("gcn", "cora", (("density", 0.5),))
    assert data_version(one, None) == data_version(one.scheduled("full"), None)
    assert data_version(one, None) == data_version(one, tmp_path)
    other = Configuration("gcn", "cora", (("density", 0.4),))
    assert data_version(one, None) != data_version(other, None)
    (tmp_path / "planetoid").mkdir()
    (tmp_path / "planetoid" / "ind.cora.graph").write_bytes(b"graph")
    read = data_version(one, tmp_path)
    assert read != data_version(one, None)
    (tmp_path / "planetoid" / "ind.cora.graph").write_bytes(b"grapH")
    assert data_version(one, tmp_path) != read


def test_what_is_too_large_to_be_drawn_is_expected() -> None:
    small = Configuration("images", "", (("inputs", 40), ("hidden", 10)))
    assert foreseen(small) is None
    assert foreseen(Configuration("gcn", "karate")) is None
    found = foreseen(Configuration("images", "nih", (("inputs", 1_048_576), ("hidden", 512))))
    assert found is not None
    assert found.label == "nih"
    assert found.data["We"].total == pytest.approx(2**28)
    assert found.data["X"].total == pytest.approx(2**25)
    assert set(found.data) == set(found.model.program.inputs)
