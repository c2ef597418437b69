"""Scalar functions that are made of others: what they compute, as trees.

A front end gives its own name to each; the operands are trees, the parameters numbers.
"""

from __future__ import annotations

import math
from functools import partial

from fuseloom.frontends.algebra.conditions import compared, selected
from fuseloom.frontends.algebra.expressions import (
    Node,
    Num,
    exact_quotient,
    largest,
    made,
    smallest,
)
from fuseloom.frontends.algebra.powers import power
from fuseloom.program.functions import Op

absolute = partial(made, Op.ABS)
atan = partial(made, Op.ATAN)
exp = partial(made, Op.EXP)
log = partial(made, Op.LOG)
log1p = partial(made, Op.LOG1P)
relu = partial(made, Op.RELU)
sigmoid = partial(made, Op.SIGMOID)
sqrt = partial(made, Op.SQRT)
tanh = partial(made, Op.TANH)


def positive(x: Node) -> Node:
    """1 where a number is positive, and 0 elsewhere."""
    return compared("gt", x, Num(0.0), whole=False)


def negative_part(x: Node) -> Node:
    """``-min(x, 0)``."""
    return relu(-x)


def log_of_one_and_exp(x: Node) -> Node:
    """``log(1 + exp(-|x|))``: what a soft maximum of x and 0 has beyond the hard one."""
    return log1p(exp(-absolute(x)))


# Powers, exponentials and logarithms --------------------------------------------------------------


def reciprocal(x: Node) -> Node:
    """``1 / x``."""
    return 1.0 / x


def square(x: Node) -> Node:
    """``x^2``."""
    return x * x


def hypotenuse(x: Node, other: Node) -> Node:
    """The root of the sum of two squares."""
    return sqrt(x * x + other * other)


def exp2(x: Node) -> Node:
    """``2^x``."""
    return power(Num(2.0), x)


def log2(x: Node) -> Node:
    """The logarithm to the base 2."""
    return log(x) * (1.0 / math.log(2.0))


def log10(x: Node) -> Node:
    """The logarithm to the base 10."""
    return log(x) * (1.0 / math.log(10.0))


def cosh(x: Node) -> Node:
    """``(exp(x) + exp(-x)) / 2``."""
    return exp(x) * 0.5 + exp(-x) * 0.5


def sinh(x: Node) -> Node:
    """``(exp(x) - exp(-x)) / 2``."""
    return exp(x) * 0.5 - exp(-x) * 0.5


def logaddexp(x: Node, other: Node) -> Node:
    """``log(exp(x) + exp(y))``: the larger one plus ``log(1 + exp(-|x - y|))``."""
    gap = other - x
    return x + relu(gap) + log_of_one_and_exp(gap)


def tan(x: Node) -> Node:
    """``sin(x) / cos(x)``."""
    return made(Op.SIN, x) / made(Op.COS, x)


def asin(x: Node) -> Node:
    """``atan(x / sqrt(1 - x^2))``, whose argument is infinite at 1 and -1."""
    return atan(x / sqrt((1.0 - x) * (1.0 + x)))


def acos(x: Node) -> Node:
    """``π / 2 - asin(x)``."""
    return math.pi / 2 - asin(x)


def atan2(x: Node, other: Node) -> Node:
    """The angle of the point (``other``, ``x``).

    It is twice that of half as much, whose tangent is ``y / (r + x)`` to the right of the origin
    and ``(r - x) / y`` to the left, so nothing cancels; at the origin it is 0.
    """
    y, x = x, other
    distance = hypotenuse(x, y)
    right = compared("gt", x, Num(0.0), whole=False)
    over = selected(right, y, distance - x)
    under = selected(right, distance + x, y) + compared("eq", distance, Num(0.0), whole=False)
    return atan(over / under) * 2.0


def asinh(x: Node) -> Node:
    """``sign(x) log(|x| + sqrt(x^2 + 1))``, as a logarithm of 1 and more."""
    size, squared = absolute(x), x * x
    return made(Op.SIGN, x) * log1p(size + squared / (sqrt(squared + 1.0) + 1.0))


def acosh(x: Node) -> Node:
    """``log(x + sqrt(x^2 - 1))``, as a logarithm of 1 and more."""
    more = x - 1.0
    return log1p(more + sqrt(more * (x + 1.0)))


def atanh(x: Node) -> Node:
    """Half the logarithm of ``(1 + x) / (1 - x)``."""
    return log1p(x * 2.0 / (1.0 - x)) * 0.5


def erfc(x: Node) -> Node:
    """``1 - erf(x)``, which is good to what float32 keeps next to 1."""
    return 1.0 - made(Op.ERF, x)


# Steps --------------------------------------------------------------------------------------------


def nearest(x: Node, decimals: int = 0) -> Node:
    """To the nearest multiple of a power of ten, ties to even."""
    tens = 10.0 ** abs(decimals)
    up, down = (tens, 1.0 / tens) if decimals >= 0 else (1.0 / tens, tens)
    return made(Op.ROUND, x * up) * down if decimals else made(Op.ROUND, x)


def fraction(x: Node) -> Node:
    """The fractional part, with the sign."""
    return x - made(Op.TRUNC, x)


def rounded_quotient(x: Node, other: Node, step: Op) -> Node:
    """A quotient, rounded once to float32 and then to an integer."""
    return made(step, exact_quotient(x, other))


def floor_divide(x: Node, other: Node) -> Node:
    """The largest integer up to ``x / y``."""
    return rounded_quotient(x, other, Op.FLOOR)


def remainder(x: Node, other: Node) -> Node:
    """``x - y floor(x / y)``, with the sign of y."""
    return x - rounded_quotient(x, other, Op.FLOOR) * other


def fmod(x: Node, other: Node) -> Node:
    """``x - y trunc(x / y)``, with the sign of x."""
    return x - rounded_quotient(x, other, Op.TRUNC) * other


def clamp(x: Node, min: Node | None = None, max: Node | None = None) -> Node:
    """``max(x, low)``, then ``min(x, high)``."""
    x = x if min is None else largest(x, min)
    return x if max is None else smallest(x, max)


def hardshrink(x: Node, lambd: float = 0.5) -> Node:
    """``x`` where ``|x| > l``, else 0."""
    return x * positive(absolute(x) - lambd)


def threshold(x: Node, threshold: float, value: float) -> Node:
    """``x`` where ``x > threshold``, else a number."""
    return selected(compared("gt", x, Num(threshold), whole=False), x, Num(value))


# Activations --------------------------------------------------------------------------------------


def gelu(x: Node, approximate: str = "none") -> Node:
    """Exact, or by tanh: ``x sigmoid(2 sqrt(2/pi) (x + 0.044715 x^3))``."""
    if approximate == "none":
        return made(Op.GELU, x)
    return x * sigmoid((x + 0.044715 * power(x, Num(3.0))) * (2.0 * math.sqrt(2.0 / math.pi)))


def silu(x: Node) -> Node:
    """``x sigmoid(x)``."""
    return x * sigmoid(x)


def leaky_relu(x: Node, negative_slope: float = 0.01) -> Node:
    """The larger of x and ``s x``; for a slope beyond 1 the smaller."""
    end = largest if negative_slope <= 1.0 else smallest
    return end(x, x * negative_slope)


def prelu(x: Node, slope: Node) -> Node:
    """``relu(x) - s relu(-x)``."""
    return relu(x) - negative_part(x) * slope


def elu(x: Node, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Node:
    """``s (relu(x) + a (exp(min(i x, 0)) - 1))``."""
    curve = exp(negative_part(x) * -input_scale) - 1.0
    return (relu(x) + curve * alpha) * scale


def selu(x: Node) -> Node:
    """The ELU that keeps mean 0 and variance 1."""
    return elu(x, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946)


def celu(x: Node, alpha: float = 1.0) -> Node:
    """``max(x, 0) + min(a (exp(x / a) - 1), 0)``."""
    return elu(x, alpha, 1.0, 1.0 / alpha)


def softshrink(x: Node, lambd: float = 0.5) -> Node:
    """``relu(x - l) - relu(-x - l)``."""
    return relu(x - lambd) - relu(-x - lambd)


FAINT = 17.0
"""``log(1 + exp(-x))`` of a larger x is less than half of the last bit of 1 in float32."""


def softplus(x: Node, beta: float = 1.0, threshold: float = 20.0) -> Node:
    """``(relu(bx) + log(1 + exp(-|bx|))) / b``, which does not overflow.

    Above the threshold it is x; where float32 cannot tell the two, that needs no care.
    """
    sharp = x * beta
    soft = relu(sharp) + log_of_one_and_exp(sharp)
    if threshold < FAINT:
        soft = selected(compared("gt", sharp, Num(threshold), whole=False), sharp, soft)
    return soft * (1.0 / beta)


def mish(x: Node) -> Node:
    """``x tanh(softplus(x))``."""
    return x * tanh(softplus(x))


def log_sigmoid(x: Node) -> Node:
    """``-softplus(-x)``."""
    return -(negative_part(x) + log_of_one_and_exp(x))


def hardtanh(x: Node, min_val: float = -1.0, max_val: float = 1.0) -> Node:
    """x between two bounds."""
    return clamp(x, Num(min_val), Num(max_val))


def relu6(x: Node) -> Node:
    """x between 0 and 6."""
    return hardtanh(x, 0.0, 6.0)


def hardsigmoid(x: Node) -> Node:
    """``(x + 3) / 6`` between 0 and 1."""
    return smallest(relu((x + 3.0) * (1.0 / 6.0)), Num(1.0))


def hardswish(x: Node) -> Node:
    """``x hardsigmoid(x)``."""
    return x * hardsigmoid(x)


def glu(x: Node, gate: Node) -> Node:
    """``x sigmoid(g)``."""
    return x * sigmoid(gate)


# Of several ---------------------------------------------------------------------------------------


def addcmul(x: Node, tensor1: Node, tensor2: Node, value: float = 1.0) -> Node:
    """``x + v a b``."""
    return x + tensor1 * tensor2 * value


def addcdiv(x: Node, tensor1: Node, tensor2: Node, value: float = 1.0) -> Node:
    """``x + v a / b``."""
    return x + tensor1 / tensor2 * value


def lerp(x: Node, end: Node, weight: Node) -> Node:
    """``x + w (y - x)``."""
    return x + (end - x) * weight


def subtraction(x: Node, other: Node, alpha: float = 1.0) -> Node:
    """``x - a y``."""
    return x - other * alpha


def addition(x: Node, other: Node, alpha: float = 1.0) -> Node:
    """``x + a y``."""
    return x + other * alpha
