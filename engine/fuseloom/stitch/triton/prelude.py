"""The beginning of modules of Triton kernels: imports, and functions that kernels call.

Kernels mean the same in Triton's interpreter and on a GPU; mathematics is in
:mod:`~fuseloom.stitch.triton.mathematics`.
"""

from __future__ import annotations

from fuseloom.stitch.triton.mathematics import ANGLES, EXPONENTIALS

_BEGINNING = '''"""Kernels of a fused graph.

``run_NAME`` launches the kernel of a name on arrays of PyTorch, and returns its results; they may
lie on a GPU, or anywhere if ``TRITON_INTERPRET=1`` is set.
"""

import torch
import triton
import triton.language as tl

LAUNCHES = {}


def launched(kernel, name, given, device=None):
    """Launch a kernel; what it returns, in memory that is allocated for it."""
    launch = LAUNCHES[name]
    if device is None:
        device = given[0].device if given else "cuda"
    given = [one.contiguous() for one in given]
    made = [
        torch.empty(dims, dtype=getattr(torch, kind), device=device)
        for dims, kind in launch["outputs"]
    ]
    held = []
    if launch["scratch"]:
        size = launch["blocks"] * launch["scratch"]
        held = [torch.empty(size, dtype=torch.int8, device=device)]
    kernel[(launch["blocks"],)](
        *given, *made, *held, num_warps=launch["warps"], num_stages=1, enable_fp_fusion=True
    )
    return tuple(made)
'''
_INTEGERS = """
@triton.jit
def divided(a, b):
    ones = tl.full([], 0, a.dtype) - tl.full([], 1, a.dtype)
    if a.dtype.is_int_signed():
        usual = (b != 0) & (b != ones)
        other = tl.where(b == 0, ones, -a)
    else:
        usual = b != 0
        other = tl.where(usual, b, ones)
    return tl.where(usual, a // tl.where(usual, b, tl.full([], 1, a.dtype)), other)


@triton.jit
def rest(a, b):
    if a.dtype.is_int_signed():
        usual = (b != 0) & (b != -1)
    else:
        usual = b != 0
    other = tl.where(b == 0, a, tl.full([], 0, a.dtype))
    return tl.where(usual, a % tl.where(usual, b, tl.full([], 1, a.dtype)), other)


@triton.jit
def is_beyond(b):
    bits: tl.constexpr = b.dtype.primitive_bitwidth
    if b.dtype.is_int_signed():
        made = (b < 0) | (b >= bits)
    else:
        made = b >= bits
    return made


@triton.jit
def shifted_left(a, b):
    beyond = is_beyond(b)
    zero = tl.full([], 0, a.dtype)
    return tl.where(beyond, zero, a << tl.where(beyond, zero, b))


@triton.jit
def shifted_right_logical(a, b, kind: tl.constexpr):
    beyond = is_beyond(b)
    zero = tl.full([], 0, kind)
    amount = tl.where(beyond, zero, b.to(kind, bitcast=True))
    made = tl.where(beyond, zero, a.to(kind, bitcast=True) >> amount)
    return made.to(a.dtype, bitcast=True)


@triton.jit
def shifted_right_arithmetic(a, b, kind: tl.constexpr):
    bits: tl.constexpr = a.dtype.primitive_bitwidth
    most = tl.full([], bits - 1, kind)
    amount = tl.where(is_beyond(b), most, b.to(kind, bitcast=True))
    return (a.to(kind, bitcast=True) >> amount).to(a.dtype, bitcast=True)


@triton.jit
def to_integer(a, least: tl.constexpr, most: tl.constexpr, kind: tl.constexpr):
    low = tl.full([], least, a.dtype)
    high = tl.full([], most, a.dtype)
    inside = (a > low) & (a < high)
    made = tl.where(inside, a, tl.full([], 0, a.dtype)).to(kind)
    made = tl.where(a >= high, tl.full([], most, kind), made)
    return tl.where(a <= low, tl.full([], least, kind), made)
"""
_ROUNDING = '''
@triton.jit
def rounded_bf16(x):
    bits = x.to(tl.uint32, bitcast=True)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return tl.where(x == x, bits.to(tl.float32, bitcast=True), x)


@triton.jit
def is_below_zero(x):
    """The sign bit, of zeros too."""
    if x.dtype == tl.float64:
        made = x.to(tl.int64, bitcast=True) < 0
    else:
        made = x.to(tl.int32, bitcast=True) < 0
    return made


@triton.jit
def with_sign(size, x):
    return tl.where(is_below_zero(x), -tl.abs(size), tl.abs(size))


@triton.jit
def sign(x):
    one = tl.where(x > 0, tl.full([], 1, x.dtype), tl.full([], -1, x.dtype))
    return tl.where((x == 0) | (x != x), x, one)


@triton.jit
def round_even(x):
    if x.dtype == tl.float64:
        wide = tl.full([], 4503599627370496.0, tl.float64)
    else:
        wide = tl.full([], 8388608.0, tl.float32)
    size = tl.abs(x)
    return tl.where(size < wide, with_sign((size + wide) - wide, x), x)


@triton.jit
def round_away(x):
    size = tl.abs(x)
    short = tl.floor(size)
    return with_sign(tl.where(size - short >= 0.5, short + 1.0, short), x)


@triton.jit
def float_rest(x, y, steps: tl.constexpr):
    """The remainder of a division, exactly: 50 bits of the quotient at a time."""
    left = tl.abs(x).to(tl.float64)
    by = tl.abs(y).to(tl.float64)
    one = tl.full([], 1.0, tl.float64)
    for step in range(steps):
        bits = tl.full([], 50, tl.int64) * (steps - 1 - step)
        third = bits // 3
        low = ((third + 1023) << 52).to(tl.float64, bitcast=True)
        high = ((bits - 2 * third + 1023) << 52).to(tl.float64, bitcast=True)
        part = by * low * low * high
        fits = part <= left
        part = tl.where(fits, part, one)
        less = tl.fma(-tl.floor(left / part), part, left)
        less = tl.where(less < 0.0, less + part, less)
        less = tl.where(less >= part, less - part, less)
        left = tl.where(fits, less, left)
    wrong = (by == 0.0) | (x != x) | (y != y) | (tl.abs(x) == float("inf"))
    made = tl.where(wrong, tl.full([], float("nan"), tl.float64), left)
    return with_sign(made.to(x.dtype), x)
'''
_REDUCTIONS = '''
@triton.jit
def product_of(a, b):
    return a * b


@triton.jit
def both_of(a, b):
    return a & b


@triton.jit
def any_of(a, b):
    return a | b


@triton.jit
def one_of(a, b):
    return a ^ b


@triton.jit
def largest(x, axis: tl.constexpr, keep: tl.constexpr):
    """The largest along an axis; NaN if one is NaN."""
    made = tl.max(x, axis, keep_dims=keep).to(x.dtype)
    if x.dtype.is_floating():
        missing = tl.max((x != x).to(tl.int32), axis, keep_dims=keep) > 0
        made = tl.where(missing, float("nan"), made)
    return made


@triton.jit
def smallest(x, axis: tl.constexpr, keep: tl.constexpr):
    """The smallest along an axis; NaN if one is NaN."""
    made = tl.min(x, axis, keep_dims=keep).to(x.dtype)
    if x.dtype.is_floating():
        missing = tl.max((x != x).to(tl.int32), axis, keep_dims=keep) > 0
        made = tl.where(missing, float("nan"), made)
    return made
'''
TRITON_PRELUDE = "\n".join([_BEGINNING, _INTEGERS, _ROUNDING, EXPONENTIALS, ANGLES, _REDUCTIONS])
"""The beginning of modules of kernels."""
