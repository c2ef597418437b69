"""Notebook 10: a module of PyTorch as a program.

PyTorch is imported when an answer is checked, not before.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import ProgramError
from fuseloom.frontends.torch import ImportedModule, from_torch
from fuseloom.models import load
from fuseloom.wording import counted
from fuseloom_workbench.notebook.exercises import Exercise, Judge, names, number

Array = npt.NDArray[np.float32]
_MADE = np.random.default_rng(10)
NEAR = 1e-4
"""Largest difference of a module that computes the same, of its largest number."""


def _normal(*shape: int) -> Array:
    return _MADE.normal(size=shape).astype(np.float32)


def _pruned(*shape: int) -> Array:
    """Weights of which the 30 % that are largest in magnitude are kept."""
    dense = _normal(*shape)
    dense[np.abs(dense) < np.quantile(np.abs(dense), 0.7)] = 0
    return dense


WEIGHTS = {
    "inner.weight": _pruned(12, 8),
    "inner.bias": _normal(12),
    "outer.weight": _pruned(4, 12),
    "outer.bias": _normal(4),
}
"""The weights that the notebook's network has learnt in the story, by parameter name."""
FEATURES: Array = _normal(34, 8)
"""Eight features of each of the members of the Karate Club."""
GRAPH: Array = load("gcn", "karate")[1]["A"].to_dense().astype(np.float32)
"""The adjacency matrix of the Karate Club's friendships: 34 x 34, zeros and ones."""
WITHOUT: Array = GRAPH.copy()
"""The club after its two leaders, the first member and the last one, have lost their friends."""
WITHOUT[[0, 33]] = WITHOUT[:, [0, 33]] = 0
COLUMNS = {"inner.weight": "csc", "outer.weight": "csc"}
ROWS = {"inner.weight": "csr", "outer.weight": "csr"}


def network() -> Any:
    """The module of the notebook, with its weights."""
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Linear(8, 12)
            self.outer = torch.nn.Linear(12, 4)

        def forward(self, graph, x):
            h = torch.relu(self.inner(x))
            near = torch.sparse.mm(graph, h)
            return torch.softmax(self.outer(near), dim=1)

    net = Net()
    net.load_state_dict({name: torch.tensor(w) for name, w in WEIGHTS.items()})
    return net


def waves() -> Any:
    """The module that is refused."""
    import torch

    class Waves(torch.nn.Module):
        def forward(self, x):
            kept = torch.relu(x)
            return torch.fft.fft(kept, dim=1).real

    return Waves()


def _sparse(array: Array) -> Any:
    """The array as a sparse tensor of PyTorch, without its word on how young these are."""
    import torch

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        return torch.tensor(array).to_sparse_csr()


@cache
def _imported(formats: tuple[tuple[str, str], ...]) -> ImportedModule:
    import torch

    return from_torch(network(), (_sparse(GRAPH), torch.tensor(FEATURES)), dict(formats))


def imported(formats: Mapping[str, str]) -> ImportedModule:
    """The network as a program, some of its tensors stored as said."""
    return _imported(tuple(sorted(formats.items())))


def _cycles(made: ImportedModule, preset: str, of: ImportedModule | None = None) -> int:
    """Cycles of a module under a preset, its own or that of another import."""
    schedule = (of or made).presets[preset]
    return simulate(compile_program(made.program, schedule), made.data).cycles


def _statements(operation: str) -> int:
    return sum(len(k.statements) for k in imported({}).kernels if operation in k.name)


def _elsewhere() -> int:
    import torch

    return _cycles(imported(COLUMNS).bind(_sparse(WITHOUT), torch.tensor(FEATURES)), "layers")


def _refused() -> str:
    import torch

    try:
        from_torch(waves(), torch.tensor(FEATURES))
    except ProgramError as problem:
        return str(problem).split()[0]
    raise AssertionError("it is supported by now")


def _layouts(preset: str, best: Mapping[str, str]) -> Judge:
    """Storage by name, with which a preset of the best takes no more cycles than with that."""

    def wrong(answer: Any) -> str:
        if not isinstance(answer, Mapping):
            return f"{answer!r} is no dict of names and layouts"
        most = _cycles(imported(best), preset)
        cycles = _cycles(imported(answer), preset, imported(best))
        return "" if cycles <= most else f"takes {counted(cycles, 'cycle')}, more than {most:,}"

    return wrong


def _same_as_waves(answer: Any) -> str:
    import torch

    if not isinstance(answer, torch.nn.Module):
        return f"{type(answer).__name__} is no module: give an instance of your class"
    made = from_torch(answer, torch.tensor(FEATURES))
    want = waves()(torch.tensor(FEATURES)).numpy()
    if len(made.expected) != 1 or made.expected[0].shape != want.shape:
        return f"the result is not of shape {want.shape[0]} x {want.shape[1]}"
    far = np.argwhere(np.abs(made.expected[0] - want) > NEAR * np.abs(want).max())
    if len(far):
        at = tuple(int(x) for x in far[0])
        return f"element {list(at)} is {made.expected[0][at]:.3g}, and should be {want[at]:.3g}"
    return ""


EXERCISES = {
    "10.1": Exercise(
        "How many statements did the softmax become?",
        number(lambda: _statements("softmax"), "statements"),
        "the row aten.softmax of the import",
    ),
    "10.2": Exercise(
        "How many elements of inner.weight are stored as csc?",
        number(lambda: imported(COLUMNS).data["inner_weight"].nnz, "elements"),
        "np.count_nonzero counts what is not 0",
    ),
    "10.3": Exercise(
        "How many cycles does the schedule columns.presets['layers'] take if both weights are csr?",
        number(lambda: _cycles(imported(ROWS), "layers", imported(COLUMNS)), "cycles"),
        "fl.compile(rows.program, columns.presets['layers']) is that schedule for the other layout",
    ),
    "10.4": Exercise(
        "Store the weights so that columns.presets['layers'] takes as few cycles as it can.",
        _layouts("layers", COLUMNS),
        "the two-dimensional formats are dense, csr, csc, dcsr and dcsc; what is the outer index "
        "of the second product, and which index lies inside it?",
    ),
    "10.5": Exercise(
        "How many cycles does layers take, weights as csc, on the club without its leaders?",
        number(_elsewhere, "cycles"),
        "columns.bind(other, x) is the same program with other data",
    ),
    "10.6": Exercise(
        "Which operation is refused?",
        names(lambda: {_refused()}),
        "the first word of the message",
    ),
    "10.7": Exercise(
        "Write a module that computes the same and is not refused.",
        _same_as_waves,
        "column j of the result is the sum of columns k times cos(2 pi k j / 8): that is a matrix",
    ),
}
