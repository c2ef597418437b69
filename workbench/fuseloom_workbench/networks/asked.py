"""A network, and what is asked of its loop nests: all that a visitor chooses on the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from fuseloom.contraction.shipped import SHIPPED
from fuseloom.errors import ProgramError

FIRST = "running example"
OPTIMISERS = ("opt_einsum", "cotengra")
LONGEST = 2000
"""Characters of a text that is looked at."""
MOST_PINS = 20


@dataclass(frozen=True)
class NetworkQuestion:
    """The question about a network.

    Attributes
    ----------
    name : str
        Of the network that it began as.
    einsum, extents, tree : str
        As ``fuseloom contract`` takes them; an empty tree contracts one operand after the other.
    density : float
        Of each operand's random elements.
    seed : int
    bound : int or None
        Most dimensions of every intermediate; None for the least that has a solution.
    bounds : tuple of (str, int)
        Per intermediate instead; empty where one is for all.
    encoding : str
        ``paper`` or ``released``.
    most_bytes : int or None
        Of an intermediate.
    pins : tuple of str

    Examples
    --------
    >>> NetworkQuestion.shipped("MTTKRP").changed({"density": 0.5, "pins": ["outermost i"]}).pins
    ('outermost i',)
    """

    name: str
    einsum: str
    extents: str
    tree: str
    density: float = 0.3
    seed: int = 0
    bound: int | None = None
    bounds: tuple[tuple[str, int], ...] = ()
    encoding: str = "paper"
    most_bytes: int | None = None
    pins: tuple[str, ...] = ()

    @classmethod
    def shipped(cls, name: str = FIRST) -> NetworkQuestion:
        """A network that comes with the program.

        Raises
        ------
        ProgramError
            If none is called so.
        """
        if name not in SHIPPED:
            raise ProgramError(
                f"no network is called {name!r}", hint=f"known: {', '.join(SHIPPED)}"
            )
        found = SHIPPED[name]
        return cls(name, found.einsum, found.extents, found.tree)

    def changed(self, changes: Mapping[str, Any]) -> NetworkQuestion:
        """The same with other values, as a browser sends them.

        What rests on a tree that is gone (bounds per intermediate, pins) is dropped with it.

        Raises
        ------
        ProgramError
            Of a value that is none.
        """
        made = self
        for key, value in changes.items():
            made = replace(made, **{key: _value(key, value)})
        if (made.einsum, made.extents, made.tree) != (self.einsum, self.extents, self.tree):
            kept = {key for key in ("bounds", "pins") if key in changes}
            made = replace(made, **{k: () for k in ("bounds", "pins") if k not in kept})
        if "bound" in changes and "bounds" not in changes:
            made = replace(made, bounds=())
        return made

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


_NAMES = frozenset(f.name for f in fields(NetworkQuestion))


def _value(key: str, value: Any) -> Any:
    """A value of that name, or an error that says what is expected."""
    match key, value:
        case "density", int() | float() if not isinstance(value, bool) and 0 < value <= 1:
            return float(value)
        case "density", _:
            raise ProgramError("a density is above 0 and at most 1", hint="write e.g. 0.1")
        case "seed", int() if not isinstance(value, bool) and 0 <= value < 2**31:
            return value
        case "seed", _:
            raise ProgramError("a seed is an integer from 0 on", hint="write e.g. 0")
        case (("bound" | "most_bytes"), None):
            return None
        case "bound", int() if not isinstance(value, bool) and value >= 0:
            return value
        case "most_bytes", int() if not isinstance(value, bool) and value > 0:
            return value
        case (("bound" | "most_bytes"), _):
            raise ProgramError(
                f"{key.replace('_', ' ')} is an integer", hint="leave it empty for no limit"
            )
        case "encoding", "paper" | "released":
            return value
        case "bounds", list() | tuple():
            pairs = [p for p in value if isinstance(p, (list, tuple)) and len(p) == 2]
            if len(pairs) == len(value) and all(
                isinstance(n, str) and isinstance(b, int) and not isinstance(b, bool)
                for n, b in pairs
            ):
                return tuple((n, b) for n, b in pairs)
        case "pins", list() | tuple() if len(value) <= MOST_PINS:
            if all(isinstance(p, str) and len(p) <= LONGEST for p in value):
                return tuple(p.strip() for p in value if p.strip())
        case (("name" | "einsum" | "extents" | "tree"), str()) if len(value) <= LONGEST:
            return value.strip()
    if key in _NAMES:
        raise ProgramError(f"{str(value)[:60]!r} is no value of {key}", hint="undo the change")
    raise ProgramError(f"nothing is called {key[:40]!r} here", hint=f"there are {sorted(_NAMES)}")
