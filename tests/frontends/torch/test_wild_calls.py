"""Whatever ``from_torch`` is given, it raises nothing but the project's own errors."""

from __future__ import annotations

import random
import warnings
from typing import Any

import pytest
import torch

import fuseloom as fl
from tests.property.test_public_calls import NUMBERS, OTHERS

SEED = 20_281_000
MODULES = (
    torch.nn.Linear(3, 2),
    torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Softmax(-1)),
    torch.nn.Embedding(5, 3),
    torch.nn.Identity(),
)
INPUTS = (
    torch.ones(2, 3), torch.ones(4, 5), torch.tensor([1, 2]), torch.ones(2, 3).to_sparse(),
    torch.full((2, 3), float("nan")), torch.zeros(0, 3), torch.ones(2, 3, dtype=torch.float64),
    torch.ones(2, 3, dtype=torch.complex64), torch.tensor(1.0), (torch.ones(2, 3),) * 2,
    [torch.ones(2, 3)], {"input": torch.ones(2, 3)}, torch.ones(2, 3, device="meta"),
)  # fmt: skip
FORMATS = ({}, {"input": "csr"}, {"0.weight": "dcsr"}, {"nothing": "csr"}, {"input": "cs"}, {3: 4})


def wild(rng: random.Random) -> Any:
    return rng.choice(OTHERS if rng.random() < 0.5 else NUMBERS)


@pytest.mark.parametrize("part", range(4))
def test_random_calls(part: int) -> None:
    for seed in range(SEED + 60 * part, SEED + 60 * (part + 1)):
        rng = random.Random(seed)
        module = rng.choice(MODULES) if rng.random() < 0.9 else wild(rng)
        given = rng.choice(INPUTS) if rng.random() < 0.9 else wild(rng)
        inputs = given if isinstance(given, (tuple, list, dict)) else (given,)
        options: dict[str, Any] = {}
        if rng.random() < 0.4:
            options["formats"] = rng.choice(FORMATS) if rng.random() < 0.8 else wild(rng)
        if rng.random() < 0.3:
            options["infer_density"] = wild(rng)
        if rng.random() < 0.2:
            options["name"] = wild(rng)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fl.from_torch(module, inputs, **options).check()
        except fl.FuseloomError:
            continue
        except Exception as raised:
            pytest.fail(f"seed {seed}: {type(raised).__name__}: {raised} of {module}, {options}")
