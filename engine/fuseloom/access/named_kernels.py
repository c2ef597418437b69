"""Kernels and products as users write them: a name, or an einsum string, and extents."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fuseloom.access import kernels
from fuseloom.access.meaning import shape_of
from fuseloom.access.terms import Term
from fuseloom.errors import ProgramError
from fuseloom.program import Program, parse


@dataclass(frozen=True)
class KernelExtents:
    """The extents of a kernel.

    Attributes
    ----------
    needed : tuple of str
    optional : tuple of str
        Those with defaults.
    example : str
        Extents that fit, as users write them.
    """

    needed: tuple[str, ...]
    optional: tuple[str, ...]
    example: str


_STEPS = "stride", "padding"

KERNELS: Mapping[str, KernelExtents] = {
    "matmul": KernelExtents(("m", "k", "n"), (), "m=32,k=32,n=32"),
    "dense": KernelExtents(("batch", "inputs", "outputs"), (), "batch=8,inputs=64,outputs=32"),
    "batched-matmul": KernelExtents(("batch", "m", "k", "n"), (), "batch=4,m=16,k=16,n=16"),
    "conv2d": KernelExtents(
        tuple("nchwors"), (*_STEPS, "dilation", "groups"), "n=1,c=3,h=32,w=32,o=8,r=3,s=3"
    ),
    "max-pool": KernelExtents(tuple("nchwrs"), _STEPS, "n=1,c=4,h=16,w=16,r=2,s=2,stride=2"),
    "mean-pool": KernelExtents(tuple("nchwrs"), _STEPS, "n=1,c=4,h=16,w=16,r=2,s=2,stride=2"),
}
"""By name."""

_DEFAULTS = {"stride": 1, "padding": 0, "dilation": 1}


def named_kernel(name: str, extents: str) -> Term:
    """The term of a kernel.

    Parameters
    ----------
    name : str
        One of :data:`KERNELS`.
    extents : str
        Such as ``m=32,k=32,n=32``.

    Raises
    ------
    ProgramError
        If there is no such kernel, or its extents do not fit it.

    Examples
    --------
    >>> named_kernel("matmul", "m=4,k=3,n=2").construct
    'compute'
    """
    if name not in KERNELS:
        raise ProgramError(f"{name[:30]!r} is no kernel", hint=f"kernels are {', '.join(KERNELS)}")
    needed, optional = KERNELS[name].needed, KERNELS[name].optional
    found = _extents(extents, name, (*needed, *optional))
    missing = [word for word in needed if word not in found]
    if missing:
        raise ProgramError(
            f"{name} has no {' and no '.join(missing)}", hint=f"give {KERNELS[name].example}"
        )
    if name in ("matmul", "dense", "batched-matmul"):
        term: Term = getattr(kernels, name.replace("-", "_"))(*(found[word] for word in needed))
        return term
    both = {word: (found.get(word, least),) * 2 for word, least in _DEFAULTS.items()}
    layer = kernels.Convolution(
        found["n"], found["c"], found["h"], found["w"], found.get("o", found["c"]),
        (found["r"], found["s"]), groups=found.get("groups", 1), **both,
    )  # fmt: skip
    if name == "conv2d":
        return kernels.conv2d(layer)
    pooled = kernels.pool2d(layer, name.partition("-")[0])
    shape_of(pooled)
    return pooled


def einsum_program(text: str, extents: str) -> Program:
    """A program of one product of dense tensors A and B.

    Parameters
    ----------
    text : str
        An einsum string of two operands, such as ``ij,jk->ik``.
    extents : str
        Of its indices, such as ``i=32,j=32,k=32``.

    Raises
    ------
    ProgramError
        If it is no such string, or an extent is missing.

    Examples
    --------
    >>> einsum_program("ij,jk->ik", "i=2,j=3,k=4").tensor("R").shape
    (2, 4)
    """
    match = re.fullmatch(r"([a-zA-Z]{1,12}),([a-zA-Z]{1,12})->([a-zA-Z]{0,12})", text.strip())
    if match is None:
        raise ProgramError(
            f"{text[:40]!r} is no einsum string of two operands", hint="write e.g. ij,jk->ik"
        )
    letters = "".join(dict.fromkeys(match[1] + match[2]))
    found = _extents(extents, text, letters)
    missing = [x for x in letters if x not in found]
    if missing:
        raise ProgramError(
            f"{text} has no extent of {', '.join(missing)}",
            hint=f"give {','.join(f'{x}=N' for x in letters)}",
        )
    lines = [
        f"{name}: {'x'.join(str(found[x]) for x in word)} dense"
        for name, word in (("A", match[1]), ("B", match[2]))
    ]
    left, right, out = (",".join(word) for word in match.groups())
    return parse("\n".join([*lines, f"R[{out}] = A[{left}] * B[{right}]"]))


def _extents(text: str, kernel: str, known: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        match = re.fullmatch(r"(\w+)\s*=\s*(\d{1,9})", part)
        if match is None:
            raise ProgramError(f"{part[:30]!r} is no extent", hint="write e.g. m=32,k=32,n=32")
        if match[1] not in known:
            raise ProgramError(
                f"{kernel} has no extent {match[1][:30]}", hint=f"it has {', '.join(known)}"
            )
        if found.setdefault(match[1], int(match[2])) != int(match[2]):
            raise ProgramError(f"{match[1]} has two extents", hint="give one")
    return found
