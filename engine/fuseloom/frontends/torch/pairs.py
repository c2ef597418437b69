"""A list of edges as the matrix that it is: inputs over pairs of nodes.

Edges from column to row nodes are the elements of a matrix.  What a tensor holds for an edge is
then held at ``[i,j]``, and nothing where there is no edge.  Where some edges join the same nodes,
they get a dimension of their own: ``[i,j,d]`` is the d-th edge from j to i.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fuseloom.errors import DataError
from fuseloom.frontends.torch.builder import TorchBuilder
from fuseloom.frontends.torch.capture import load_torch
from fuseloom.frontends.torch.ones import elements, ones_at
from fuseloom.frontends.torch.values import Feed, Selection
from fuseloom.wording import counted


@dataclass(frozen=True)
class Pairs:
    """The positions of a list's edges.

    Attributes
    ----------
    rows, columns : str
        The selections that name the nodes of an edge.
    shape : tuple of int
        Rows, columns and, if edges occur more than once, how often at most.
    edges : int
        How many there are.
    """

    rows: str
    columns: str
    shape: tuple[int, ...]
    edges: int
    ends: tuple[Selection, Selection]

    @property
    def label(self) -> str:
        """The name of the edges' origin, if it is unique."""
        origins = {o for end in self.ends for o in end.origins}
        return origins.pop() if len(origins) == 1 else "graph"

    def places(self, env: Mapping[str, Any]) -> Any:
        """Coordinates of every edge, one column each.

        Raises
        ------
        DataError
            More edges between two nodes than the program was made for.
        """
        torch = load_torch()
        row, column = (end.indices(env) for end in self.ends)
        number = _occurrences(row * self.shape[1] + column)
        most = int(number.max()) + 1 if number.numel() else 1
        if most > (self.shape[2] if len(self.shape) > 2 else 1):
            raise DataError(
                f"{counted(most, 'edge')} of {self.label} join the same two nodes, more than in "
                "the inputs "
                "that the program was made for",
                hint="import the module again with these inputs, or coalesce the edges",
            )
        return torch.stack([row, column, number][: len(self.shape)])


def _occurrences(keys: Any) -> Any:
    """Count the equal keys before each key."""
    torch = load_torch()
    order = torch.argsort(keys, stable=True)
    sorted_keys = keys[order]
    first = torch.ones_like(sorted_keys, dtype=torch.bool)
    first[1:] = sorted_keys[1:] != sorted_keys[:-1]
    starts = first.nonzero().reshape(-1)
    group = first.cumsum(0) - 1
    result = torch.empty_like(keys)
    result[order] = torch.arange(keys.numel()) - starts[group]
    return result


def pairs_of(b: TorchBuilder, env: Mapping[str, Any], rows: str, columns: str) -> Pairs:
    """The pairs that two selections make, of the example inputs."""
    ends = (b.selections[rows], b.selections[columns])
    row, column = (end.indices(env) for end in ends)
    number = _occurrences(row * ends[1].size + column)
    most = int(number.max()) + 1 if number.numel() else 1
    shape = (ends[0].size, ends[1].size, *([most] if most > 1 else []))
    return Pairs(rows, columns, shape, row.numel(), ends)


def pattern(b: TorchBuilder, pairs: Pairs) -> str:
    """An input with a one for each edge."""
    origins = tuple(dict.fromkeys(o for end in pairs.ends for o in end.origins))
    value = b.feed(
        f"{pairs.label}_adjacency",
        pairs.shape,
        lambda env: ones_at(pairs.places(env), pairs.shape),
        origins,
        keep=True,
    )
    return value.tensor


def spread_feed(feed: Feed, axis: int, pairs: Pairs, full: bool) -> Feed:
    """Return an input that holds values per edge, along an axis, as one per pair.

    Parameters
    ----------
    full : bool
        Zeros in it are elements like others.
    """
    torch = load_torch()
    shape = (*feed.shape[:axis], *pairs.shape, *feed.shape[axis + 1 :])

    def fetch(env: Mapping[str, Any]) -> Any:
        held = torch.as_tensor(feed.fetch(env))
        held = held if held.shape == feed.shape else held.to_dense().reshape(feed.shape)
        if held.layout != torch.strided:
            held = held.to_sparse_coo().coalesce()
            coordinates, values = held.indices(), held.values()
        else:
            present = torch.ones_like(held, dtype=torch.bool) if full else held != 0
            coordinates, values = present.nonzero().t(), held[present]
        places = pairs.places(env)[:, coordinates[axis]]
        coordinates = torch.cat([coordinates[:axis], places, coordinates[axis + 1 :]])
        return elements(coordinates, values.double(), shape)

    return replace(feed, shape=shape, fetch=fetch, keep=True, relation=None)


def adjacency(
    b: TorchBuilder, factors: Sequence[str], pairs: Pairs, scale: float, keeps_number: bool
) -> str:
    """An input with the product of what others hold per edge.

    Edges that join the same nodes are added up, unless the dimension that tells them apart is kept.
    """
    torch = load_torch()
    given = [b.feeds[name] for name in factors]
    shape = pairs.shape if keeps_number else pairs.shape[:2]

    def fetch(env: Mapping[str, Any]) -> Any:
        places = pairs.places(env)
        values = torch.full((places.shape[1],), scale, dtype=torch.float64)
        for feed in given:
            values = values * _looked_up(feed.fetch(env).coalesce(), places, pairs.shape)
        return elements(places[: len(shape)], values, shape)

    origins = tuple(dict.fromkeys(o for feed in given for o in feed.origins))
    value = b.feed(f"{pairs.label}_weights", shape, fetch, origins, keep=True)
    return value.tensor


def _looked_up(held: Any, places: Any, shape: Sequence[int]) -> Any:
    """Elements of a sparse tensor at coordinates; 0 where it has none."""
    torch = load_torch()

    def flat(coordinates: Any) -> Any:
        key = coordinates[0]
        for row, size in zip(coordinates[1:], shape[1:], strict=True):
            key = key * size + row
        return key

    keys, wanted = flat(held.indices()), flat(places)
    if not keys.numel():
        return torch.zeros(wanted.numel(), dtype=torch.float64)
    at = torch.searchsorted(keys, wanted).clamp(max=keys.numel() - 1)
    found = keys[at] == wanted
    return torch.where(found, held.values().double()[at], 0.0)
