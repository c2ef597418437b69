"""Which tensors of a program have the same coordinates, told from the program and its inputs.

What a tensor holds follows from its statement and what the operands hold.  So tensors that are
computed alike from inputs that are alike have the same coordinates: those of the second decoder of
a transformer are those of the first.  They are found out once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Mapping

import numpy as np

from fuseloom.dataflow.cost.context import EstimateContext
from fuseloom.program.completeness import complete_tensors
from fuseloom.program.levels import arrays_of
from fuseloom.program.storage import StoredTensor
from fuseloom.program.types import Program

_WHOLE = "every coordinate"


class Contents:
    """Numbers of tensors, equal where shape, format and coordinates are.

    Parameters
    ----------
    data : mapping
        Every input by name.
    like : Contents, optional
        Those of the same program on the same data with tensors stored otherwise: equal numbers are
        equal there, too.
    """

    def __init__(
        self,
        program: Program,
        data: Mapping[str, StoredTensor],
        like: Contents | None = None,
    ) -> None:
        self.program = program
        self._numbers: dict[Hashable, int] = like._numbers if like else {}
        self._of: dict[str, int] = {}
        self._names: dict[int, list[str]] = {}
        complete = complete_tensors(program)
        for name in program.inputs:
            self._add(name, _WHOLE if name in complete else _digest(data[name]))
        for statement in program.statements:
            number: dict[str, int] = {}
            for x in statement.indices:
                number.setdefault(x, len(number))
            accesses = (statement.out, *statement.operands)
            places = tuple(tuple(number.get(x, x) for x in a.indices) for a in accesses)
            axis = number.get(statement.axis or "")
            operands = tuple(self._of[a.tensor] for a in statement.operands)
            told: Hashable = (statement.op.value, axis, places, operands)
            self._add(statement.out.tensor, _WHOLE if statement.out.tensor in complete else told)

    def _add(self, name: str, told: Hashable) -> None:
        tensor = self.program.tensor(name)
        key = (tensor.shape, tensor.format, told)
        number = self._of[name] = self._numbers.setdefault(key, len(self._numbers))
        self._names.setdefault(number, []).append(name)

    def __getitem__(self, name: str) -> int:
        return self._of[name]

    def equal_contents(self, name: str) -> Iterable[str]:
        """All tensors with the same coordinates, itself among them."""
        return self._names[self._of[name]]

    def shared(self, name: str, context: EstimateContext) -> bool:
        """Take a tensor's coordinates from one that is known to have them; whether there is one."""
        for other in self.equal_contents(name):
            if other != name and other in context.patterns.written:
                context.patterns.share(name, other)
                return True
        return False


def _digest(stored: StoredTensor) -> str:
    """Of the coordinates alone."""
    digest = hashlib.sha256()
    for level in stored.levels:
        for array in arrays_of(level):
            digest.update(f"{len(array)};".encode())
            digest.update(np.ascontiguousarray(array, dtype="<i8").tobytes())
        digest.update(b"|")
    return digest.hexdigest()
