"""Models describe themselves."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.errors import ProgramError
from fuseloom.models import (
    DATASETS,
    MODELS,
    gcn,
    load,
)
from fuseloom.program import evaluate, parse


@pytest.mark.parametrize("name", MODELS)
def test_models_describe_themselves(name: str) -> None:
    model = MODELS[name]()
    covered = [output for kernel in model.kernels for output in kernel.statements]
    assert covered == [s.out.tensor for s in model.program.statements]
    assert parse(str(model.program)) == model.program
    assert model.program.name == name
    for seed in range(2):
        _, data = load(name, "random", seed)
        for output in model.program.outputs:
            assert np.isfinite(evaluate(model.program, data)[output].values).all()


def test_unknown_names() -> None:
    assert set(DATASETS) >= {"karate", "random"}
    for arguments, message in [
        (("gnc",), "did you mean 'gcn'"),
        (("gcn", "karat"), "did you mean 'karate'"),
        (("spmv", "karate"), "does not fit model spmv.*random"),
    ]:
        with pytest.raises(ProgramError, match=message):
            load(*arguments)
    with pytest.raises(ProgramError, match="dimension 0 of A is 0"):
        gcn(nodes=0)
