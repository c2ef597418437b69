"""Recurrent layers, against PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from fuseloom.errors import ProgramError
from fuseloom.frontends.torch import recurrent
from tests.frontends.torch.support import agrees, imported, normal

LAYERS: dict[str, tuple[Callable[[], nn.Module], tuple[Any, ...]]] = {
    "lstm": (lambda: nn.LSTM(2, 3), (normal(3, 2, 2),)),
    "lstm, batches first": (lambda: nn.LSTM(2, 3, batch_first=True), (normal(2, 3, 2),)),
    "lstm without a batch": (lambda: nn.LSTM(2, 2), (normal(3, 2),)),
    "lstm both ways in two layers": (
        lambda: nn.LSTM(2, 2, 2, bidirectional=True), (normal(2, 1, 2),)
    ),
    "lstm that goes on": (
        lambda: nn.LSTM(2, 3), (normal(2, 2, 2), (normal(1, 2, 3), normal(1, 2, 3, seed=1)))
    ),
    "lstm with a projection": (lambda: nn.LSTM(2, 3, proj_size=2), (normal(2, 2, 2),)),
    "lstm without biases": (lambda: nn.LSTM(2, 2, bias=False), (normal(2, 1, 2),)),
    "gru": (lambda: nn.GRU(2, 3), (normal(3, 2, 2),)),
    "gru without biases": (lambda: nn.GRU(2, 2, bias=False), (normal(2, 1, 2),)),
    "gru both ways, batches first": (
        lambda: nn.GRU(2, 2, batch_first=True, bidirectional=True), (normal(1, 3, 2),)
    ),
    "gru that goes on": (lambda: nn.GRU(2, 2), (normal(2, 2, 2), normal(1, 2, 2, seed=1))),
    "rnn": (lambda: nn.RNN(2, 3, 2), (normal(2, 2, 2),)),
    "rnn with relu": (lambda: nn.RNN(2, 3, nonlinearity="relu"), (normal(3, 1, 2),)),
    "lstm cell": (lambda: nn.LSTMCell(2, 3), (normal(4, 2),)),
    "lstm cell that goes on": (
        lambda: nn.LSTMCell(2, 3), (normal(4, 2), (normal(4, 3), normal(4, 3, seed=1)))
    ),
    "gru cell": (lambda: nn.GRUCell(2, 3), (normal(4, 2), normal(4, 3))),
    "gru cell from nothing": (lambda: nn.GRUCell(2, 3), (normal(4, 2),)),
    "rnn cell": (lambda: nn.RNNCell(2, 3), (normal(4, 2), normal(4, 3))),
    "rnn cell with relu": (lambda: nn.RNNCell(2, 3, nonlinearity="relu"), (normal(4, 2),)),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_layers_and_cells(name: str) -> None:
    build, given = LAYERS[name]
    torch.manual_seed(0)
    agrees(build(), given, fused="layers")


def test_weights_of_a_gate_are_stored_once() -> None:
    module = nn.LSTM(2, 2)
    made = agrees(module, (normal(3, 1, 2),), {"weight_hh_l0": "csr"}, fused="kernels")
    weights = [name for name in made.data if name.startswith("p_weight_hh")]
    assert len(weights) == 4
    assert all(made.program.tensor(name).format.levels[1].value == "compressed" for name in weights)


def test_a_long_sequence_is_refused() -> None:
    long = normal(recurrent.MOST_STEPS + 1, 1, 2)
    with pytest.raises(ProgramError, match=r"257 steps.*at most 256 steps are unrolled"):
        imported(nn.RNN(2, 2), long)


def test_packed_sequences_are_refused() -> None:
    lstm = nn.LSTM(2, 2)

    def packed(x: Any) -> Any:
        given = nn.utils.rnn.pack_padded_sequence(x, torch.tensor([3, 2]))
        return lstm(given)[0].data

    with pytest.raises(ProgramError):
        imported(packed, normal(3, 2, 2))
