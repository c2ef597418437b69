"""What importing gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.program import Program, StoredTensor


@dataclass(frozen=True, eq=False)
class ImportedMlir:
    """An MLIR file as a program.

    Attributes
    ----------
    program : Program
        The operations that a returned value needs, of all functions in the order of the file;
        called functions stand where they are called.
    schedule : str
        One region per function, cut at reshapes.  Maps declare their dimensions in the dataflow
        order of their statement; where that is not the order in which the statement reads
        anyway, the schedule asks for it.
    data : mapping
        Inputs that the file holds as ``dense<...>``.
    arguments : mapping
        Input to the function and the number of the argument it is.
    resources : mapping
        Input to the ``dense_resource`` whose data are elsewhere.
    notes : tuple of str
        What differs from what the file says: storage that formats have no counterpart of, numbers
        that are not checked, operations that act on stored elements only, and what was left out.
    """

    program: Program
    schedule: str
    data: Mapping[str, StoredTensor]
    arguments: Mapping[str, tuple[str, int]]
    resources: Mapping[str, str]
    notes: tuple[str, ...] = ()

    @property
    def wanted(self) -> tuple[str, ...]:
        """Inputs whose data the file does not hold."""
        return tuple(name for name in self.program.given if name not in self.data)
