"""Writes to views of a tensor: the whole, and every other view of it, hold them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest
import torch

import fuseloom as fl
from fuseloom.errors import FuseloomError
from fuseloom.frontends.torch import tracing
from fuseloom.frontends.torch.aliases import part_of, value_form
from tests.frontends.torch.support import Module, imported, normal
from tests.tiers import counts

X, OTHER = normal(4, 6), normal(4, 6, seed=3)

VIEWS: dict[str, Callable[[Any], Any]] = {
    "slice": lambda t: t[1:3],
    "steps": lambda t: t[:, 1::2],
    "both": lambda t: t[1:, :4],
    "select": lambda t: t[-1],
    "column": lambda t: t.select(1, 2),
    "transpose": lambda t: t.transpose(0, 1),
    "turned slice": lambda t: t.t()[2:4],
    "permute": lambda t: t.view(2, 2, 6).permute(2, 0, 1)[1],
    "view": lambda t: t.view(2, 12)[1],
    "flat": lambda t: t.view(-1)[5:9],
    "diagonal": lambda t: t.diagonal(),
    "other diagonal": lambda t: t.diagonal(1),
    "diagonal of a slice": lambda t: t[1:].diagonal(-1),
    "narrow": lambda t: t.narrow(1, 2, 3),
    "unsqueeze": lambda t: t.unsqueeze(1)[:, 0, 3],
    "squeeze": lambda t: t[:1].squeeze(0),
    "split": lambda t: t.split([1, 3])[1],
    "chunk": lambda t: t.chunk(3, 1)[1],
    "tensor_split": lambda t: t.tensor_split([1, 4], dim=1)[1],
    "unbind": lambda t: t.unbind(1)[3],
    "unflatten": lambda t: t.unflatten(1, (2, 3))[:, 1],
    "strides": lambda t: t.as_strided((3, 2), (7, 3), 1),
    "windows": lambda t: t.unfold(1, 2, 3)[:, 1],
    "detach": lambda t: t.detach()[1],
    "no growth": lambda t: t[:2].expand(2, 6),
    "deep": lambda t: t[1:].t()[1:5].unflatten(0, (2, 2))[1, :, ::2],
}

WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "fill_": lambda v, x: v.fill_(0.5),
    "fill_ by a value": lambda v, x: v.fill_(x.sum()),
    "zero_": lambda v, x: v.zero_(),
    "copy_": lambda v, x: v.copy_(x.reshape(-1)[: v.numel()].reshape(v.shape).exp()),
    "copy_ of a row": lambda v, x: v.copy_(x.sum() * torch.ones(v.shape[-1])),
    "add_": lambda v, x: v.add_(x[0, 0], alpha=2),
    "mul_": lambda v, x: v.mul_(3),
    "assigned": lambda v, x: v.__setitem__(slice(None), x[1, 1]),
    "place": lambda v, x: v.__setitem__((0,) * v.dim(), x[1, 1]),
    "indexed": lambda v, x: v.__setitem__(torch.tensor([0, -1]), x[2, 0]),
    "indexed by a mask": lambda v, x: v.__setitem__(v > 0, 7.0),
    "masked": lambda v, x: v.masked_fill_(torch.arange(v.shape[-1]) > 0, 2.0),
    "out": lambda v, x: torch.add(v, x[0, 1], out=v),
    "index_fill_": lambda v, x: v.index_fill_(0, torch.tensor([1]), 4.0),
    "index_add_": lambda v, x: v.index_add_(0, torch.tensor([0]), v[:1] * x[0, 0]),
    "relu_": lambda v, x: v.relu_(),
}


@pytest.fixture(params=["exported", "recorded"])
def traced(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "recorded":
        monkeypatch.setattr(tracing, "export_suffices", lambda exported: False)
    return str(request.param)


def written(view: str, write: str, start: int) -> Callable[[Any], Any]:
    """A function that writes to a view; it reads an older view, the view and the whole."""

    def function(x: Any) -> Any:
        whole = (x * 2, torch.zeros(4, 6), torch.arange(24.0).reshape(4, 6))[start]
        before = whole[1:, 2]
        part = VIEWS[view](whole)
        WRITES[write](part, x)
        return whole * 1.0, part.sum() + x[0, 0], before + x[0, 0]

    return function


def right(function: Callable[[Any], Any]) -> bool:
    """For these inputs, and for others."""
    made = fl.from_torch(Module(function), (X,))
    return made.check().ok and made.bind(OTHER).check().ok


PAIRS = list(itertools.product(VIEWS, WRITES))


@counts(small=12, deep=16, fuzz=64)
def test_every_write_to_every_view(count: int, traced: str) -> None:
    wrong = []
    for n, (view, write) in enumerate(random.Random(count).sample(PAIRS, count)):
        try:
            if not right(written(view, write, n % 3)):
                wrong.append(f"{view}, {write}, {n % 3}: another value")
        except FuseloomError as problem:
            wrong.append(f"{view}, {write}, {n % 3}: {problem}")
    assert not wrong, "\n".join(wrong)


def test_a_write_to_windows_leaves_what_is_between_them() -> None:
    assert right(written("windows", "add_", 0))


def test_what_a_module_is_given_stays(traced: str) -> None:
    def sparse(x: Any) -> Any:
        adjacency = x.relu().to_sparse()
        adjacency.values().mul_(2)
        return adjacency.to_dense()

    with pytest.raises(FuseloomError):
        imported(sparse, X)


def test_a_write_to_elements_that_overlap_is_refused() -> None:
    def overlapping(x: Any) -> Any:
        whole = x * 2
        whole.view(-1).unfold(0, 3, 2).copy_(x[0, 0] * torch.ones(11, 3))
        return whole

    with pytest.raises(FuseloomError) as caught:
        imported(overlapping, X)
    assert caught.value.hint


def changed_by(whole: Any, view: Any, new: Any) -> Any:
    """The whole with other values in a view, as values."""
    part = part_of(whole, view)
    assert part is not None
    if part.back is not None:
        target, rest = part.back
        return target(new, *rest)
    if part.scatter is not None:
        target, rest = part.scatter
        return target(whole, new, *rest)
    flat = whole.reshape(-1).index_put([part.places], new.reshape(-1))
    return flat.reshape(whole.shape)


@pytest.mark.parametrize("first", [*VIEWS, "none"])
def test_the_part_that_a_view_is(first: str) -> None:
    """Also of a tensor that is a view, or lies turned."""
    for turned in (False, True):
        whole = torch.arange(24.0).reshape(6, 4).t() if turned else torch.arange(24.0).reshape(4, 6)
        if turned and first in ("permute", "view", "flat", "strides"):
            continue  # PyTorch has no such view
        view = whole if first == "none" else VIEWS[first](whole)
        new = torch.arange(100.0, 100.0 + view.numel()).reshape(view.shape)
        got = changed_by(whole, view, new)
        view.copy_(new)
        assert torch.equal(got, whole), (first, turned)


def test_elements_that_overlap_are_no_part() -> None:
    whole = torch.zeros(6)
    assert part_of(whole, whole.unfold(0, 3, 2)) is None
    assert part_of(whole, whole.view(torch.int32)) is None
    assert part_of(whole[1:3], whole[2:4]) is None


def test_what_an_operation_writes_has_an_operation_of_its_own() -> None:
    aten = torch.ops.aten
    assert value_form(aten.add_.Tensor) is aten.add.Tensor
    assert value_form(aten.add.out) is aten.add.Tensor
    assert value_form(aten.__iand__.Scalar) is aten.__and__.Scalar
    assert value_form(aten.zero_.default) is aten.zero.default
    assert value_form(aten.fill_diagonal_.default) is None


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x * 1).unsqueeze_(0).transpose_(1, 2).mul_(2).squeeze_(0) + 0,
        lambda x: torch.max(x * 2, 1, out=(torch.zeros(4), torch.zeros(4, dtype=torch.int64)))[0],
        lambda x: (x * 2).double().add_(x).float().floor_().gt_(0) * 1.0,
    ],
)
def test_other_ways_to_write(function: Callable[[Any], Any], traced: str) -> None:
    assert right(function)


def test_a_write_that_no_operation_gives_is_refused_where_it_is_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tracing, "export_suffices", lambda exported: False)
    with pytest.raises(FuseloomError, match="no operation gives what it writes, at") as caught:
        imported(lambda x: (x * 2).fill_diagonal_(1.0), X)
    assert caught.value.hint
