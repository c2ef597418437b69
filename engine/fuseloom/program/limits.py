"""Limits that keep a malformed or hostile input from exhausting the machine.

They are far above what a model needs; each has an error that names it.
"""

from __future__ import annotations

import re

MAX_TEXT_CHARS = 1_000_000
MAX_STATEMENTS = 5_000
MAX_RANK = 12
MAX_DIMENSION = 2**31 - 1  # coordinates are 32-bit on the machine
MAX_NAME_CHARS = 100
MAX_NESTING = 100
MAX_BLOCK = 1024  # edge: a block of that size has 4 MiB
MAX_TILE = 2**24  # numbers in one value inside an ALU, 64 MiB
MAX_STORED_BYTES = 8 * 2**30
MAX_RATIO = 200  # how many times its size a packed file may unpack to; text reaches about 20
FREE_ARRAYS = 2**28  # bytes that arrays may unpack to whatever the size of their file
MAX_REFERENCE_ELEMENTS = 2**28  # of one dense float64 array, 2 GiB

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_']*")
