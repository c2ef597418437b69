"""The storage of the program's tensors: annotations, layouts of ``torch.sparse``, densities."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fuseloom.errors import FuseloomError, ProgramError
from fuseloom.frontends.torch.capture import dense, load_torch
from fuseloom.frontends.torch.values import Feed
from fuseloom.program import Format, Op, Statement, StoredTensor, Tensor, parse
from fuseloom.program.formats import MATRIX_FORMATS, named_format, suggestion

_BLOCKED = re.compile(r"(d?)bs([rc])\s*(\d+)")


def format_of(words: str | Format, shape: tuple[int, ...], label: str) -> Format:
    """The format an annotation asks for: the words of the language, or ``bsr16``, ``dbsr16``.

    Raises
    ------
    ProgramError
        The words mean nothing, or do not fit the tensor.

    Examples
    --------
    >>> from fuseloom.program.formats import format_text
    >>> format_text(format_of("bsr16", (64, 64), "mask"))
    'csr block 16'
    """
    if isinstance(words, Format):
        return words
    if blocked := _BLOCKED.fullmatch(words.strip()):
        words = f"{blocked[1]}cs{blocked[2]} block {blocked[3]}"
    if not shape:
        return Format.dense(0)
    dims = "x".join(map(str, shape))
    names = ",".join(f"i{n}" for n in range(len(shape)))
    try:
        return parse(f"T: {dims} {words}\nR[{names}] = T[{names}]").tensor("T").format
    except FuseloomError as problem:
        raise ProgramError(
            f"format {words!r} of {label} ({dims}): {problem.message}", hint=problem.hint
        ) from None


def compressed(rank: int) -> Format:
    return Format.compressed(rank)


def layout_format(tensor: Any) -> Format | None:
    """The format of a ``torch.sparse`` layout; None for strided tensors.

    Blocks of unequal edges, batches and dense dimensions are stored element by element.
    """
    torch = load_torch()
    rank = tensor.dim()
    if tensor.layout == torch.strided:
        return None
    words = {torch.sparse_csr: "csr", torch.sparse_bsr: "csr",
             torch.sparse_csc: "csc", torch.sparse_bsc: "csc"}  # fmt: skip
    if rank != 2:
        return compressed(rank)
    if tensor.layout == torch.sparse_coo:
        return named_format("coo", rank) if tensor.dense_dim() == 0 else compressed(rank)
    plain = MATRIX_FORMATS[words[tensor.layout]]
    if tensor.layout in (torch.sparse_bsr, torch.sparse_bsc):
        edges = set(tensor.values().shape[1:])
        if len(edges) == 1:
            return plain.in_blocks(edges.pop(), (0, 1))
    return plain


def store(tensor: Tensor, given: Any, keep: bool = False) -> StoredTensor:
    """Data of an input, from a strided or sparse PyTorch tensor or anything numpy takes.

    Raises
    ------
    DataError
        Values that are not finite, ...
    ProgramError
        A mask whose storage would hold elements that it removes.
    """
    torch = load_torch()
    if not isinstance(given, torch.Tensor):
        return StoredTensor.from_dense(tensor, np.asarray(given, dtype=np.float64))
    given = given.detach().cpu()
    if given.layout != torch.strided and not tensor.format.all_dense and given.dense_dim() == 0:
        coo = given.to_sparse_coo().coalesce()
        stored = StoredTensor.from_coo(
            tensor, coo.indices().t().numpy(), coo.values().double().numpy()
        )
        if keep and stored.nnz != coo.values().numel():
            raise _holds_more(tensor.name)
        return stored
    array = dense(torch, given).to(torch.float64).numpy()
    stored = StoredTensor.from_dense(tensor, array.reshape(tensor.shape))
    if keep and not np.array_equal(stored.pattern(), array.reshape(tensor.shape) != 0):
        raise _holds_more(tensor.name)
    return stored


def _holds_more(name: str) -> ProgramError:
    return ProgramError(
        f"the mask {name} is stored with elements that it removes, which would be taken as kept",
        hint="store it compressed (a mask that removes nothing when the module is imported is "
        "dense: import with inputs of which it removes some); blocks must be kept or removed as a "
        "whole",
    )


@dataclass(frozen=True)
class Storage:
    """Chooses formats of inputs.

    Attributes
    ----------
    annotations : mapping
        Label to what the user asked for.
    env : mapping
        What the known nodes hold for the example inputs.
    """

    annotations: Mapping[str, str | Format]
    env: Mapping[str, Any]

    def format(self, feed: Feed) -> Format:
        return self._decided(feed) or Format.dense(len(feed.shape))

    def is_open(self, feed: Feed) -> bool:
        """Return whether an input is dense because neither annotations nor its layout say more."""
        return bool(feed.shape) and self._decided(feed) is None

    def _decided(self, feed: Feed) -> Format | None:
        shape = feed.shape
        for label in (feed.label, feed.name):
            if label in self.annotations:
                return format_of(self.annotations[label], shape, label)
        if feed.relation is not None:
            return feed.relation.format(shape)
        rank = len(shape)
        torch = load_torch()
        given = feed.fetch(self.env)
        for label in feed.origins:
            words = self.annotations.get(label)
            if words is not None and isinstance(words, str):
                try:
                    return format_of(words, shape, label)
                except ProgramError:
                    continue  # made of it, but of another rank
        if not isinstance(given, torch.Tensor) or rank == 0:
            return None
        if feed.keep and given.layout != torch.strided:
            return Format.dense(rank) if given._nnz() == given.numel() else compressed(rank)
        if (fmt := layout_format(given)) is not None:
            return fmt
        if feed.keep:
            return Format.dense(rank) if bool((given != 0).all()) else compressed(rank)
        return None


def check_known(annotations: Iterable[str], known: Iterable[str]) -> None:
    """Refuse an annotation of what the module does not have.

    Raises
    ------
    ProgramError
        Names the closest thing it has.
    """
    names = sorted(set(known))
    for label in annotations:
        if label not in names:
            raise ProgramError(
                f"formats names {label!r}, which is no input, parameter or activation",
                hint=suggestion(label, names),
            )


def spread_blocks(tensors: dict[str, Tensor], statements: Iterable[Statement]) -> dict[str, Tensor]:
    """Block every dimension that some index links to a blocked one.

    The language blocks dimensions that an index runs over together or not at all; an annotation
    names only one of them.
    """
    edges = {t.format.block for t in tensors.values()} - {1}
    if not edges:
        return tensors
    if len(edges) > 1:
        raise ProgramError(
            f"blocks of edges {', '.join(map(str, sorted(edges)))} in one program",
            hint="a program has one block edge",
        )
    blocked = {(t.name, axis) for t in tensors.values() for axis in t.format.blocked}
    groups: list[set[tuple[str, int]]] = []
    for s in statements:
        by_index: dict[str, set[tuple[str, int]]] = {}
        for access in (s.out, *s.operands) if s.op is not Op.RESHAPE else ():
            for axis, x in enumerate(access.indices):
                by_index.setdefault(x, set()).add((access.tensor, axis))
        groups += by_index.values()
    before = -1
    while before != len(blocked):
        before = len(blocked)
        for group in groups:
            if group & blocked:
                blocked |= group
    edge = edges.pop()
    result = {}
    for name, t in tensors.items():
        dims = tuple(axis for axis in range(t.rank) if (name, axis) in blocked)
        for axis in dims:
            if t.shape[axis] % edge:
                raise ProgramError(
                    f"dimension {axis} of {name} has size {t.shape[axis]} and shares an index "
                    f"with one in blocks of {edge}, which do not divide it",
                    hint="choose an edge that divides it, or a format without blocks",
                )
        plain = Format(t.format.levels, t.format.mode_order)
        result[name] = replace(t, format=plain.in_blocks(edge, dims))
    return result
