"""Limits of what a file may claim or unpack to; each has an error that names it."""

from __future__ import annotations

MAX_FILE_BYTES = 4 * 2**30
"""Of a file as it lies on the disk, and of a text after unpacking."""
FREE_UNPACKING = 8 * 2**20
"""Bytes a packed file may unpack to whatever its size."""
MAX_LINE = 2**20
MAX_PICKLE_BYTES = 2**28
MAX_PICKLE_STEPS = 2**25
MAX_ENTRIES = 2**26
"""Stored elements of one tensor, edges of one graph."""
MAX_NODES = 2**24
"""Nodes of one graph: its row pointers are allocated, edges or not."""
MAX_DENSE = 2**28
"""Numbers of one dense table of features, 1 GiB in float32."""
MAX_MEMBERS = 10_000
"""Files of one archive."""
