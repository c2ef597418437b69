"""Tensors of a network from files, and the sizes of its indices from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fuseloom.contraction.networks import ELLIPSIS, Extents, operand_indices
from fuseloom.errors import DataError, ProgramError
from fuseloom.frontends.files import CoordinateTensor, read_tensor
from fuseloom.program.levels import shape_text

RANDOM = "random"
ONE = re.compile(r"([A-Za-z_][A-Za-z0-9_']*)=(.+)", re.DOTALL)


@dataclass(frozen=True)
class FromFiles:
    """Operands that were read.

    Attributes
    ----------
    tensors : mapping
        By name.
    random : tuple of str
        Names of those that are to be random.
    notes : tuple of str
        What became of the files, a sentence each.
    """

    tensors: Mapping[str, CoordinateTensor]
    random: tuple[str, ...]
    notes: tuple[str, ...]


def read_operands(given: Iterable[str]) -> FromFiles:
    """Operands of a network, each from a file.

    Parameters
    ----------
    given : iterable of str
        As ``A=path``: Matrix Market, FROSTT, ``.npy``, ``.npz`` of SciPy or of PyData sparse, and
        what :func:`fuseloom.frontends.files.read_tensor` reads besides.  ``A=random`` is told
        apart.

    Raises
    ------
    DataError
        Of what is no such text, a name that is given twice, or a file that breaks a rule of its
        format.

    Examples
    --------
    >>> read_operands(["A=random"]).tensors
    {}
    """
    tensors: dict[str, CoordinateTensor] = {}
    notes: list[str] = []
    random: list[str] = []
    names: set[str] = set()
    for text in given:
        one = ONE.fullmatch(text)
        if one is None:
            raise DataError(
                f"{text[:60]!r} names no operand", hint="write NAME=FILE, e.g. A=tensor.tns"
            )
        name, file = one[1], one[2]
        if name in names:
            raise DataError(f"{name} is given twice", hint="leave one out")
        names.add(name)
        if file == RANDOM:
            random.append(name)
            continue
        read = read_tensor(file)
        tensors[name] = read
        # Kernels keep float64, so nothing is rounded.
        notes += [f"{file}: {note}" for note in read.notes if "rounded to float32" not in note]
    return FromFiles(tensors, tuple(random), tuple(notes))


def sizes_of(
    text: str,
    tensors: Mapping[str, CoordinateTensor],
    extents: Extents,
    names: Sequence[str] | None = None,
) -> dict[str, int | tuple[int, ...]]:
    """Sizes of an einsum string's indices, as its operands have them.

    Parameters
    ----------
    tensors : mapping
        Operands that are known, by name.
    extents : mapping
        Sizes that are given; they may be larger than what the operands have.
    names : sequence of str, optional
        Of the operands; by default letters.

    Raises
    ------
    ProgramError
        Of an operand that the string has not.
    DataError
        Of a tensor of another rank, or sizes that contradict each other.

    Examples
    --------
    >>> import numpy as np
    >>> empty = np.zeros((0, 2), dtype=np.int64), np.zeros(0)
    >>> held = CoordinateTensor(*empty, (4, 5), "a file")
    >>> sizes_of("ij,jk->ik", {"A": held}, {"k": 3})
    {'k': 3, 'i': 4, 'j': 5}
    """
    operands = operand_indices(text, names)
    sizes: dict[str, int | tuple[int, ...]] = dict(extents)
    told: dict[str, str] = {}
    rest: list[tuple[int, ...]] = []
    for name, tensor in tensors.items():
        if name not in operands:
            raise ProgramError(
                f"the network has no operand {name}", hint=f"operands: {', '.join(operands)}"
            )
        indices = operands[name]
        more = len(tensor.shape) - len([x for x in indices if x != ELLIPSIS])
        if more < 0 or (more and ELLIPSIS not in indices):
            raise DataError(
                f"{name} has the indices {','.join(indices)}, and {tensor.origin} a tensor of "
                f"shape {shape_text(tensor.shape)}",
                hint="one index per dimension",
            )
        at = 0
        for index in indices:
            if index == ELLIPSIS:
                rest.append(tuple(tensor.shape[at : at + more]))
                at += more
            else:
                _agree(index, tensor.shape[at], name, tensor.origin, extents, sizes, told)
                at += 1
    if rest and ELLIPSIS not in extents:
        sizes[ELLIPSIS] = _broadcast(rest)
    return sizes


def _agree(
    index: str,
    size: int,
    name: str,
    origin: str,
    extents: Extents,
    sizes: dict[str, int | tuple[int, ...]],
    told: dict[str, str],
) -> None:
    """Note the size of an index in a tensor.

    Raises
    ------
    DataError
        Another one has another size.
    """
    given = extents.get(index)
    if isinstance(given, int):
        if size > given:
            raise DataError(
                f"index {index} is to have {given}, and {origin} has {size}",
                hint=f"give {index}={size} or more",
            )
    else:
        known = sizes.setdefault(index, size)
        if isinstance(known, int) and known != size:
            raise DataError(
                f"index {index} has {known} in {told[index]}, and {size} in {name}",
                hint=f"where the rest is empty, give the extent {index}={max(size, known)}",
            )
    told.setdefault(index, name)


def _broadcast(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The sizes that the dimensions behind an ellipsis have together."""
    longest = max(shapes, key=len)
    if any(longest[len(longest) - len(s) :] != s for s in shapes):
        raise DataError(
            f"the dimensions of ... differ: {', '.join(map(shape_text, shapes))}",
            hint="give the tensors the same sizes there",
        )
    return longest
