"""Data for the models: small graphs, and seeded random tensors for any program."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fuseloom.errors import DataError
from fuseloom.models.datasets import karate_graph
from fuseloom.models.drawing import check_made_up, normal, stored, thin
from fuseloom.models.gcn import gcn
from fuseloom.models.model import Model
from fuseloom.program import StoredTensor, Tensor, made_tensor
from fuseloom.wording import counted

WEIGHT_DENSITY = 0.5
RANDOM_DENSITY = 0.3


def karate(
    seed: int = 0, hidden: int = 16, classes: int = 4, density: float = WEIGHT_DENSITY
) -> dict[str, StoredTensor]:
    """Zachary's karate club for :func:`~fuseloom.models.gcn.gcn` of these sizes.

    34 nodes, 156 directed edges of weight 1, identity features; weights are normal, each there
    with probability ``density``, biases normal and dense.

    Source: W. W. Zachary, "An information flow model for conflict and fission in small groups",
    1977, as shipped with networkx.
    """
    program = gcn(hidden=hidden, classes=classes).program
    check_made_up(map(program.tensor, program.inputs))
    rng = np.random.default_rng(seed)

    def weights(name: str) -> StoredTensor:
        tensor = program.tensor(name)
        dense = rng.standard_normal(tensor.shape) * (rng.random(tensor.shape) < density)
        return StoredTensor.from_dense(tensor, dense)

    def bias(name: str) -> StoredTensor:
        tensor = program.tensor(name)
        return StoredTensor.from_dense(tensor, rng.standard_normal(tensor.shape))

    features = program.tensor("X")
    return {
        "A": StoredTensor.from_scipy(program.tensor("A"), karate_graph().adjacency),
        "X": StoredTensor.from_dense(features, np.eye(features.shape[0])),
        "W1": weights("W1"),
        "b1": bias("b1"),
        "W2": weights("W2"),
        "b2": bias("b2"),
    }


def bigbird(tokens: int, block: int, seed: int = 0) -> npt.NDArray[np.bool_]:
    """BigBird's mask: which keys each query sees, in square blocks.

    In blocks: the diagonal and its neighbours, the first two rows and columns, and two more per
    block row, drawn without replacement (``docs/spec/accounting.md`` §3.4).

    Parameters
    ----------
    tokens, block : int
        Sequence length and edge of a block, which divides it.

    Returns
    -------
    (tokens, tokens) array of bool

    Raises
    ------
    DataError
        If the block does not divide the sequence.
    """
    if block < 1 or tokens % block:
        raise DataError(
            f"blocks of {block} do not divide {counted(tokens, 'token')}",
            hint="choose a divisor of the sequence length",
        )
    count = tokens // block
    random = np.random.RandomState(seed)  # the generator that the published masks were drawn by
    kept = np.abs(np.subtract.outer(np.arange(count), np.arange(count))) <= 1
    kept[:2] = True
    kept[:, :2] = True
    for row in range(count):
        kept[row, random.choice(count, min(2, count), replace=False)] = True
    return np.kron(kept, np.ones((block, block), dtype=bool)).astype(bool)


def bigbird_data(model: Model, seed: int = 0, block: int = 4) -> dict[str, StoredTensor]:
    """Random data for GPT-3 with BigBird's mask; weights are scaled so that nothing grows.

    Raises
    ------
    DataError
        If the block does not divide the sequence, or the tensors have too many elements.
    """
    check_made_up(map(model.program.tensor, model.program.given))
    rng = np.random.default_rng(seed)
    data: dict[str, StoredTensor] = {}
    for name in model.program.inputs:
        tensor = model.program.tensor(name)
        if name in model.masks:
            values = bigbird(tensor.shape[0], block).astype(np.float32)
        else:
            values = rng.standard_normal(tensor.shape) / np.sqrt(tensor.shape[0])
        data[name] = stored(tensor, values)
    return data


def random_data(
    model: Model, seed: int = 0, density: float = RANDOM_DENSITY
) -> dict[str, StoredTensor]:
    """Normal values for every input of a model.

    A tensor with a compressed level has each element with probability ``density``; all-dense
    tensors are full.  Masks hold 1 where they hold anything.

    Raises
    ------
    DataError
        If a tensor has more elements than the dense reference could check, or all have too many.
    """
    check_made_up(map(model.program.tensor, model.program.given))
    rng = np.random.default_rng(seed)
    return {
        name: _random(model.program.tensor(name), rng, density, name in model.masks)
        for name in model.program.inputs
    }


def random_tensor(tensor: Tensor, seed: int = 0, density: float = RANDOM_DENSITY) -> StoredTensor:
    """One tensor as :func:`random_data` makes them.

    Raises
    ------
    DataError
        If it has too many elements.
    """
    check_made_up([tensor])
    # Tensors of one seed differ by their names.
    rng = np.random.default_rng([seed, *tensor.name.encode()])
    return _random(tensor, rng, density, mask=False)


def _random(tensor: Tensor, rng: np.random.Generator, density: float, mask: bool) -> StoredTensor:
    if tensor.made is not None:
        return made_tensor(tensor)
    values = normal(tensor.shape, rng)
    if mask:
        values = np.ones(tensor.shape, dtype=np.float32)
    if not tensor.format.all_dense:
        thin(values, density, rng)
    return stored(tensor, values)
