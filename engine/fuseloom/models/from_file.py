"""Models that come from a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuseloom.errors import DataError
from fuseloom.models.model import Kernel, Model
from fuseloom.program import StoredTensor
from fuseloom.results.archive import read_model

if TYPE_CHECKING:
    from fuseloom.frontends.mlir import ImportedMlir


@dataclass(frozen=True)
class ArchivedModel(Model):
    """A model from an archive (:mod:`fuseloom.results.archive`).

    Attributes
    ----------
    data : mapping
        Its inputs.
    """

    data: Mapping[str, StoredTensor] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> ArchivedModel:
        """The model of an archive.

        Raises
        ------
        FuseloomError
            If the file is none.
        """
        archive = read_model(path)
        kernels = tuple(Kernel(k.name, k.statements, k.place) for k in archive.kernels)
        return cls(archive.program, kernels, archive.presets, data=archive.data)


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

    @property
    def unread(self) -> tuple[str, ...]:
        """Arguments of the file that no result needs."""
        return () if self.imported is None else self.imported.unread

    @property
    def named(self) -> tuple[str, ...]:
        """Inputs as the file names them: index tensors instead of what they select."""
        made = () if self.imported is None else self.imported.lookups
        selections = {x.tensor.name for x in made}
        given = [n for n in self.program.given if n not in selections]
        return tuple(dict.fromkeys([*given, *self.indices]))

    def bound(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the given inputs, with selections in place of index tensors.

        Those of arguments that no result needs are left out.

        Raises
        ------
        DataError
            Index tensors of other shapes, or places outside of a table.
        """
        if self.imported is None:
            return dict(given)
        given = self.imported.supplied(given)
        if not self.indices:
            return dict(given)
        index = {name: given[name] for name in self.indices if name in given}
        others = {name: x for name, x in given.items() if name not in index}
        for lookup in self.imported.lookups:
            missing = [n for n in lookup.indices if n not in index]
            read = lookup.tensor.name in self.program.inputs
            if read and missing and lookup.tensor.name not in given:
                raise DataError(
                    f"data of input {missing[0]} are missing",
                    hint=f"inputs: {', '.join(self.named)}",
                )
        return {**self.imported.bind(index).data, **others}

    def drawn(self, seed: int) -> Mapping[str, Any]:
        """Random index tensors."""
        return {} if self.imported is None else self.imported.drawn(seed)
