"""PyTorch modules and functions, compared with the modules that are made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pytest

from fuseloom.frontends.torch.capture import flattened
from fuseloom.stitch.meaning.evaluation import evaluate
from fuseloom.stitch.torch_graph import TorchGraph, torch_module_graph

torch = pytest.importorskip("torch")


def module_of(function: Callable[..., Any]) -> Any:
    """A module that computes a function."""

    class Function(torch.nn.Module):
        def forward(self, *inputs: Any) -> Any:
            return function(*inputs)

    return Function().eval()


def compare(module: Any, inputs: Sequence[Any], tolerance: float = 1e-4) -> TorchGraph:
    """Evaluate the graph of a module, without opaque operations, and compare it with PyTorch."""
    graph = torch_module_graph(module, inputs)
    assert graph.opaque == ()
    names = [one.name for one in graph.module.main.parameters if one.name not in graph.weights]
    arrays = {name: given.numpy() for name, given in zip(names, inputs, strict=True)}
    made = evaluate(graph.module, {**graph.weights, **arrays})
    with torch.no_grad():
        expected = flattened(module.eval()(*inputs))
    assert len(made) == len(expected)
    for number, (array, tensor) in enumerate(zip(made, expected, strict=True)):
        wanted = tensor.numpy()
        which = f"result {number}"
        assert array.dtype == wanted.dtype, which
        np.testing.assert_allclose(array, wanted, rtol=tolerance, atol=tolerance, err_msg=which)
    return graph


def batched(names: Iterable[str], size: int) -> list[tuple[str, ...]]:
    """Names in groups of one size, and the rest."""
    every = list(names)
    return [tuple(every[start : start + size]) for start in range(0, len(every), size)]


def together(functions: Iterable[Callable[..., Any]]) -> Any:
    """A module that computes several functions of the same inputs: exporting is what takes long."""
    every = list(functions)
    return module_of(lambda *inputs: [function(*inputs) for function in every])


def drawn(*dims: int) -> Any:
    """Normal numbers, the same ones for the same extents."""
    return torch.randn(dims, generator=torch.Generator().manual_seed(sum(dims)))
