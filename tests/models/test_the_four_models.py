"""GCN, GraphSAGE, the autoencoder and GPT-3: against plain numpy, and simulated in every preset."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.fusion.fuse import fuse
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.models import (
    Model,
    autoencoder,
    bigbird_data,
    gcn,
    gpt3,
    graphsage,
    random_data,
)
from fuseloom.program import StoredTensor

SMALL = {
    "gcn": gcn(nodes=12, features=6, hidden=5, classes=3),
    "graphsage": graphsage(nodes=11, features=6, hidden=5, classes=3),
    "autoencoder": autoencoder(batch=5, inputs=12, hidden=6),
    "gpt3": gpt3(tokens=16, width=8, heads=2, inner=12, decoders=2),
}


def data_of(model: Model, seed: int = 0) -> dict[str, StoredTensor]:
    return bigbird_data(model, seed) if model.masks else random_data(model, seed)


@pytest.mark.parametrize(
    ("name", "preset"),
    [(name, preset) for name, model in SMALL.items() for preset in model.presets],
)
def test_every_preset_computes_the_model(name: str, preset: str) -> None:
    model = SMALL[name]
    run = simulate(compile_program(model.program, model.presets[preset]), data_of(model))
    check = run.check(1e-4)
    assert check.ok, check
    assert set(model.program.outputs) <= run.outputs.keys()


def test_presets_have_the_published_number_of_regions() -> None:
    """Fig. 12 of the paper; memory reshapes between the three subsets of a decoder."""
    counts = {
        name: {p: len(fuse(m.program, Schedule.parse(text))) for p, text in m.presets.items()}
        for name, m in SMALL.items()
    }
    assert counts["gcn"] == {"unfused": 8, "C+S": 6, "partial": 2, "full": 1}
    assert counts["graphsage"] == {"unfused": 14, "partial": 2, "full": 1}
    assert counts["autoencoder"] == {"unfused": 5, "partial": 2, "full": 1}
    # Unfused, queries, keys and values have a region each in two of the 18 kernels of a decoder.
    assert counts["gpt3"] == {"unfused": 2 * (18 + 2 * 2), "partial": 6, "full": 5}
