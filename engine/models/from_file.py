"""Models that come from a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.frontends.mlir import ImportedMlir
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
    imported : ImportedMlir, optional
        What was read.
    """

    schedule: str = ""
    constants: Mapping[str, StoredTensor] = field(default_factory=dict)
    imported: ImportedMlir | None = None

    @property
    def indices(self) -> Mapping[str, tuple[int, ...]]:
        """Shapes of the index tensors that are to be given."""
        return {} if self.imported is None else self.imported.indices

    def bound(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """What is given, with selections in place of index tensors.

        Raises
        ------
        DataError
            Index tensors of other shapes, or places outside of a table.
        """
        if self.imported is None or not self.indices:
            return dict(given)
        index = {name: given[name] for name in self.indices if name in given}
        others = {name: x for name, x in given.items() if name not in index}
        return {**self.imported.bind(index).data, **others}

    def drawn(self, seed: int) -> Mapping[str, Any]:
        """Random index tensors."""
        return {} if self.imported is None else self.imported.drawn(seed)
