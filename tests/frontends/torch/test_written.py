"""Writes to views, of memory that holds something and of memory that holds nothing yet."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch

import fuseloom as fl
from fuseloom.errors import FuseloomError, ProgramError
from fuseloom.frontends.torch import tracing
from tests.frontends.torch.support import Module, agrees, imported, normal
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


@counts(small=12, deep=len(PAIRS))
def test_every_write_to_every_view(count: int, traced: str) -> None:
    step = len(PAIRS) // count
    wrong = []
    for n, (view, write) in enumerate(PAIRS[::step][:count]):
        try:
            if not right(written(view, write, n % 3)):
                wrong.append(f"{view}, {write}, {n % 3}: another value")
        except FuseloomError as problem:
            wrong.append(f"{view}, {write}, {n % 3}: {problem}")
    assert not wrong, "\n".join(wrong)


def test_a_write_to_windows_leaves_what_is_between_them() -> None:
    assert right(written("windows", "add_", 0))


def all_written(x: Any) -> Any:
    made = torch.empty(4, 6)
    made.t()[:3].copy_(x.t()[:3].exp())
    made[:, 3:].diagonal().fill_(1.0)
    made[:, 3:] = x[:, 3:]
    return made * 2


def partly_read(x: Any) -> Any:
    made = x.new_empty(4, 6)
    made[:, :2] = x[:, :2]
    return made[:, 1] + made.t()[0]


def known_at_first(x: Any) -> Any:
    made = torch.empty(3, 6)
    made[1] = 1
    made[::2].fill_(2.0)
    made[1].mul_(3)
    return made @ x.t()


def by_a_mask(x: Any) -> Any:
    made = torch.empty_like(x)
    low = torch.arange(4)[:, None].expand(4, 6) > 1
    made[low] = 0.5
    return torch.where(low, made, x)


def moved(x: Any) -> Any:
    made = torch.empty_strided((4, 2), (2, 1))
    made[:2], made[2:] = 1, x[2:, :2]
    return torch.cat([made, x[:, 2:]], 1).flip(0).reshape(2, 12)


def sizes_only(x: Any) -> Any:
    return x + torch.zeros_like(torch.empty(4, 6)) + torch.empty(4, 6).shape[0]


@pytest.mark.parametrize(
    "function", [all_written, partly_read, known_at_first, by_a_mask, moved, sizes_only]
)
def test_new_memory_that_is_written_before_it_is_read(
    function: Callable[[Any], Any], traced: str
) -> None:
    assert right(function)


UNWRITTEN: dict[str, Callable[[Any], Any]] = {
    "returned": lambda x: torch.empty(4, 6),
    "added": lambda x: x + torch.empty(4, 6),
    "like": lambda x: x + torch.empty_like(x),
    "half": lambda x: torch.empty(4, 6).index_fill(0, torch.tensor([0, 2]), 1.0) * x,
    "a view of it": lambda x: torch.empty(6, 4).t()[1:3] @ x.t(),
    "written later": lambda x: (lambda t: (t * x, t.fill_(1.0))[0])(torch.empty(4, 6)),
    "in place": lambda x: torch.empty(4, 6).add_(x),
    "integers": lambda x: x[torch.empty(2, dtype=torch.int64)],
    "joined": lambda x: torch.cat([x, torch.empty(1, 6)]),
}


@pytest.mark.parametrize("name", UNWRITTEN)
def test_memory_that_nothing_was_written_to_is_refused(name: str, traced: str) -> None:
    with pytest.raises(ProgramError, match="nothing was written to, at") as caught:
        imported(UNWRITTEN[name], X)
    assert "torch.zeros" in caught.value.hint


def test_a_power_of_each() -> None:
    agrees(torch.vander, (normal(3),), fused="layers")
    agrees(lambda x: torch.vander(x.relu(), 5, increasing=True), (normal(4),), fused="layers")


@pytest.mark.parametrize("dim", [0, 1])
def test_a_running_product(dim: int) -> None:
    agrees(lambda x: x.cumprod(dim), (normal(5, 3),), fused="layers")
    agrees(lambda x: x.relu().cumprod(dim), (normal(2, 7),), fused="layers")


def test_what_a_module_is_given_stays(traced: str) -> None:
    def sparse(x: Any) -> Any:
        adjacency = x.relu().to_sparse()
        adjacency._values().mul_(2)
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


MASK = torch.tensor([[True, False, True], [False, False, True]])
MASKED: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "elements": (lambda x, m, v: x.masked_scatter(m, v) * 2, (normal(2, 3), MASK, normal(3))),
    "more than enough": (
        lambda x, m, v: x.relu().masked_scatter(m, v.exp()), (normal(2, 3), MASK, normal(2, 4))
    ),
    "rows": (
        lambda x, m, v: x.masked_scatter(m.unsqueeze(-1), v) * 2,
        (torch.zeros(2, 3, 4), MASK, normal(3, 4)),
    ),
    "expanded": (
        lambda x, m, v: x.masked_scatter(m[..., None].expand_as(x), v.relu()),
        (normal(2, 3, 4), MASK, normal(3, 4)),
    ),
    "in place": (
        lambda x, m, v: (x * 1).masked_scatter_(m[0], v), (normal(2, 3), MASK, normal(5))
    ),
    "of nothing": (lambda x, m, v: x.masked_scatter(m & ~m, v), (normal(2, 3), MASK, normal(5))),
}  # fmt: skip


@pytest.mark.parametrize("name", MASKED)
def test_masked_scatter_by_a_known_mask(name: str) -> None:
    function, given = MASKED[name]
    agrees(function, given, fused="layers")
    made = imported(function, *given)
    assert made.bind(given[0] + 1, given[1].flip(1), given[2] * 2).check().ok
    other = given[1].clone()
    other[0, 1] = True
    if name != "of nothing":
        with pytest.raises(FuseloomError, match=r"import the module again|PyTorch itself"):
            made.bind(given[0], other, given[2])


def test_masked_scatter_by_a_computed_mask_is_refused() -> None:
    with pytest.raises(ProgramError, match="computed") as caught:
        imported(lambda x: (x * 2).masked_scatter(x * 2 > 0, x), X)
    assert caught.value.hint
