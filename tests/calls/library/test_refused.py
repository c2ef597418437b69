"""Calls that cannot be annotated: their reasons are what the checker finds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy  # loads a part when it is first used

from fuseloom.calls.annotated import annotate
from fuseloom.calls.checker import CallProblem, check
from fuseloom.calls.data_kinds import Vector
from fuseloom.calls.library import LIBRARY, REFUSED
from fuseloom.calls.library.elementwise import VECTOR_PART, VECTORS
from fuseloom.calls.library.refused import ALL_BEFORE, ALL_OF_IT, BORDERS, IN_PLACE, RANDOM

RNG = np.random.default_rng(0)
TRIED: dict[str, Callable[[Any], Any]] = {
    "fft": lambda a: np.fft.fft(a).real, "sort": np.sort, "argsort": np.argsort,
    "partition": lambda a: np.partition(a, len(a) // 2), "ranks": lambda a: a.argsort().argsort(),
    "standardised vector": lambda a: (a - a.mean()) / a.std(),
    "distance transform": lambda a: scipy.ndimage.distance_transform_edt(a > -1.0),
    "connected components": lambda a: scipy.ndimage.label(a > 0)[0],
    "cumsum": np.cumsum, "cumprod": np.cumprod, "running maximum": np.maximum.accumulate,
    "recursive filter": lambda a: scipy.signal.lfilter([1.0], [1.0, -0.9], a),
    "gradient": lambda a: np.gradient(a) if len(a) > 1 else a,
    "convolution of the same size": lambda a: np.convolve(a, np.ones(3))[1:-1],
    "correlation with reflected borders": lambda a: scipy.ndimage.correlate1d(a, np.ones(3)),
    "dropout": lambda a: a * (RNG.random(len(a)) < 0.5), "shuffle": RNG.permutation,
    "random normal": lambda a: RNG.normal(size=len(a)),
}  # fmt: skip
"""Refused calls on a vector, as if they went element by element."""
REASONS = {x.name: x.reason for x in REFUSED}


@pytest.mark.parametrize("name", TRIED)
def test_what_is_refused_fails_the_check(name: str) -> None:
    text = VECTORS.replace("INPUTS", f"a {VECTOR_PART}")
    made = annotate(lambda a, out: np.copyto(out, TRIED[name](a)), text, ["a", "out"], name)
    data = {"a": np.random.default_rng(1).normal(size=19), "out": np.zeros(19)}
    report = check(made, {"a": Vector(), "out": Vector()}, data)
    expected = CallProblem.REPEATED if REASONS[name] == RANDOM else CallProblem.RESULT
    assert expected in report.problems
    assert {ALL_OF_IT, ALL_BEFORE, BORDERS, RANDOM} >= {REASONS[name]}


def test_a_call_in_place_fails_the_check() -> None:
    text = VECTORS.replace("INPUTS", f"a {VECTOR_PART}")
    made = annotate(lambda a, out: np.copyto(out, np.clip(a, 0, 1, out=a)), text, ["a", "out"])
    data = {"a": np.random.default_rng(1).normal(size=19), "out": np.zeros(19)}
    assert CallProblem.INPUT in check(made, {"a": Vector(), "out": Vector()}, data).problems
    assert REASONS["in-place clip"] == IN_PLACE


def test_nothing_is_refused_and_there() -> None:
    names = [x.name for x in REFUSED]
    assert len(names) == len(set(names)) > 40
    assert not set(names) & set(LIBRARY)
    assert len(set(REASONS.values())) == 7
