"""Whole networks on an array of 64 × 64: every layer mapped, and right."""

from __future__ import annotations

import pytest

from fuseloom.access.hardware import SystolicArray
from fuseloom.access.mapped_layers import map_layers
from fuseloom.access.saturation.explain import replay
from fuseloom.access.torch_layers import layers_of
from fuseloom.access.torch_networks import NETWORKS, network
from fuseloom.errors import ProgramError

torch = pytest.importorskip("torch")

PRODUCTS = {"lenet": 5, "resnet18": 21, "mobilenet-v2": 53, "vit": 10, "bert": 8}
"""Per network its layers that have dot products."""
FIRST = {"mobilenet-v2": 7}
"""Of a network whose depthwise layers take hundreds of calls: how many the deep tier maps."""


@pytest.mark.parametrize(
    ("name", "most"),
    [
        *((name, FIRST.get(name)) for name in NETWORKS),
        *(pytest.param(name, None, marks=pytest.mark.fuzz) for name in FIRST),
    ],
)
def test_every_layer_is_mapped_right_and_explained(name: str, most: int | None) -> None:
    layers, others = layers_of(*network(name).make())
    made = map_layers(layers[:most], others, SystolicArray(64, 64))
    with_calls = [layer for layer in made.layers if layer.mapped.calls]
    assert len(with_calls) == (most or PRODUCTS[name])
    assert all(not layer.mapped.unmapped for layer in made.layers)
    assert made.max_rel_error < 1e-4
    for mapped in made.distinct:
        assert mapped.saturation.stopped.value == "saturated"
        if len(mapped.calls) <= 400:
            saturation = mapped.saturation
            steps = mapped.explanation
            after = replay(steps, mapped.before, saturation.rules, saturation.parameters)
            assert after == mapped.after
    assert others


def test_weights_are_those_of_a_seed() -> None:
    state = torch.random.get_rng_state()
    first, second = (network("lenet").make(seed)[0][0].weight for seed in (1, 1))
    assert torch.equal(first, second)
    assert not torch.equal(first, network("lenet").make(2)[0][0].weight)
    assert torch.equal(torch.random.get_rng_state(), state)


def test_another_name_is_refused() -> None:
    with pytest.raises(ProgramError, match="no network"):
        network("resnet19")
