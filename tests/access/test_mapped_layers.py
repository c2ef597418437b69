"""Layers that share a term are mapped once; totals are sums."""

from __future__ import annotations

import numpy as np

from fuseloom.access.hardware import SystolicArray
from fuseloom.access.kernels import dense, matmul
from fuseloom.access.layers import Layer, OtherCall
from fuseloom.access.mapped_layers import map_layers
from fuseloom.access.meaning import evaluate, random_data
from fuseloom.access.terms import Term


def _layer(name: str, term: Term, seed: int) -> Layer:
    data = random_data(term, seed)
    return Layer(name, term, data, evaluate(term, data))


def test_equal_terms_are_mapped_once_and_checked_each() -> None:
    layers = [_layer("a", dense(4, 8, 8), 0), _layer("b", dense(4, 8, 8), 1)]
    layers.append(_layer("c", matmul(2, 3, 4), 2))
    wrong = Layer("d", layers[0].term, layers[0].data, layers[0].result + 1)
    seen: list[str] = []
    made = map_layers(
        [*layers, wrong], [OtherCall("relu", "none")], SystolicArray(8, 8),
        progress=lambda layer: seen.append(layer.name),
    )  # fmt: skip
    assert seen == ["a", "b", "c", "d"]
    assert len(made.distinct) == 2
    assert made.cycles == sum(layer.mapped.cycles for layer in made.layers)
    assert 0 < made.utilisation < 1
    assert max(layer.max_rel_error for layer in made.layers[:3]) < 1e-12
    assert made.max_rel_error > 0.01
    empty = map_layers([], [], SystolicArray(8, 8))
    assert (empty.cycles, empty.utilisation, empty.max_rel_error) == (0, 0.0, 0.0)
    assert np.isfinite(made.max_rel_error)
