"""A sparse autoencoder with one hidden layer, in five kernels.

Source: the evaluation of the FuseFlow paper (``docs/spec/accounting.md`` §3.2); its decoder has no
activation.  The paper's constants come from a version with a batch of one, which contradicts its
text (``docs/spec/accounting.md`` §1.3); a batch is 32 here.
"""

from __future__ import annotations

from types import MappingProxyType

from fuseloom.models.model import Kernel, Model, instantiate

KERNELS = (
    Kernel("X·We", ("E1",)),
    Kernel("+be", ("E2",)),
    Kernel("relu", ("H",)),
    Kernel("H·Wd", ("D1",)),
    Kernel("+bd", ("O",)),
)

PRESETS = MappingProxyType(
    {"unfused": "", "partial": "fuse E1..H; fuse D1..O", "full": "fuse E1..O"}
)
"""Five kernels, encoder and decoder, and one region (paper, Fig. 12)."""


def autoencoder(
    batch: int = 32, inputs: int = 64, hidden: int = 16, name: str = "autoencoder"
) -> Model:
    """``relu(X We + be) Wd + bd``, everything but the biases compressed.

    Parameters
    ----------
    batch, inputs, hidden : int
        ``X`` is batch x inputs, ``We`` inputs x hidden, ``Wd`` hidden x inputs (all dcsr).
    name : str
        Name of the program.

    Raises
    ------
    ProgramError
        A size below 1.
    """
    program = instantiate("autoencoder", batch=batch, inputs=inputs, hidden=hidden, name=name)
    return Model(program, KERNELS, PRESETS)
