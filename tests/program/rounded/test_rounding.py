"""Bounds hold for float32 itself, and are not much wider than they must be."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.program.functions import FUNCTIONS, Op
from fuseloom.program.rounded.rounding import (
    LARGEST,
    UNIT,
    Errors,
    Rounding,
    function,
    reciprocal,
    settled,
)


def arguments(op: Op) -> np.ndarray:
    rng = np.random.default_rng(3)
    x = rng.normal(size=2000) * 10.0 ** rng.integers(-6, 2, size=2000)
    return np.abs(x) + 1e-6 if op in (Op.LOG, Op.LOG1P, Op.RSQRT, Op.SQRT) else x


@pytest.mark.parametrize("op", FUNCTIONS)
@pytest.mark.parametrize("share", [1e-7, 1e-4, 1e-2, 0.3, 0.9])
def test_a_wrong_argument_stays_inside_the_bound(op: Op, share: float) -> None:
    x = arguments(op)
    bounds = share * np.abs(x)
    values, allowed = function(op, x, bounds, Rounding())
    assert allowed is not None
    with np.errstate(all="ignore"):
        for wrong in (x + bounds, x - bounds, x + 0.5 * bounds):
            got = function(op, wrong, None, Rounding())[0]
            off = np.abs(got - values)
            inside = off <= allowed * (1 + 1e-6) + 1e-12 * (1 + np.abs(x))
            assert inside.all(), op


@pytest.mark.parametrize("op", FUNCTIONS)
def test_float32_stays_inside_the_bound(op: Op) -> None:
    x = arguments(op).astype(np.float32).astype(np.float64)
    values, allowed = function(op, x, None, Rounding())
    allowed = np.zeros_like(values) if allowed is None else allowed
    assert (np.abs(values.astype(np.float32) - values) <= allowed + 0.0).all()
    assert (allowed <= 5 * UNIT * np.maximum(np.abs(values), np.abs(x)) + 1e-37).all()


@pytest.mark.parametrize("op", [Op.LOG, Op.RSQRT])
def test_at_a_pole_an_error_decides_everything(op: Op) -> None:
    x, bounds = np.array([0.0, 1e-9, 1.0, 0.0]), np.array([1e-9, 2e-9, 1e-9, 0.0])
    with np.errstate(all="ignore"):
        values, allowed = function(op, x, bounds, Rounding())
    assert allowed is not None
    assert np.isinf(allowed[0])
    assert allowed[1] >= np.abs(values[1]) / 100  # no digit is certain
    assert allowed[2] < 1e-6
    assert not np.isfinite(values[3])
    assert allowed[3] == 0  # infinite for certain


def test_what_overflows_for_certain_is_infinite_and_what_may_is_anything() -> None:
    values = np.array([1e39, -1e39, LARGEST * (1 + 1e-9), 1.0])
    made, bounds = settled(values, None, UNIT * np.abs(values), Rounding())
    assert bounds is not None
    assert made[0] == np.inf
    assert bounds[0] == 0
    assert made[1] == -np.inf
    assert bounds[1] == 0
    assert np.isinf(bounds[2])
    assert made[3] == 1
    assert bounds[3] == UNIT


def test_an_infinite_sum_of_certain_operands_is_certain() -> None:
    with np.errstate(invalid="ignore"):
        made, bounds = settled(
            np.array([np.inf]), np.array([np.nan]), np.array([np.inf]), Rounding()
        )
    assert bounds is not None
    assert made[0] == np.inf
    assert bounds[0] == 0


def test_reciprocals_close_to_zero_are_uncertain() -> None:
    with np.errstate(all="ignore"):
        _, bounds = reciprocal(
            np.array([2.0, 0.0, 1e-9]), np.array([0.02, 1e-9, 1e-9]), Rounding(poles=True)
        )
    assert bounds is not None
    assert 0.005 <= bounds[0] <= 0.006
    assert np.isinf(bounds[1])
    assert np.isinf(bounds[2])


def test_near_a_step_a_bound_is_the_step_and_elsewhere_it_is_nothing() -> None:
    x = np.array([2.5, 2.9999999, 3.0, -2.0000001, 0.0])
    for bounds, steps in ((1e-6, [0, 1, 1, 1, 1]), (0.0, [0, 0, 0, 0, 0])):
        values, allowed = function(Op.FLOOR, x, np.full(5, bounds), Rounding())
        assert allowed is not None
        assert values.tolist() == [2, 2, 3, -3, 0]
        assert allowed.tolist() == steps


@pytest.mark.parametrize("op", [Op.SIN, Op.COS])
def test_waves_of_what_may_be_infinite_may_be_no_number(op: Op) -> None:
    x, bounds = np.array([1.0, 1.0, 1.0, np.inf]), np.array([np.inf, 5.0, 0.0, 0.0])
    with np.errstate(invalid="ignore"):
        allowed = function(op, x, bounds, Rounding())[1]
    assert allowed is not None
    assert np.isinf(allowed).tolist() == [True, False, False, False]
    assert 2.0 <= allowed[1] < 2.1
    assert allowed[2] < 1e-6
    assert allowed[3] == 0  # certainly no number


def test_noise_stays_within_what_rounding_may_do() -> None:
    values, fresh = np.linspace(-1, 1, 101), np.full(101, 1e-3)
    generator = np.random.default_rng(1)
    random, none = settled(values, None, fresh, Rounding(Errors.RANDOM, random=generator))
    assert none is None
    assert (np.abs(random - values) <= 1e-3).all()
    assert np.ptp(random - values) > 1e-3
    away, _ = settled(values, None, fresh, Rounding(Errors.AWAY))
    np.testing.assert_allclose(np.abs(away), np.abs(values) + 1e-3)


def test_poles_are_noticed_and_infinite_only_where_asked() -> None:
    x, bounds = np.array([1e-9, 1.0]), np.array([2e-9, 1e-9])
    for poles in (False, True):
        rounding = Rounding(poles=poles)
        _, allowed = function(Op.RSQRT, x, bounds, rounding)
        assert allowed is not None
        assert rounding.crossed
        assert np.isinf(allowed).tolist() == [poles, False]
    rounding = Rounding()
    function(Op.RSQRT, x[1:], bounds[1:], rounding)
    assert not rounding.crossed


def test_the_root_of_what_underflow_lost_is_small() -> None:
    x, bounds = np.array([0.0, 0.0, 1e-9]), np.array([1e-44, 1e-9, 2e-9])
    rounding = Rounding(poles=True)
    with np.errstate(all="ignore"):
        _, allowed = function(Op.SQRT, x, bounds, rounding)
    assert allowed is not None
    assert allowed[0] < 1e-21
    assert np.isinf(allowed[1:]).all()
    assert rounding.crossed


@pytest.mark.parametrize("op", [Op.LOG, Op.RSQRT, Op.SQRT])
def test_well_outside_the_domain_there_is_no_number_for_certain(op: Op) -> None:
    x, bounds = np.array([-2.0, -1e-9]), np.array([1e-6, 1e-6])
    with np.errstate(all="ignore"):
        values, allowed = function(op, x, bounds, Rounding())
    assert allowed is not None
    assert np.isnan(values).all()
    assert allowed.tolist() == [0.0, np.inf]
