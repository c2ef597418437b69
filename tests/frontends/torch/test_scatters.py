"""Gathering and scattering by known indices, against PyTorch itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import fuseloom as fl
from fuseloom.errors import DataError, FuseloomError
from tests.frontends.torch.support import Module, agrees, imported, normal, sparse

AT = torch.tensor([3, 1, 1, 0, 3])
ONCE = torch.tensor([4, 0, 2])
WIDE = torch.tensor([[0, 1, 2], [3, 3, 0], [1, 0, 2], [2, 2, 2]])
PLACES = torch.tensor([[2, 0, 1], [2, 2, 2]])
GAPS = sparse(5, 3)
FULL = normal(5, 3)
ENDS = torch.tensor([0, 2, 2, 5])
Function = Callable[..., Any]


def reducing(name: str, include_self: bool) -> Function:
    at = AT[:, None].expand(5, 3)
    return lambda x: torch.zeros(4, 3).scatter_reduce(
        0, at, x * 1.5, name, include_self=include_self
    )


CASES: dict[str, Function] = {
    "index_select": lambda x: (x * 2).index_select(1, torch.tensor([2, 0])),
    "index with a matrix": lambda x: (x * 2)[WIDE],
    "index in two dimensions": lambda x: (x * 2)[AT[:3], ONCE[1:].repeat(2)[:3] % 3],
    "index by a mask": lambda x: (x * 2)[torch.tensor([True, False, True, True, False])],
    "gather": lambda x: (x * 2).gather(0, WIDE % 5),
    "gather along the last": lambda x: (x * 2)[:2].gather(1, PLACES),
    "gather rows": lambda x: (x * 2).gather(0, AT[:, None].expand(5, 3)),
    "gather a part": lambda x: (x * 2).gather(0, AT[:, None].expand(5, 2)),
    "scatter_add": lambda x: torch.zeros(4, 3).scatter_add(0, AT[:, None].expand(5, 3), x * 2),
    "scatter_add of each": lambda x: torch.zeros(2, 4).scatter_add(1, PLACES, x[:2] * 2),
    "scatter_add to something": lambda x: (
        (x * 3).scatter_add(0, AT[:, None].expand(5, 3), x.exp())
    ),
    "scatter_add in place": lambda x: x.new_zeros(4, 3).scatter_add_(0, AT[:3, None] + x.new_zeros(
        1, 3
    ).long(), x[:3] * 2),
    "index_add": lambda x: (x * 2).index_add(0, AT[:2], x[:2].exp(), alpha=-0.5),
    "index_add along the last": lambda x: torch.zeros(5, 4).index_add(1, AT[:3], x * 2),
    "index_copy": lambda x: (x * 2).index_copy(0, ONCE, x[:3].exp()),
    "index_put": lambda x: (x * 2).index_put((ONCE,), x[:3].exp()),
    "index_put of a number": lambda x: (x * 2).index_put((ONCE,), torch.tensor(0.5)),
    "index_put in two dimensions": lambda x: (x * 2).index_put(
        (ONCE, torch.tensor([0, 1, 2])), x[:3, 0].exp()
    ),
    "index_put that adds": lambda x: (x * 2).index_put((AT,), x.exp(), accumulate=True),
    "scatter": lambda x: (x * 2).scatter(0, ONCE[:, None].expand(3, 3), x[:3].exp()),
    "products": lambda x: torch.ones(4, 3).scatter_reduce(0, AT[:, None].expand(5, 3), x, "prod"),
    "products of a part": lambda x: (x[:4] * 2).index_reduce(0, AT, x, "prod", include_self=False),
    "products with what is there": lambda x: (x[:4] * 2).index_reduce(0, AT, x, "prod"),
    "products into zeros": lambda x: torch.zeros(4, 3).index_reduce(0, AT, x, "prod"),
    "index_reduce": lambda x: torch.zeros(4, 3).index_reduce(
        0, AT, x * 2, "amax", include_self=False
    ),
    "repeat_interleave": lambda x: (x * 2).repeat_interleave(torch.tensor([1, 0, 2, 1, 1]), dim=0),
    "repeat_interleave, evenly": lambda x: (x * 2).repeat_interleave(2, dim=1),
    "repeat": lambda x: (x * 2).repeat(1, 2, 1),
    "segments": lambda x: torch.segment_reduce(x * 2, "sum", offsets=ENDS, axis=0),
    "means of segments": lambda x: torch.segment_reduce(
        x * 2, "mean", lengths=torch.tensor([2, 0, 3]), axis=0, initial=0
    ),
    **{
        f"scatter_reduce by {name}{' with self' * itself}": reducing(name, bool(itself))
        for name in ("sum", "mean", "amax", "amin")
        for itself in (0, 1)
    },
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("kind", ["full", "gaps"])
def test_agrees(name: str, kind: str) -> None:
    if kind == "full":
        agrees(CASES[name], (FULL,))
    else:
        result = fl.from_torch(Module(CASES[name]), (GAPS,), {"x_0": "dcsr"})
        assert result.check().ok, f"{result.check()}\n{result.program}"


def test_a_maximum_of_nothing() -> None:
    """Segments without rows have minus infinity, which Geometric's softmax turns to 0."""

    def tops(x: Any) -> Any:
        top = torch.segment_reduce(x * 2, "max", offsets=ENDS, axis=0)
        return torch.where(top.isinf(), 0, top)

    agrees(tops, (FULL,))


BY_ROW = torch.tensor([[0], [2], [1]])
TWO = torch.tensor([[0, 2], [1, 1]])
ROWS3 = torch.tensor([[2, 0, 1], [0, 1, 2]])


def put_apart(x: Any) -> Any:
    made = x[..., None] * torch.tensor([1.0, 2.0])
    made[torch.tensor([0, 4]), :, torch.tensor([1, 0])] = x[:2].exp()
    return made


PLACED: dict[str, Function] = {
    "a number, by row": lambda x: (x * 2).scatter(1, BY_ROW, 5.0),
    "a number at one place twice": lambda x: (x * 2).scatter(1, TWO, 5.0),
    "zero, by row": lambda x: (x * 2).scatter(1, BY_ROW, 0.0),
    "a number into zeros": lambda x: torch.zeros(5, 3).scatter(1, BY_ROW, 0.5) * x,
    "values, by row": lambda x: (x * 2).scatter(1, BY_ROW, x.exp()),
    "values, of each": lambda x: (x * 2).scatter(1, ROWS3, x[:2].exp()),
    "values, along the first": lambda x: (x * 2).scatter(0, ROWS3, x[:2].exp()),
    "values into zeros": lambda x: torch.zeros(4, 3).scatter(1, BY_ROW, x.exp()),
    "in place": lambda x: x.new_zeros(5, 3).scatter_(1, BY_ROW, x + 1),
    "a part of rows, added": lambda x: (x * 2).scatter_add(1, TWO, x.exp()),
    "a part, the mean": lambda x: torch.zeros(5, 3).scatter_reduce(1, TWO, x * 2, "mean"),
    "a mean without itself": lambda x: torch.zeros(5, 3).scatter_reduce(
        1, TWO, x * 2, "mean", include_self=False
    ),
    "a part, the largest": lambda x: torch.zeros(5, 3).scatter_reduce(1, TWO, x * 2, "amax"),
    "from the end": lambda x: (x * 2).scatter(1, BY_ROW.clone(), 1.5),
    "a vector": lambda x: (x[:, 0] * 2).scatter(0, torch.tensor([3, 1]), x[0, :2]),
    "a scalar": lambda x: x.sum().scatter(0, torch.tensor(0), 3.0) + x,
    "of nothing": lambda x: (x * 2).scatter(1, torch.zeros(5, 0, dtype=torch.int64), x),
    "index_put by a matrix": lambda x: (x * 2).index_put((TWO, TWO.flip(0)), x[:2, :2].exp()),
    "index_put of a number by matrices": lambda x: (x * 2).index_put(
        (TWO, torch.tensor([0, 1])), torch.tensor(7.0)
    ),
    "index_put of values by a grid": lambda x: (x * 2).index_put(
        (torch.tensor([[0], [3]]), torch.tensor([0, 2])), x[:2, :2].exp()
    ),
    "index_put apart": lambda x: put_apart(x),
    "index_put that adds by a matrix": lambda x: (x * 2).index_put(
        (TWO,), x[:2, None].expand(2, 2, 3), accumulate=True
    ),
    "index_put of a number twice": lambda x: (x * 2).index_put((AT,), torch.tensor(0.25)),
    "a computed number twice": lambda x: (x * 2).index_put((AT,), x.sum()),
    "a computed number by a matrix": lambda x: torch.zeros(5, 3).index_put((TWO, TWO), x.sum()),
    "one row several times": lambda x: (x * 2).index_copy(0, AT, x[:1].exp().expand(5, 3)),
    "index_fill of a computed number": lambda x: (x * 2).index_fill(0, AT, x.sum()),
    "index_fill": lambda x: (x * 2).index_fill(1, torch.tensor([0, 2, 0]), 0.5),
}  # fmt: skip


@pytest.mark.parametrize("name", PLACED)
def test_places_that_differ_by_row(name: str) -> None:
    agrees(PLACED[name], (FULL,), fused="layers")
    made = fl.from_torch(Module(PLACED[name]), (GAPS,), {"x_0": "dcsr"})
    assert made.check().ok, f"{made.check()}\n{made.program}"


def test_places_that_are_an_input() -> None:
    def function(x: Any, at: Any) -> Any:
        return (x * 2).scatter(1, at, x.exp()), x.scatter(1, at, 5.0)

    made = fl.from_torch(Module(function), (FULL, BY_ROW))
    assert made.check().ok
    assert made.bind(FULL + 1, torch.tensor([[2], [2], [0]])).check().ok


REFUSED: dict[str, tuple[Function, str]] = {
    "values at one place twice": (
        lambda x: (x * 2).scatter(1, TWO, x), r"one place twice.*, at "
    ),
    "adding by a computed index": (
        lambda x: torch.zeros(4, 3).index_add(0, (x * 2).argmax(1) * 0, x), "index.*computed"
    ),
    "places written twice": (
        lambda x: (x * 2).index_put((AT,), x.exp()),
        "writes to one place twice",
    ),
    "products by rows": (lambda x: torch.zeros(4, 3).scatter_reduce(
        0, (AT[:, None] + torch.arange(3)) % 4, x * 2, "prod"), "differs along other dimensions"),
    "long products": (lambda x: torch.ones(1, 3).index_reduce(
        0, torch.zeros(70, dtype=torch.int64), x[0].expand(70, 3) * 2, "prod"), "of 70 elements"),
    "an extremum of what is there": (
        lambda x: (x * 2).scatter_reduce(0, AT[:, None].expand(5, 3), x, "amax"),
        "not 0",
    ),
    "a mask beside an index": (lambda x: (x * 2)[FULL[:, 0] > 0, AT[1:2]], "one after the other"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    function, words = REFUSED[name]
    with pytest.raises(FuseloomError, match=words) as caught:
        imported(function, FULL)
    assert caught.value.hint


class Indexed(torch.nn.Module):
    def forward(self, x: Any, at: Any) -> Any:
        return torch.zeros(4, 3).index_add(0, at, x * 2)


class Multiplied(torch.nn.Module):
    def forward(self, x: Any, at: Any) -> Any:
        return torch.ones(4, 3).index_reduce(0, at, x * 2, "prod")


def test_products_by_other_indices() -> None:
    result = fl.from_torch(Multiplied(), (FULL, AT))
    assert result.bind(FULL, torch.tensor([1, 2, 1, 0, 2])).check().ok
    assert result.bind(FULL, torch.tensor([0, 1, 2, 3, 3])).check().ok
    with pytest.raises(DataError, match="has 3 elements for a target"):
        result.bind(FULL, torch.tensor([1, 1, 1, 0, 2]))
    every = fl.from_torch(Multiplied(), (FULL, torch.tensor([0, 1, 2, 3, 3])))
    with pytest.raises(DataError, match="fewer elements for a target"):
        every.bind(FULL, AT)


def test_other_indices() -> None:
    result = fl.from_torch(Indexed(), (FULL, AT))
    other = result.bind(FULL, torch.tensor([0, 0, 2, 2, 2]))
    assert other.check().ok
    with pytest.raises(DataError, match=r"PyTorch itself|outside"):
        result.bind(FULL, torch.tensor([0, 0, 2, 2, 4]))
