"""Layers by PyTorch, against those in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.calls.checker import check
from fuseloom.calls.library import LIBRARY, LibraryCall
from fuseloom.calls.library.torch_networks import ROWS
from tests.calls.library.computed import SEEDS, close, computed
from tests.calls.mutants import means_the_same, mutants

pytestmark = pytest.mark.deep  # needs PyTorch

SAME = {
    "torch_conv2d": "conv2d", "torch_max_pool": "max_pool", "torch_relu": "relu_images",
    "torch_linear": "linear", "torch_softmax": "softmax", "torch_layer_norm": "layer_norm",
    "torch_attention": "attention", "torch_gelu": "gelu_images",
}  # fmt: skip


@pytest.mark.parametrize("name", [row.name for row in ROWS])
@pytest.mark.parametrize("seed", SEEDS)
def test_both_libraries_compute_the_same(name: str, seed: int) -> None:
    out, arguments = computed(name, seed)
    assert out.dtype == np.float32
    assert arguments["out"] is out
    single = {key: value for key, value in arguments.items() if key != "out"}
    wanted, _ = computed(SAME[name], seed, **single)
    assert close(out, wanted, 1e-3 if name == "torch_gelu" else 1e-5)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
@pytest.mark.parametrize("seed", SEEDS)
def test_rows_pass_the_checker(row: LibraryCall, seed: int) -> None:
    report = check(row.annotated, row.kinds, row.example(seed), seed=seed, tolerance=row.tolerance)
    assert report.ok, report
    assert report.hints == ()


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.fuzz)])
@pytest.mark.parametrize("name", ["torch_max_pool", "torch_linear"])
def test_changed_annotations_are_caught(name: str, every: int) -> None:
    row = LIBRARY[name]
    changed = list(mutants(row))[::every]
    wrong = [(words, mutant) for words, mutant in changed if not means_the_same(row, mutant)]
    kept = [
        words
        for words, mutant in wrong
        if check(mutant, row.kinds, row.example(1), 10, tolerance=row.tolerance).ok
        and check(mutant, row.kinds, row.example(2), 10, tolerance=row.tolerance).ok
    ]
    assert len(wrong) > 50 // every
    assert len(kept) < 0.05 * len(wrong), kept


def test_results_do_not_resize_their_output() -> None:
    row = LIBRARY["torch_softmax"]
    with pytest.raises(ValueError, match="does not fit into"):
        row.function(np.zeros((3, 4), np.float32), 4, np.zeros((2, 4), np.float32))
