"""Registries of what families of primitives define by name: models, kernels, rules, words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

from fuseloom.dataflow.samml.catalogue import CATALOGUE, PRIMITIVES, modules
from fuseloom.dataflow.samml.primitive import Primitive
from fuseloom.errors import GraphError

T = TypeVar("T")


class Registry(Mapping[str, T]):
    """A mapping from names to what the modules of one part register.

    Those modules are imported when it is read for the first time, and everything that entries need
    must then be there.

    Parameters
    ----------
    part : str
        Name of the modules: ``golden``, ``kernels``.
    what : str
        What is registered, for messages.
    needed : callable
        The names that an entry needs.
    """

    def __init__(
        self, part: str, what: str, needed: Callable[[Primitive], Collection[str]]
    ) -> None:
        self.part = part
        self.what = what
        self.needed = needed
        self._items: dict[str, T] = {}
        self._complete = False

    def add(self, name: str, item: T) -> None:
        """Register something.

        Raises
        ------
        GraphError
            If the name is taken.
        """
        if name in self._items:
            raise GraphError(f"there are two {self.what}s of the name {name!r}")
        self._items[name] = item

    def registers(self, *names: str) -> Callable[[T], T]:
        """Decorator: register this under these names."""

        def register(item: T) -> T:
            for name in names:
                self.add(name, item)
            return item

        return register

    @contextmanager
    def instead(self, items: Mapping[str, T]) -> Iterator[None]:
        """Let these stand under their names for a while."""
        before = dict(self._all())
        self._items.update(items)
        try:
            yield
        finally:
            self._items.clear()
            self._items.update(before)

    def _all(self) -> Mapping[str, T]:
        """Everything that is registered.

        Raises
        ------
        GraphError
            If an entry needs what is not, naming it and the primitive.
        """
        if not self._complete:
            for _ in modules(self.part):
                pass
            for entry in CATALOGUE.values():
                for name in sorted(self.needed(entry)):
                    if name not in self._items:
                        raise GraphError(
                            f"the primitive {entry.name!r} has no {self.what} of the name {name!r}",
                            hint=f"register one in {PRIMITIVES}.<family>.{self.part}",
                        )
            self._complete = True
        return self._items

    def __getitem__(self, name: str) -> T:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())
