"""Records whose fields are made when somebody looks at one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import Field, fields
from threading import RLock
from typing import Any, ClassVar, Self

_LOCK = RLock()


class LateFields:
    """A dataclass of which some fields may be made later, all at once.

    Fields that may be late have no plain default, which would be found in their place.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Pair(LateFields):
    ...     left: int
    ...     right: int
    >>> pair = Pair.late(lambda: Pair(1, 2), left=1)
    >>> pair.left, "right" in vars(pair), pair.right, pair == Pair(1, 2)
    (1, False, 2, True)
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @classmethod
    def late(
        cls,
        make: Callable[[], Self],
        apart: Mapping[str, Callable[[], Any]] | None = None,
        **known: Any,
    ) -> Self:
        """A record equal to the one that ``make`` gives, of which some fields are known.

        Parameters
        ----------
        apart : mapping, optional
            Fields that can be made by themselves, with less work.
        """
        made = object.__new__(cls)
        made.__dict__.update(known, _make=make, _apart=dict(apart or {}))
        return made

    def __getattr__(self, name: str) -> Any:
        if name in type(self).__dataclass_fields__:
            with _LOCK:
                if name not in self.__dict__ and name in self.__dict__.get("_apart", ()):
                    self.__dict__[name] = self.__dict__["_apart"][name]()
                elif name not in self.__dict__ and "_make" in self.__dict__:
                    made = self.__dict__["_make"]()
                    for field in fields(made):
                        self.__dict__.setdefault(field.name, getattr(made, field.name))
                    del self.__dict__["_make"], self.__dict__["_apart"]
            if name in self.__dict__:
                return self.__dict__[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        """All fields, made where they were not; not what they were made by."""
        for field in fields(self):
            getattr(self, field.name)
        return {k: v for k, v in self.__dict__.items() if not k.startswith("_")}
