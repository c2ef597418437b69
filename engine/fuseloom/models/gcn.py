"""The two-layer graph convolutional network of Kipf and Welling, in eight kernels.

Source: the evaluation of the FuseFlow paper (``docs/spec/accounting.md`` §3.1).
"""

from __future__ import annotations

from types import MappingProxyType

from fuseloom.models.model import Kernel, Model, instantiate

KERNELS = (
    Kernel("A·X", ("T1",)),
    Kernel("·W1", ("T2",)),
    Kernel("+b1", ("T3",)),
    Kernel("relu", ("H",)),
    Kernel("A·H", ("T5",)),
    Kernel("·W2", ("T6",)),
    Kernel("+b2", ("T7",)),
    Kernel("softmax", ("x", "d", "e", "s", "Y")),
)

PRESETS = MappingProxyType(
    {
        "unfused": "fuse x..Y",
        "C+S": "fuse x..Y; global T1..T2; global T5..T6",
        "partial": "fuse T1..H; fuse T5..Y",
        "full": "fuse T1..Y",
    }
)
"""A statement that no ``fuse`` names is a region of its own.

``C+S`` is what Custard and Stardust could do after a user merged expressions by hand (paper,
Fig. 4b): chains of products in one global iteration space, everything else by itself.
"""


def gcn(
    nodes: int = 34, features: int = 34, hidden: int = 16, classes: int = 4, name: str = "gcn"
) -> Model:
    """``softmax(A relu(A X W1 + b1) W2 + b2)`` over a graph.

    Parameters
    ----------
    nodes, features, hidden, classes : int
        ``A`` is nodes x nodes (dcsr), ``X`` nodes x features (dense), ``W1`` features x hidden
        and ``W2`` hidden x classes (dcsr); the biases are dense.
    name : str
        Name of the program.

    Raises
    ------
    ProgramError
        A size below 1.

    Examples
    --------
    >>> model = gcn(nodes=10)
    >>> len(model.kernels), len(model.program.statements), model.program.outputs
    (8, 12, ('Y',))
    """
    program = instantiate(
        "gcn", nodes=nodes, features=features, hidden=hidden, classes=classes, name=name
    )
    return Model(program, KERNELS, PRESETS)
