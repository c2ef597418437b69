"""Compositions as calls on whole data structures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuseloom.calls.annotated import DataHandle, IntegerArgument
from fuseloom.calls.composition import Composition
from fuseloom.calls.polynomials import DataField, Symbol
from fuseloom.calls.resolution import whole_parts


class WholeCalls:
    """A composition as calls on whole arrays, one after another.

    Parameters
    ----------
    composition : Composition
    given : mapping
        Arrays by name, the result's room among them; and integer arguments.

    Examples
    --------
    >>> import numpy as np
    >>> from fuseloom.calls.pipelines import PIPELINES
    >>> case = PIPELINES["add6"].make({"n": 10})
    >>> WholeCalls(case.composition, case.arguments)()
    >>> bool(np.allclose(case.result, case.expected))
    True
    """

    def __init__(self, composition: Composition, given: Mapping[str, Any]) -> None:
        self.composition = composition
        self.given = given
        values: dict[Symbol | DataField, int] = {
            Symbol(name): given[name] for name in composition.integers
        }
        for handle in (*composition.given, composition.result):
            for field, extent in handle.kind.whole(given[handle.name]).items():
                values[DataField(handle.name, field)] = extent
        self.fields = {
            handle: {name: value.evaluate(values) for name, value in part.items()}
            for handle, part in whole_parts(composition).items()
        }
        self.rooms = self._rooms()

    def _rooms(self) -> dict[DataHandle, Any]:
        return {
            handle: handle.kind.allocate(fields)
            for handle, fields in self.fields.items()
            if handle != self.composition.result
        }

    def __call__(self, *, fresh: bool = False) -> None:
        """Compute the result.

        Parameters
        ----------
        fresh : bool
            Allocate the intermediates anew.
        """
        rooms = self._rooms() if fresh else self.rooms
        composition = self.composition
        given = {handle: self._whole(handle) for handle in composition.given}
        result = composition.result
        given[result] = self._whole(result)
        for call in composition.calls:
            arguments = []
            for value in call.arguments.values():
                if isinstance(value, DataHandle):
                    arguments.append(rooms[value] if value in rooms else given[value])
                elif isinstance(value, IntegerArgument):
                    arguments.append(self.given[value.name])
                else:
                    arguments.append(value)
            call.function.function(*arguments)
        target = self.given[result.name]
        result.kind.insert(target, result.kind.whole(target), given[result])

    def _whole(self, handle: DataHandle) -> Any:
        """All of a data structure, as calls take it."""
        value = self.given[handle.name]
        return handle.kind.query(value, handle.kind.whole(value))

    @property
    def moved_bytes(self) -> int:
        """Bytes of arrays that the calls read and write."""
        moved = 0
        for call in self.composition.calls:
            for handle in (*call.inputs, call.output):
                array = self.rooms.get(handle, self.given.get(handle.name))
                moved += getattr(array, "nbytes", 0)
        return moved
