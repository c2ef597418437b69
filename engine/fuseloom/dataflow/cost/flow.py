"""The expected contents of a stream, and the input and result of an estimation rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fuseloom.dataflow.cost.statistics import Floats, Statistics


@dataclass(frozen=True)
class NestingLevel:
    """A level of nesting: elements expected in it, and the level outside.

    Attributes
    ----------
    values : float
        Elements (value tokens) expected.
    """

    values: float
    above: NestingLevel | None = None

    @property
    def fibers(self) -> float:
        """Fibers the elements are spread over: one per element of the level outside."""
        return self.above.values if self.above is not None else 1.0


@dataclass(frozen=True, eq=False)
class References:
    """The targets of a reference stream: the positions of a level, and how often each occurs."""

    statistics: Statistics
    level: int
    weights: Callable[[], Floats]

    @cached_property
    def counts(self) -> Floats:
        return self.weights()


@dataclass(frozen=True, eq=False)
class Flow:
    """The expected contents of a stream.

    Attributes
    ----------
    shape : NestingLevel or None
        Nesting; None for a scalar (depth 0).
    counts : array or None
        How often each coordinate is expected, for a coordinate stream.
    present : float
        Share of the elements that are not the empty token.
    source : int
        The stream this one is a copy of; equal sources carry equal tokens.
    within : int or None
        The source of a stream that has all its coordinates.
    """

    shape: NestingLevel | None
    source: int
    counts: Floats | None = None
    references: References | None = None
    present: float = 1.0
    within: int | None = None

    @property
    def values(self) -> float:
        return self.shape.values if self.shape is not None else 1.0

    @property
    def tokens(self) -> float:
        """Value tokens, stops and the final token."""
        return self.values + (self.shape.fibers if self.shape is not None else 0.0) + 1.0

    def chance(self) -> Floats:
        """Probability that a fiber has each coordinate."""
        assert self.counts is not None and self.shape is not None
        return np.clip(self.counts / max(self.shape.fibers, 1e-12), 0.0, 1.0)


@dataclass(frozen=True)
class FlowContext:
    """The context of rules: statistics of tensors by view key, and stream ids of outputs.

    Attributes
    ----------
    nonzero : callable
        The share of the elements of a result that are not zero.
    """

    statistics: Callable[[str], Statistics]
    outputs: tuple[int, ...]
    nonzero: Callable[[str], float]


@dataclass(frozen=True)
class NodeFlows:
    """Flows of a node's outputs in port order, and the cycles it is busy."""

    flows: tuple[Flow, ...]
    busy: float
