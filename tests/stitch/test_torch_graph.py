"""Modules of PyTorch's: whole networks, weights, results, and operators that are not known."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest

from fuseloom.errors import ProgramError
from fuseloom.stitch.frames import fuse_module
from fuseloom.stitch.graph import DenseModule
from fuseloom.stitch.hlo.printer import print_hlo
from fuseloom.stitch.hlo.reader import read_hlo
from fuseloom.stitch.meaning.evaluation import evaluate
from fuseloom.stitch.torch_graph import torch_module_graph
from tests.stitch.aten.exporting import compare, drawn, module_of

torch = pytest.importorskip("torch")
nn = torch.nn


class _Attention(nn.Module):
    """Attention of several heads under a causal mask, with a residual."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Any) -> Any:
        tokens = x.shape[1]
        parts = self.project(self.norm(x)).chunk(3, dim=-1)
        q, k, v = (one.unflatten(-1, (self.heads, -1)).transpose(1, 2) for one in parts)
        scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
        mask = torch.ones(tokens, tokens, dtype=torch.bool).tril()
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        return x + self.out((weights @ v).transpose(1, 2).flatten(2))


def networks() -> dict[str, tuple[Any, list[Any]]]:
    torch.manual_seed(0)
    return {
        "MLP": (
            nn.Sequential(nn.Linear(6, 16), nn.GELU(), nn.Dropout(), nn.Linear(16, 3)),
            [drawn(5, 6)],
        ),
        "attention": (_Attention(8, 2), [drawn(2, 5, 8)]),
        "MultiheadAttention": (nn.MultiheadAttention(8, 2, batch_first=True), [drawn(2, 5, 8)] * 3),
        "encoder layer": (
            nn.TransformerEncoderLayer(16, 2, 32, batch_first=True),
            [drawn(2, 5, 16)],
        ),
        "decoder layer": (
            nn.TransformerDecoderLayer(16, 2, 32, batch_first=True, norm_first=True),
            [drawn(2, 5, 16), drawn(2, 4, 16)],
        ),
        "CNN": (
            nn.Sequential(
                nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
                nn.Conv2d(8, 8, 3, stride=2, padding=1, groups=2), nn.SiLU(),
                nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4), nn.LogSoftmax(-1),
            ),
            [drawn(2, 3, 8, 8)],
        ),
        "LSTM cell": (nn.LSTMCell(4, 5), [drawn(3, 4)]),
        "GRU cell": (nn.GRUCell(4, 5), [drawn(3, 4), drawn(3, 5)]),
        "LSTM": (nn.LSTM(4, 5), [drawn(3, 2, 4)]),
    }  # fmt: skip


NAMES = list(networks())


@pytest.mark.parametrize("name", NAMES)
def test_networks(name: str) -> None:
    module, inputs = networks()[name]
    graph = compare(module, inputs)
    fused = fuse_module(graph.module)
    assert fused.count <= fused.baseline_count
    text = print_hlo(graph.module)
    assert print_hlo(read_hlo(text)) == text


def test_a_module_in_training_is_exported_in_eval_mode() -> None:
    module = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.9), nn.BatchNorm1d(4)).train()
    graph = torch_module_graph(module, [drawn(3, 4)])
    assert module.training
    assert graph.opaque == ()
    compare(module, [drawn(3, 4)])


def test_weights_have_the_names_of_the_module() -> None:
    module = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))
    built, weights = torch_module_graph(module, [drawn(2, 4)])
    assert isinstance(built, DenseModule)
    assert set(weights) == {
        "0.weight", "0.bias", "1.weight", "1.bias", "1.running_mean", "1.running_var"
    }  # fmt: skip
    np.testing.assert_array_equal(weights["0.weight"], module[0].weight.detach().numpy())
    inputs = [one.name for one in built.main.parameters if one.name not in weights]
    assert inputs == ["input"]


def test_a_weight_with_the_name_of_an_input() -> None:
    class Named(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.x = nn.Parameter(torch.ones(3))
            self.register_buffer("scale", torch.tensor([1.0, 2.0, 3.0]))

        def forward(self, x: Any) -> Any:
            return x * self.x * self.scale + torch.tensor([1.0, 0.0, 1.0])

    graph = compare(Named(), [drawn(3)])
    assert {"x_", "scale"} < set(graph.weights)


def test_results() -> None:
    compare(module_of(lambda x, y: {"sum": x + y, "rest": [x, (y, x + y)]}), [drawn(3), drawn(3)])
    compare(module_of(lambda x, y: x * 2), [drawn(3), drawn(4)])
    with pytest.raises(ProgramError, match="returns no tensor"):
        torch_module_graph(module_of(lambda x: 3), [drawn(3)])


def test_bf16() -> None:
    module = nn.Linear(4, 3).to(torch.bfloat16)
    x = drawn(2, 4).to(torch.bfloat16)
    graph = torch_module_graph(module, [x])
    assert graph.module.main.by_name[graph.module.main.root].array.element == "bf16"
    (made,) = evaluate(graph.module, {**graph.weights, "input": x.float().numpy()})
    np.testing.assert_allclose(made, module(x).detach().float().numpy(), atol=0.05)


def test_an_operator_that_is_not_known() -> None:
    def function(x: Any) -> Any:
        values, places = torch.topk(torch.exp(x), 2)
        return values + 1, places, torch.special.bessel_j0(x)

    graph = torch_module_graph(module_of(function), [drawn(3, 4)])
    assert graph.opaque == ("aten.topk.default", "aten.special_bessel_j0.default")
    assert [str(graph.module.main.by_name[x].array) for x in graph.module.main.outputs] == [
        "f32[3,2]", "s64[3,2]", "f32[3,4]"
    ]  # fmt: skip
    fuse_module(graph.module)
    with pytest.raises(ProgramError, match="code of another library"):
        evaluate(graph.module, {"inputs_0": drawn(3, 4).numpy()})


def test_what_is_not_exported() -> None:
    def function(x: Any) -> Any:
        return x + 1 if x.sum() > 0 else x

    with pytest.raises(ProgramError, match="PyTorch does not export the module"):
        torch_module_graph(module_of(function), [drawn(3)])


def test_without_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "torch":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ProgramError, match="not installed") as caught:
        torch_module_graph(None, [])
    assert "fuseloom[torch]" in str(caught.value.hint)
