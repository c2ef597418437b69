"""Reading the fields of JSON objects that others may have written, one by one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

from fuseloom.errors import RecordError

T = TypeVar("T")
E = TypeVar("E", bound=Enum)


@dataclass(frozen=True)
class Fields:
    """An object with the right names; each method takes a field of one type.

    All raise :class:`RecordError`, which names the field.

    Attributes
    ----------
    where : str
        Path of the object in its document.
    """

    data: Mapping[str, Any]
    where: str

    @classmethod
    def of(cls, data: Any, where: str, names: Sequence[str]) -> Fields:
        """An object that has exactly these names."""
        if not isinstance(data, Mapping):
            raise _wrong(where, data, "an object")
        if missing := [name for name in names if name not in data]:
            raise RecordError(f"{where} has no {missing[0]!r}")
        if unknown := [name for name in data if name not in names]:
            raise RecordError(
                f"{where} has an unknown {str(unknown[0])[:40]!r}",
                hint=f"known: {', '.join(names)}",
            )
        return cls(data, where)

    def text(self, name: str) -> str:
        """A text."""
        value = self.data[name]
        if not isinstance(value, str):
            raise self._no(name, "a text")
        return value

    def flag(self, name: str) -> bool:
        """True or false."""
        value = self.data[name]
        if not isinstance(value, bool):
            raise self._no(name, "true or false")
        return value

    def number(self, name: str) -> float:
        """A finite number that is not negative."""
        value = self.data[name]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._no(name, "a number")
        if not (isinstance(value, int) or math.isfinite(value)) or value < 0:
            raise self._no(name, "a finite number that is not negative")
        return value

    def whole(self, name: str) -> int:
        """An integer that is not negative."""
        value = self.data[name]
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self._no(name, "an integer that is not negative")
        return value

    def mapping(self, name: str) -> Mapping[str, Any]:
        """An object, as it is."""
        value = self.data[name]
        if not isinstance(value, Mapping):
            raise self._no(name, "an object")
        return value

    def numbers(self, name: str) -> dict[str, float]:
        """An object of finite numbers that are not negative."""
        inner = Fields(self.mapping(name), f"{self.where}.{name}")
        return {key: inner.number(key) for key in inner.data}

    def items(self, name: str) -> Iterator[tuple[Any, str]]:
        """The items of a list, each with its path."""
        value = self.data[name]
        if not isinstance(value, list | tuple):
            raise self._no(name, "a list")
        return ((item, f"{self.where}.{name}[{k}]") for k, item in enumerate(value))

    def mappings(self, name: str) -> tuple[Mapping[str, Any], ...]:
        """A list of objects, as they are."""
        found = []
        for item, place in self.items(name):
            if not isinstance(item, Mapping):
                raise _wrong(place, item, "an object")
            found.append(item)
        return tuple(found)

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts."""
        found = []
        for item, place in self.items(name):
            if not isinstance(item, str):
                raise _wrong(place, item, "a text")
            found.append(item)
        return tuple(found)

    def sizes(self, name: str) -> tuple[int, ...]:
        """A list of integers that are not negative."""
        found = []
        for item, place in self.items(name):
            if isinstance(item, bool) or not isinstance(item, int) or item < 0:
                raise _wrong(place, item, "an integer that is not negative")
            found.append(item)
        return tuple(found)

    def one_of(self, name: str, kinds: type[E]) -> E:
        """A member of an enum by its value."""
        for kind in kinds:
            if kind.value == self.data[name]:
                return kind
        raise self._no(name, " or ".join(repr(kind.value) for kind in kinds))

    def optional(self, name: str, read: Callable[[str], T]) -> T | None:
        """The field as another method reads it, or None where it is null."""
        return None if self.data[name] is None else read(name)

    def require(self, name: str, value: Any, what: str) -> None:
        """That the field has this value."""
        found = self.data[name]
        if isinstance(found, bool) or found != value:
            raise self._no(name, f"{value}, {what}")

    def _no(self, name: str, wanted: str) -> RecordError:
        return _wrong(f"{self.where}.{name}", self.data[name], wanted)


def _wrong(place: str, value: Any, wanted: str) -> RecordError:
    shown = repr(value) if isinstance(value, str | int | float | None) else type(value).__name__
    return RecordError(f"{place} is {shown[:60]}", hint=wanted)
