"""The basis of an estimate."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from fuseloom.errors import DataError


class EstimateMode(Enum):
    """The basis of an estimate.

    ``EXACT``: the graph executed on coordinates.  ``SAMPLED``: on some of those of its outermost
    indices.  ``METADATA``: statistics of the tensors.  ``AUTO``: the first of these that does not
    take too much.
    """

    AUTO = "auto"
    EXACT = "exact"
    SAMPLED = "sampled"
    METADATA = "metadata"


BASIS: Mapping[EstimateMode, str] = {
    EstimateMode.EXACT: "the graph executed on coordinates",
    EstimateMode.SAMPLED: "the graph executed on some coordinates of its outermost indices",
    EstimateMode.METADATA: "statistics of the tensors",
}


def mode_named(mode: EstimateMode | str) -> EstimateMode:
    """The mode of that name.

    Raises
    ------
    DataError
        If there is none.
    """
    try:
        return EstimateMode(mode)
    except ValueError:
        known = ", ".join(m.value for m in EstimateMode)
        raise DataError(f"no estimate is called {mode!r}", hint=f"known: {known}") from None
