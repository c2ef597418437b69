"""Known indices as sparse tensors of zeros and ones.

An index that follows from inputs and buffers is the selection S[e,n], which has a one where entry e
of the index is n.  Gathering by it is a product with S, adding up by it a product with S
transposed.  Indices of the same entries are one tensor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fuseloom.errors import DataError
from fuseloom.frontends.algebra.selections import check_entries
from fuseloom.frontends.torch.builder import TorchBuilder
from fuseloom.frontends.torch.capture import load_torch
from fuseloom.frontends.torch.ones import ones_at
from fuseloom.frontends.torch.values import Indices, Selection, Value
from fuseloom.wording import counted


def selection(
    b: TorchBuilder,
    env: Mapping[str, Any],
    indices: Indices,
    size: int,
    label: str,
    origins: tuple[str, ...] = (),
) -> Value:
    """S[e,n] of an index; the one that there is already for these entries, if any.

    Raises
    ------
    DataError
        Of other data: entries that do not fit.
    """
    torch = load_torch()

    def checked(env: Mapping[str, Any]) -> Any:
        flat = torch.as_tensor(indices(env)).reshape(-1).to(torch.int64)
        check_entries(flat.numpy(), size, label, -size)
        return flat % size if size else flat

    held = checked(env)
    for name, known in b.selections.items():
        if known.size == size and torch.equal(known.indices(env), held):
            known.same.append(checked)
            made = b.feeds[name]
            return Value(name, (0, 1), made.shape, b.support_of(name))
    count = held.numel()

    def fetch(env: Mapping[str, Any]) -> Any:
        flat = checked(env)
        if flat.numel() != count:
            raise DataError(
                f"index {label} has {counted(flat.numel(), 'entry', 'entries')}, the program was "
                f"made for {count}",
                hint="import the module again with these inputs",
            )
        return ones_at(torch.stack([torch.arange(count), flat]), (count, size))

    value = b.feed(label, (count, size), fetch, origins, keep=True)
    b.selections[value.tensor] = Selection(checked, size, [], origins)
    return value


def selections_of(
    b: TorchBuilder, indices: Indices, shape: Sequence[int], size: int, label: str
) -> Value:
    """S[e,f,...,n] of an index of several dimensions."""
    torch = load_torch()

    def fetch(env: Mapping[str, Any]) -> Any:
        held = torch.as_tensor(indices(env)).to(torch.int64)
        places = torch.ones(tuple(shape), dtype=torch.bool).nonzero().t()
        return ones_at(torch.cat([places, held.reshape(1, -1) % size]), (*shape, size))

    return b.feed(label, (*shape, size), fetch, keep=True)


def fixed(places: Sequence[int]) -> Indices:
    """An index that does not depend on anything."""
    return lambda env: list(places)
