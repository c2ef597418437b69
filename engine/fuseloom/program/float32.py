"""The limits of float32, in which all values of the machines are computed (IEEE 754, binary32)."""

from __future__ import annotations

LARGEST = 3.4028234663852886e38
"""The largest number."""
OVERFLOW = LARGEST + 2.0**103
"""The least that rounds to infinity."""
NORMAL = 2.0**-126
"""The smallest number of full precision; a reciprocal that overflows is wrong by so much."""
SMALLEST = 2.0**-149
"""The spacing of numbers next to 0: what underflow loses at most."""
ROUNDOFF = 2.0**-24
"""Largest relative error of one rounding."""
INTEGER_BITS = 24
"""Bits of the widest integers all of which are numbers of float32."""
EXACT_INTEGERS = 2**INTEGER_BITS
"""All integers up to this are numbers of float32."""
