"""Two layers of GraphSAGE (Hamilton et al.), in fourteen kernels.

Source: the evaluation of the FuseFlow paper (``docs/spec/accounting.md`` §3.1).  What differs from
the paper's files, which do not compute one and the same function at all levels of fusion
(``docs/spec/accounting.md`` §5): the second layer adds its two branches and applies relu in every
preset, each layer has weights of its own for a node and for its neighbours, and no kernel counts
twice.
"""

from __future__ import annotations

from types import MappingProxyType

from fuseloom.models.model import Kernel, Model, instantiate

KERNELS = (
    Kernel("X·Ws", ("S1",)),
    Kernel("+bs", ("S2",)),
    Kernel("A·X", ("N1",)),
    Kernel("·Wn", ("N2",)),
    Kernel("+bn", ("N3",)),
    Kernel("add", ("C1",)),
    Kernel("relu", ("H",)),
    Kernel("H·Ws2", ("S3",)),
    Kernel("+bs2", ("S4",)),
    Kernel("A·H", ("N4",)),
    Kernel("·Wn2", ("N5",)),
    Kernel("+bn2", ("N6",)),
    Kernel("add 2", ("C2",)),
    Kernel("relu 2", ("Y",)),
)

PRESETS = MappingProxyType(
    {"unfused": "", "partial": "fuse S1..H; fuse S3..Y", "full": "fuse S1..Y"}
)
"""One region per kernel, per layer, and one for all (paper, Fig. 12)."""


def graphsage(
    nodes: int = 34,
    features: int = 34,
    hidden: int = 16,
    classes: int = 4,
    name: str = "graphsage",
) -> Model:
    """``relu(X Ws + bs + (A X) Wn + bn)`` twice, over a graph.

    Parameters
    ----------
    nodes, features, hidden, classes : int
        ``A`` is nodes x nodes (dcsr), ``X`` nodes x features (dense), the weights features x
        hidden and hidden x classes (dcsr); the biases are dense.
    name : str
        Name of the program.

    Raises
    ------
    ProgramError
        A size below 1.

    Examples
    --------
    >>> model = graphsage(nodes=10)
    >>> len(model.kernels), model.program.outputs
    (14, ('Y',))
    """
    program = instantiate(
        "graphsage", nodes=nodes, features=features, hidden=hidden, classes=classes, name=name
    )
    return Model(program, KERNELS, PRESETS)
