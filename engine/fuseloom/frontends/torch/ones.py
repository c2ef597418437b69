"""Data of inputs that hold ones at some coordinates, or everywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fuseloom.frontends.torch.capture import load_torch
from fuseloom.program.relations import Relation


def ones_at(coordinates: Any, shape: Sequence[int]) -> Any:
    """A sparse tensor with a one at each column of coordinates."""
    torch = load_torch()
    return elements(coordinates, torch.ones(coordinates.shape[1], dtype=torch.float64), shape)


def elements(coordinates: Any, values: Any, shape: Sequence[int]) -> Any:
    """A sparse tensor of values at coordinates, which must lie inside of it."""
    made = load_torch().sparse_coo_tensor(coordinates, values, tuple(shape), check_invariants=False)
    return made.coalesce()


def ones_where(relation: Relation, shape: tuple[int, ...], env: Mapping[str, Any]) -> Any:
    """A sparse tensor with ones where a relation holds, whatever is known."""
    return ones_at(load_torch().from_numpy(relation.coordinates(shape).T.copy()), shape)


def ones_of(size: int, env: Mapping[str, Any]) -> Any:
    """A vector of ones, whatever is known."""
    return [1.0] * size
