"""The table of all calls of the library."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from fuseloom.calls.library import (
    broadcasts,
    elementwise,
    filters,
    linear_algebra,
    networks,
    records,
    reductions,
    torch_networks,
)
from fuseloom.calls.library.library_call import LibraryCall

SUBJECTS: Mapping[str, tuple[LibraryCall, ...]] = MappingProxyType({
    "elementwise": elementwise.ROWS,
    "reductions": reductions.ROWS,
    "broadcasts": broadcasts.ROWS,
    "filters": filters.ROWS,
    "linear algebra": linear_algebra.ROWS,
    "networks": networks.ROWS,
    "networks by PyTorch": torch_networks.ROWS,
    "records": records.ROWS,
})  # fmt: skip
"""The calls by subject."""

LIBRARY: Mapping[str, LibraryCall] = MappingProxyType(
    {row.name: row for rows in SUBJECTS.values() for row in rows}
)
"""The calls by name."""
