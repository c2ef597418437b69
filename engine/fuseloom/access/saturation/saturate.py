"""Equality saturation: rules applied to a term and all that comes of it, within limits."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from fuseloom.access.meaning import shapes_of
from fuseloom.access.rules.rule import Rule
from fuseloom.access.saturation.classes import EquivalenceClasses
from fuseloom.access.saturation.egraph import EGraph, StepReport
from fuseloom.access.terms import Term
from fuseloom.errors import LimitError, ProgramError


class Stopped(Enum):
    """Why a saturation ended."""

    SATURATED = "saturated"
    ITERATIONS = "iterations"
    NODES = "nodes"
    SECONDS = "seconds"


@dataclass(frozen=True)
class SaturationLimits:
    """What a saturation may use.

    Attributes
    ----------
    iterations : int
    nodes : int
    seconds : float
    """

    iterations: int = 60
    nodes: int = 200_000
    seconds: float = 60.0

    def verify(self) -> None:
        """Refuse limits that allow nothing.

        Raises
        ------
        ProgramError
            If one is not positive.

        Examples
        --------
        >>> SaturationLimits().verify()
        """
        for name in ("iterations", "nodes", "seconds"):
            if not getattr(self, name) > 0:
                raise ProgramError(f"the limit of {name} is {getattr(self, name)}; it is positive")


@dataclass(frozen=True)
class Saturation:
    """What rules made of a term.

    Attributes
    ----------
    term : Term
        What was given.
    rules : tuple of Rule
    parameters : mapping
        Of the hardware: ``rows`` and ``columns``.
    steps : tuple of StepReport
        Each iteration.
    stopped : Stopped
        Why it ended; unless saturated, other terms may be equal, too.
    classes : EquivalenceClasses
    seconds : float
    """

    term: Term
    rules: tuple[Rule, ...]
    parameters: Mapping[str, int]
    steps: tuple[StepReport, ...]
    stopped: Stopped
    classes: EquivalenceClasses
    seconds: float

    @property
    def hits(self) -> Counter[str]:
        """Per rule, how often it applied; 0 for a rule that never did."""
        total = Counter({rule.name: 0 for rule in self.rules})
        for step in self.steps:
            total.update(step.hits)
        return total


def saturate(
    term: Term,
    rules: Sequence[Rule],
    parameters: Mapping[str, int],
    limits: SaturationLimits | None = None,
    progress: Callable[[StepReport], None] = lambda _: None,
) -> Saturation:
    """Apply rules until nothing new comes of them, or a limit is reached.

    Parameters
    ----------
    parameters : mapping
        Of the hardware: ``rows`` and ``columns``.
    progress : callable
        Given each iteration's report; what it raises ends the saturation.

    Raises
    ------
    ShapeError
        If the term has no shape.
    ProgramError
        If a limit is not positive, or egglog is not installed.

    Examples
    --------
    >>> from fuseloom.access.kernels import matmul
    >>> from fuseloom.access.rules.sets import rule_set
    >>> made = saturate(matmul(32, 32, 32), rule_set("boxes"), {"rows": 16, "columns": 16})
    >>> made.stopped.value, made.hits["systolic-array"]
    ('saturated', 4)
    """
    limits = limits or SaturationLimits()
    limits.verify()
    shapes_of(term)
    began = time.perf_counter()
    graph = EGraph(term, rules, parameters, nodes=limits.nodes, seconds=limits.seconds)
    steps: list[StepReport] = []
    stopped = Stopped.ITERATIONS
    while len(steps) < limits.iterations:
        try:
            steps.append(graph.step())
        except LimitError:
            stopped = Stopped.SECONDS
            break
        progress(steps[-1])
        if graph.allowance.exhausted:
            stopped = Stopped(graph.allowance.exhausted)
            break
        if not steps[-1].changed:
            stopped = Stopped.SATURATED
            break
    return Saturation(
        term, tuple(rules), dict(parameters), tuple(steps), stopped, graph.classes(),
        time.perf_counter() - began,
    )  # fmt: skip
