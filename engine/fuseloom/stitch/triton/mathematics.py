"""Mathematics in Triton, with what both its interpreter and a GPU have.

The interpreter has no functions of libraries, and the exponential of float32 on a GPU is an
approximation.  Functions that are rare are computed with float64, and rounded once.
"""

from __future__ import annotations

EXPONENTIALS = """
@triton.jit
def square_root(x):
    if x.dtype == tl.float64:
        made = tl.sqrt(x)
    else:
        made = tl.sqrt_rn(x)
    return made


@triton.jit
def reciprocal(x):
    if x.dtype == tl.float64:
        made = 1.0 / x
    else:
        made = tl.math.div_rn(tl.full([], 1.0, tl.float32), x)
    return made


@triton.jit
def reciprocal_root(x):
    return reciprocal(square_root(x))


@triton.jit
def exponential(x):
    if x.dtype == tl.float64:
        made = tl.exp(x)
    else:
        inside = tl.where(x == x, x, tl.full([], 0.0, tl.float32))
        inside = tl.minimum(tl.maximum(inside, -104.0), 89.0)
        power = tl.floor(inside * 1.4426950408889634 + 0.5)
        left = (inside - power * 0.693359375) + power * 2.12194440e-4
        whole = power.to(tl.int32)
        half = whole >> 1  # in two steps, for the ends of the range
        low = ((half + 127) << 23).to(tl.float32, bitcast=True)
        high = ((whole - half + 127) << 23).to(tl.float32, bitcast=True)
        made = tl.where(x == x, tl.exp2(left * 1.4426950408889634) * low * high, x)
    return made


@triton.jit
def logistic(x):
    return reciprocal(1.0 + exponential(-x))


@triton.jit
def log_plus_one(x):
    near = 1.0 + x
    usual = (near != 1.0) & (near < float("inf"))
    less = tl.where(usual, near - 1.0, tl.full([], 1.0, x.dtype))
    return tl.where(usual, tl.log(near) * (x * reciprocal(less)), x)


@triton.jit
def exponential_minus_one(x):
    near = exponential(x)
    less = near - 1.0
    usual = (near != 1.0) & (tl.abs(x) < 40.0)
    inside = tl.where(usual & (near > 0.0), near, tl.full([], 2.0, x.dtype))
    made = less * (x * reciprocal(tl.log(inside)))
    return tl.where(usual, made, tl.where(near == 1.0, x, less))


@triton.jit
def hyperbolic_tangent(x):
    size = tl.abs(x)
    if x.dtype == tl.float64:
        part = exponential_minus_one(tl.minimum(size + size, 60.0))
        made = tl.where(size < 30.0, part / (part + 2.0), tl.full([], 1.0, tl.float64))
        made = with_sign(made, x)
    else:
        square = x * x
        near = square * -5.70498872745e-3 + 2.06390887954e-2
        near = near * square - 5.37397155531e-2
        near = near * square + 1.33314422036e-1
        near = near * square - 3.33332819422e-1
        near = near * square * x + x
        far = with_sign(1.0 - 2.0 * reciprocal(exponential(size + size) + 1.0), x)
        made = tl.where(size < 0.625, near, far)
    return tl.where(x == x, made, x)


@triton.jit
def hyperbolic_sine(x):
    wide = x.to(tl.float64)
    size = tl.abs(wide)
    part = exponential_minus_one(tl.minimum(size, 30.0))
    root = tl.exp(size * 0.5)
    made = tl.where(size < 30.0, 0.5 * (part + part / (part + 1.0)), (0.5 * root) * root)
    return tl.where(x == x, with_sign(made, wide).to(x.dtype), x)


@triton.jit
def hyperbolic_cosine(x):
    wide = tl.abs(x.to(tl.float64))
    near = tl.exp(tl.minimum(wide, 30.0))
    root = tl.exp(wide * 0.5)
    made = tl.where(wide < 30.0, 0.5 * near + 0.5 / near, (0.5 * root) * root)
    return tl.where(x == x, made.to(x.dtype), x)


@triton.jit
def cube_root(x):
    wide = x.to(tl.float64)
    usual = (wide != 0.0) & (tl.abs(wide) < float("inf"))
    size = tl.where(usual, tl.abs(wide), tl.full([], 1.0, tl.float64))
    made = tl.exp(tl.log(size) / 3.0)
    made = made - (made - size / (made * made)) / 3.0
    return tl.where(usual, with_sign(made, wide).to(x.dtype), x)


@triton.jit
def power(x, y):
    base = x.to(tl.float64)
    exponent = y.to(tl.float64)
    size = tl.abs(base)
    endless = float("inf")
    is_integer = tl.floor(exponent) == exponent
    half = exponent * 0.5
    is_odd = is_integer & (tl.floor(half) != half) & (tl.abs(exponent) < endless)
    one = tl.full([], 1.0, tl.float64)
    made = tl.exp(exponent * tl.log(size))
    made = tl.where((size == 1.0) & (exponent == exponent), one, made)
    made = tl.where(is_odd & is_below_zero(base), -made, made)
    wrong = (base < 0.0) & (size < endless) & (is_integer == 0)
    made = tl.where(wrong | (base != base) | (exponent != exponent), float("nan"), made)
    return tl.where((exponent == 0.0) | (base == 1.0), one, made).to(x.dtype)
"""
"""Roots, exponentials, logarithms, and what is made of them."""
ANGLES = '''
@triton.jit
def tangent(x):
    if x.dtype == tl.float64:
        made = tl.sin(x) / tl.cos(x)
    else:
        made = tl.math.div_rn(tl.sin(x), tl.cos(x))
    return made


@triton.jit
def wide_arc_tangent(x):
    """The arc tangent of float64, after the Cephes library."""
    size = tl.abs(x)
    far = size > 2.41421356237309504880
    middle = (size > 0.66) & (size <= 2.41421356237309504880)
    one = tl.full([], 1.0, tl.float64)
    above = tl.where(far, -one, tl.where(middle, size - 1.0, size))
    below = tl.where(far, size, tl.where(middle, size + 1.0, one))
    t = above / below
    z = t * t
    p = z * -8.750608600031904122785e-1 - 1.615753718733365076637e1
    p = p * z - 7.500855792314704667340e1
    p = p * z - 1.228866684490136173410e2
    p = p * z - 6.485021904942025371773e1
    q = z + 2.485846490142306297962e1
    q = q * z + 1.650270098316988542046e2
    q = q * z + 4.328810604912902668951e2
    q = q * z + 4.853903996359136964868e2
    q = q * z + 1.945506571482613964425e2
    made = t * (z * p / q) + t
    zero = tl.full([], 0.0, tl.float64)
    small = tl.where(middle, 3.061616997868382943065e-17, zero)
    small = tl.where(far, 6.123233995736765886130e-17, small)
    large = tl.where(middle, 0.78539816339744830962, zero)
    large = tl.where(far, 1.57079632679489661923, large)
    return with_sign(large + (made + small), x)


@triton.jit
def arc_tangent(x):
    return tl.where(x == x, wide_arc_tangent(x.to(tl.float64)).to(x.dtype), x)


@triton.jit
def arc_sine(x):
    wide = x.to(tl.float64)
    made = wide_arc_tangent(wide / tl.sqrt((1.0 - wide) * (1.0 + wide)))
    return tl.where(tl.abs(x) <= 1.0, made.to(x.dtype), float("nan"))


@triton.jit
def arc_cosine(x):
    wide = x.to(tl.float64)
    made = 2.0 * wide_arc_tangent(tl.sqrt((1.0 - wide) / (1.0 + wide)))
    return tl.where(tl.abs(x) <= 1.0, made.to(x.dtype), float("nan"))


@triton.jit
def angle(y, x):
    above = y.to(tl.float64)
    below = x.to(tl.float64)
    high = tl.abs(above)
    low = tl.abs(below)
    same = (high == low) & ((high == 0.0) | (high == float("inf")))
    zero = tl.full([], 0.0, tl.float64)
    tie = tl.where(high == 0.0, zero, zero + 0.78539816339744830962)
    divisor = tl.where(same, zero + 1.0, low)
    made = tl.where(same, tie, wide_arc_tangent(high / divisor))
    made = tl.where(is_below_zero(below), 3.14159265358979323846 - made, made)
    made = with_sign(made, above).to(x.dtype)
    return tl.where((x != x) | (y != y), float("nan"), made)


@triton.jit
def area_sine(x):
    wide = x.to(tl.float64)
    size = tl.abs(wide)
    inside = tl.minimum(size, 1e150)
    square = inside * inside
    near = log_plus_one(inside + square / (1.0 + tl.sqrt(1.0 + square)))
    made = tl.where(size < 1e150, near, tl.log(size) + 0.69314718055994530942)
    return tl.where(x == x, with_sign(made, wide).to(x.dtype), x)


@triton.jit
def area_cosine(x):
    wide = x.to(tl.float64)
    less = tl.minimum(wide, 1e150) - 1.0
    near = log_plus_one(less + tl.sqrt(less * (2.0 + less)))
    made = tl.where(wide < 1e150, near, tl.log(wide) + 0.69314718055994530942)
    return tl.where(x >= 1.0, made.to(x.dtype), float("nan"))


@triton.jit
def area_tangent(x):
    wide = x.to(tl.float64)
    size = tl.abs(wide)
    made = 0.5 * log_plus_one((size + size) / (1.0 - size))
    made = tl.where(size == 1.0, float("inf"), made)
    return tl.where(size <= 1.0, with_sign(made, wide).to(x.dtype), float("nan"))
'''
"""Angles, and inverses of hyperbolic functions."""
