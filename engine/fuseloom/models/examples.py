"""Small programs for teaching and for tests."""

from __future__ import annotations

from types import MappingProxyType

from fuseloom.models.model import Kernel, Model, instantiate
from fuseloom.program import Program


def spmv(rows: int = 8, columns: int = 8, name: str = "spmv") -> Model:
    """Sparse matrix times dense vector, ``y[i] = A[i,j] * x[j]``."""
    program = instantiate("spmv", rows=rows, columns=columns, name=name)
    return Model(program, (Kernel("A·x", ("y",)),))


def spmm(rows: int = 8, inner: int = 8, columns: int = 4, name: str = "spmm") -> Model:
    """Sparse matrix times dense matrix, ``T[i,j] = A[i,k] * X[k,j]``."""
    program = instantiate("spmm", rows=rows, inner=inner, columns=columns, name=name)
    return Model(program, (Kernel("A·X", ("T",)),))


def attention(tokens: int = 8, features: int = 4, name: str = "attention") -> Model:
    """One head of attention whose softmax runs over the elements of a sparse mask ``M``."""
    program = instantiate(
        "attention", tokens=tokens, features=features, scale=max(features, 1) ** -0.5, name=name
    )
    return _attending(program, "C")


def heads(tokens: int = 16, heads: int = 2, features: int = 4, name: str = "heads") -> Model:
    """Attention of several heads under one mask ``M``: the second part of a decoder by itself.

    Parameters
    ----------
    tokens, heads, features : int
        Length of the sequence, number of heads, and width of each: queries, keys and values are
        tokens x heads x features, stored by heads; the mask is tokens x tokens.
    """
    program = instantiate(
        "heads", tokens=tokens, heads=heads, features=features, scale=max(features, 1) ** -0.5,
        name=name,
    )  # fmt: skip
    return _attending(program, "Z")


def _attending(program: Program, scaled: str) -> Model:
    """The kernels and presets of masked attention; ``scaled`` are the scores that softmax takes."""
    kernels = (
        Kernel("Q·Kᵀ", ("S",)),
        Kernel("mask", ("P",)),
        Kernel("scale", (scaled,)),
        Kernel("softmax", ("x", "d", "e", "s", "R")),
        Kernel("·V", ("O",)),
    )
    presets = MappingProxyType(
        {
            "unfused": "fuse x..R",
            "partial": f"fuse S..{scaled}; fuse x..R",
            "full": "fuse S..O",
        }
    )
    return Model(program, kernels, presets, masks=frozenset({"M"}))
