"""A computation, and how it is to be mapped: all that a visitor chooses on the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from fuseloom.access.hardware import SystolicArray
from fuseloom.access.memory import BufferedMemory
from fuseloom.access.named_kernels import KERNELS
from fuseloom.access.rules.sets import SETS
from fuseloom.access.saturation.saturate import SaturationLimits
from fuseloom.access.torch_networks import NETWORKS
from fuseloom.errors import ProgramError

LONGEST = 20_000
"""Characters of a term, or of a visitor's rules, that are read."""
SOURCES = ("kernel", "network", "term")
MOST: Mapping[str, float] = {
    "rows": 512, "columns": 512, "bandwidth": 65_536, "buffer": 2**30, "word_bytes": 8,
    "iterations": 100, "nodes": 50_000, "seconds": 30, "layer": 999, "seed": 2**31 - 1,
}  # fmt: skip
"""The largest value of each number."""
_LEAST = {"layer": 0, "seed": 0}


@dataclass(frozen=True)
class MappingQuestion:
    """The question about a computation.

    Attributes
    ----------
    source : str
        Where the term comes from: ``kernel``, ``network`` or ``term``.
    kernel, extents : str
        As ``fuseloom access`` takes them; an einsum string is a kernel, too.
    network : str
        The name of one of PyTorch's networks.
    layer : int
        The number of its layer, from 0 on.
    term : str
        The text of a term.
    rows, columns : int
        Of the array.
    bandwidth : float
        Bytes per cycle.
    buffer, word_bytes : int
        Bytes.
    double_buffered : bool
    sets : tuple of str
        Sets of rules.
    own : str
        The visitor's rules.
    without : tuple of str
        Rules that are off.
    iterations, nodes : int
    seconds : float
        Limits of the saturation.
    optimal : bool
        Extract by CP-SAT.
    seed : int
        Of the random data.

    Examples
    --------
    >>> MappingQuestion().changed({"rows": 16, "columns": 16}).array
    SystolicArray(rows=16, columns=16)
    """

    source: str = "kernel"
    kernel: str = "conv2d"
    extents: str = KERNELS["conv2d"].example
    network: str = "lenet"
    layer: int = 0
    term: str = ""
    rows: int = 64
    columns: int = 64
    bandwidth: float = 64.0
    buffer: int = 2**20
    word_bytes: int = 2
    double_buffered: bool = True
    sets: tuple[str, ...] = ("boxes",)
    own: str = ""
    without: tuple[str, ...] = ()
    iterations: int = 60
    nodes: int = 20_000
    seconds: float = 20.0
    optimal: bool = False
    seed: int = 0

    @property
    def array(self) -> SystolicArray:
        """The array."""
        return SystolicArray(self.rows, self.columns)

    @property
    def memory(self) -> BufferedMemory:
        """The memory beside it."""
        return BufferedMemory(self.bandwidth, self.buffer, self.word_bytes, self.double_buffered)

    @property
    def limits(self) -> SaturationLimits:
        """The limits of the saturation."""
        return SaturationLimits(self.iterations, self.nodes, self.seconds)

    @property
    def computation(self) -> tuple[Any, ...]:
        """The choices on which the term and its data depend."""
        match self.source:
            case "kernel":
                return self.source, self.kernel, self.extents, self.seed
            case "network":
                return self.source, self.network, self.seed
        return self.source, self.term, self.seed

    def changed(self, changes: Mapping[str, Any]) -> MappingQuestion:
        """The same with other values, as a browser sends them.

        Naming a kernel, a network or a term makes that the source; another kernel begins with
        extents that fit it, another network with its first layer.

        Raises
        ------
        ProgramError
            Of a value that is none.
        """
        made = self
        for key, value in changes.items():
            made = replace(made, **{key: _value(key, value)})
        if "source" not in changes:
            named = [key for key in SOURCES if key in changes]
            made = replace(made, source=named[0]) if named else made
        if made.kernel != self.kernel and "extents" not in changes:
            known = KERNELS.get(made.kernel)
            made = replace(made, extents=known.example if known else _extents_of(made.kernel))
        if made.network != self.network and "layer" not in changes:
            made = replace(made, layer=0)
        return made

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


_FIELDS = {field.name: field for field in fields(MappingQuestion)}
_CHOICES = {"source": SOURCES, "network": tuple(NETWORKS)}


def _extents_of(einsum: str) -> str:
    """Extents for the indices of an einsum string."""
    letters = dict.fromkeys(x for x in einsum.partition("->")[0] if x.isalpha())
    return ",".join(f"{x}=32" for x in letters)


def _value(key: str, value: Any) -> Any:
    """A value of that name, or an error that says what is expected."""
    if key not in _FIELDS:
        raise ProgramError(
            f"nothing is called {key[:40]!r} here", hint=f"there are {', '.join(_FIELDS)}"
        )
    kind = type(_FIELDS[key].default)
    if kind in (int, float):
        return _number(key, value, kind)
    if kind is bool and isinstance(value, bool):
        return value
    if kind is str and isinstance(value, str):
        return _text(key, value)
    if kind is tuple and isinstance(value, (list, tuple)) and len(value) <= 100:
        return _names(key, value)
    raise ProgramError(f"{str(value)[:60]!r} is no value of {key}", hint="undo the change")


def _number(key: str, value: Any, kind: type) -> Any:
    least, most = _LEAST.get(key, 1), MOST[key]
    fits = isinstance(value, int) or (kind is float and isinstance(value, float))
    if isinstance(value, bool) or not fits or not least <= value <= most:
        named = key.replace("_", " ")
        what = "an integer" if kind is int else "a number"
        raise ProgramError(f"{named} is {what} from {least} to {most:g}, not {str(value)[:20]}")
    return kind(value)


def _text(key: str, value: str) -> str:
    if len(value) > LONGEST:
        raise ProgramError(f"a text of more than {LONGEST:,} characters is not read here")
    if key in _CHOICES and value not in _CHOICES[key]:
        raise ProgramError(f"{value[:40]!r} is no {key}", hint=f"there are {_listed(key)}")
    return value.strip()


def _listed(key: str) -> str:
    return ", ".join(_CHOICES[key])


def _names(key: str, value: list[Any] | tuple[Any, ...]) -> tuple[str, ...]:
    if not all(isinstance(name, str) and len(name) <= 80 for name in value):
        raise ProgramError(f"{key} are names", hint="undo the change")
    unknown = [name for name in value if key == "sets" and name not in SETS]
    if unknown:
        raise ProgramError(f"{unknown[0]!r} is no set of rules", hint=f"sets are {', '.join(SETS)}")
    return tuple(dict.fromkeys(value))
