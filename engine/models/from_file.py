"""Models that come from a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.models.model import Model
from engine.program import StoredTensor


@dataclass(frozen=True)
class MlirModel(Model):
    """A program from an MLIR file.

    Attributes
    ----------
    schedule : str
        One region per function; used where no schedule is given.
    constants : mapping
        Inputs whose values the file holds.
    """

    schedule: str = ""
    constants: Mapping[str, StoredTensor] = field(default_factory=dict)
