"""Data of a model from a graph or from images; weights and biases are random."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fuseloom.errors import DataError
from fuseloom.frontends.files import GraphData
from fuseloom.models.datasets import HIDDEN
from fuseloom.models.datasets.patterns import pruned
from fuseloom.models.drawing import MOST_MADE_UP, check_made_up, stored
from fuseloom.models.model import Model
from fuseloom.program import StoredTensor, Tensor
from fuseloom.program.late import is_scipy

WEIGHT_DENSITY = 0.5


def graph_model(
    build: Callable[..., Model],
    graph: GraphData,
    hidden: int = HIDDEN,
    classes: int | None = None,
) -> Model:
    """A model of a graph's sizes.

    Parameters
    ----------
    build : callable
        ``gcn`` or ``graphsage``, or one that takes the same sizes.
    hidden : int
        Width of the hidden layer.
    classes : int, optional
        Width of the result; by default the classes of the graph, at least 2.

    Raises
    ------
    DataError
        If the graph has no features.
    """
    if graph.features is None:
        raise DataError(
            f"{graph.label} has no features",
            hint="give a graph whose nodes have some, e.g. x in an .npz file with edge_index",
        )
    return build(
        nodes=graph.nodes,
        features=int(graph.features.shape[1]),
        hidden=hidden,
        classes=classes or max(graph.classes, 2),
    )


def graph_data(
    model: Model, graph: GraphData, seed: int = 0, density: float = WEIGHT_DENSITY
) -> dict[str, StoredTensor]:
    """Adjacency ``A`` and features ``X`` of a graph, and random weights for the rest.

    Raises
    ------
    DataError
        If the model has other sizes.
    """
    return filled(model, {"A": graph.adjacency, "X": graph.features}, seed, density)


def filled(
    model: Model,
    given: Mapping[str, Any],
    seed: int = 0,
    density: float = WEIGHT_DENSITY,
    most: int = MOST_MADE_UP,
) -> dict[str, StoredTensor]:
    """Some inputs as given, and random ones for the rest.

    A matrix of weights has a share of its elements, those of the largest magnitude, scaled so
    that sums over them keep their size; a dense one has all, and so have vectors.

    Parameters
    ----------
    given : mapping
        Arrays, or ``scipy.sparse`` matrices, by name.
    density : float
        That share, above 0, at most 1.
    most : int
        Elements that may be made up.

    Raises
    ------
    DataError
        If a given one does not fit the model, or the rest has too many elements.
    """
    inputs = model.program.inputs
    rest = [model.program.tensor(name) for name in inputs if name not in given]
    check_made_up(rest, most)
    rng = np.random.default_rng(seed)
    data: dict[str, StoredTensor] = {}
    for name in model.program.inputs:
        tensor = model.program.tensor(name)
        if name not in given:
            data[name] = _weights(tensor, rng, density)
        elif is_scipy(given[name]):
            data[name] = StoredTensor.from_scipy(tensor, given[name])
        else:
            data[name] = StoredTensor.from_dense(tensor, given[name])
    return data


def _weights(tensor: Tensor, rng: np.random.Generator, share: float) -> StoredTensor:
    if tensor.rank < 2:
        return StoredTensor.from_dense(tensor, rng.standard_normal(tensor.shape))
    density = 1.0 if tensor.format.all_dense else share
    weights = pruned(tensor.shape, density, rng)
    weights /= np.sqrt(tensor.shape[0] * density)
    return stored(tensor, weights)
