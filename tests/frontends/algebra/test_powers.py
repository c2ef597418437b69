"""Powers, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.frontends.algebra.evaluation import evaluate
from fuseloom.frontends.algebra.expressions import Arg, Num, Unsupported, made
from fuseloom.frontends.algebra.powers import power
from fuseloom.program.functions import Op

X = np.array([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0])


@pytest.mark.parametrize("exponent", [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 7.0, 16.0, 17.0, 20.0])
def test_whole_exponents(exponent: float) -> None:
    found = evaluate(power(Arg(0), Num(exponent)), {}, {0: X})
    np.testing.assert_allclose(found, X**exponent)


@pytest.mark.parametrize("exponent", [-1.5, -0.5, 0.5, 0.3, 2.5])
def test_roots_and_the_like(exponent: float) -> None:
    x = np.abs(X)
    found = evaluate(power(Arg(0), Num(exponent)), {}, {0: x})
    np.testing.assert_allclose(found, x**exponent)


def test_exponents_that_are_computed() -> None:
    y = np.array([2.0, 3.0, 0.0, 1.5, -2.0, 0.5])
    with np.errstate(all="ignore"):
        found = evaluate(power(Arg(0), Arg(1)), {}, {0: X, 1: y})
    np.testing.assert_allclose(found, X**y)


def test_seven_takes_three_products() -> None:
    tree = power(Arg(0), Num(7.0))
    cube = power(Arg(0), Num(3.0))
    assert tree == made(Op.MUL, made(Op.MUL, cube, cube), Arg(0))


def test_powers_of_negative_numbers_are_refused() -> None:
    with pytest.raises(Unsupported, match="not positive"):
        power(Num(-2.0), Arg(0))
