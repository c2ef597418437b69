"""A product of three matrices in two statements, stored as some order traverses them.

Source: Fig. 18 of the FuseFlow paper, whose sweep has fifteen orders of this program.
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from fuseloom.errors import ProgramError
from fuseloom.models.datasets import karate_graph
from fuseloom.models.datasets.patterns import pruned
from fuseloom.models.drawing import stored
from fuseloom.models.model import Kernel, Model
from fuseloom.program import Program, StoredTensor, parse

INDICES = "ikjl"
"""The indices, in the order that the program has if no other is asked for."""
KERNELS = (Kernel("A·X", ("T",)), Kernel("T·W", ("D",)))
PRESETS = MappingProxyType({"unfused": "", "full": "fuse T..D", "global": "global"})


def nested(nodes: int = 34, hidden: int = 16, filled: float = 1.0, name: str = "nested") -> Model:
    """``D[i,l] = (A[i,k] * X[k,j]) * W[j,l]``, everything stored by rows.

    Parameters
    ----------
    nodes, hidden : int
        ``A`` and ``X`` are nodes x nodes, ``W`` and ``D`` nodes x hidden.
    filled : float
        Share of the elements of ``X`` that is not 0; it is stored dense if all are there.

    Raises
    ------
    ProgramError
        A size below 1.
    """
    return nested_in(INDICES, nodes, hidden, filled, name)


def nested_in(
    order: str, nodes: int = 34, hidden: int = 16, filled: float = 1.0, name: str = "nested"
) -> Model:
    """The same with each operand stored as an order traverses it.

    Parameters
    ----------
    order : str
        The indices i, k, j, l, outermost first, such as ``jkil``.

    Raises
    ------
    ProgramError
        A size below 1, or an order that does not name these indices.
    """
    return Model(nested_program(order, nodes, hidden, filled < 1.0, name), KERNELS, PRESETS)


def nested_program(
    order: str, nodes: int, hidden: int, sparse: bool = False, name: str = "nested"
) -> Program:
    """The program; ``sparse`` features are compressed, others dense.

    Raises
    ------
    ProgramError
        If the order does not name the four indices.
    """
    if sorted(order) != sorted(INDICES):
        raise ProgramError(
            f"{order!r} is no order of {', '.join(INDICES)}", hint="name each once, such as jkil"
        )

    def levels(first: str, second: str) -> str:
        forwards = order.index(first) < order.index(second)
        return "compressed" if forwards else "[compressed, compressed] order 1,0"

    text = f"""program {name}
A: {nodes}x{nodes} {levels("i", "k")}
X: {nodes}x{nodes} {levels("k", "j") if sparse else "dense"}
W: {nodes}x{hidden} {levels("j", "l")}
D: {nodes}x{hidden} {levels("i", "l")}
T[i,j] = A[i,k] * X[k,j]
D[i,l] = T[i,j] * W[j,l]
output D
"""
    return parse(text, source=name)


def nested_karate(
    model: Model, seed: int = 0, density: float = 0.5, filled: float = 1.0
) -> dict[str, StoredTensor]:
    """Zachary's karate club as ``A``; ``X`` and ``W`` are normal, of these densities."""
    program, rng = model.program, np.random.default_rng(seed)
    values = {
        "A": karate_graph().adjacency.toarray(),
        "X": pruned(program.tensor("X").shape, filled, rng),
        "W": pruned(program.tensor("W").shape, density, rng),
    }
    return {name: stored(program.tensor(name), value) for name, value in values.items()}
