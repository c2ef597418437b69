"""The space of a sweep: a configuration, and axes with the values to try in its place.

| axis | values |
|---|---|
| ``model``, ``data``, ``seed`` | names of models and data sets; seeds of random data |
| ``with.NAME`` | sizes and densities of the model |
| ``preset``, ``schedule`` | names of presets, or of schedules that the space holds |
| ``cuts`` | ``all``: every way to cut the statements, in program order, into regions |
| ``order`` | ``best``, ``first``, or ``all``: one order of every distinct graph of every region |
| ``block`` | edges of blocks, ``none`` for no blocks |
| ``lanes.INDEX`` | numbers of lanes that an index is dealt to |
| ``machine`` | names of machine presets, or of machines that the space holds |
| ``capacity`` | tokens of every channel, ``sized`` for what no data can deadlock, ``none`` |
| ``SIZE`` | values of a size of the machine, such as ``load_latency`` |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import product
from math import prod
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fuseloom.arguments import check_fields
from fuseloom.dataflow.machine import PRESETS, Machine
from fuseloom.dataflow.what_if import with_size
from fuseloom.errors import DataError
from fuseloom.models import DATASETS, MODELS
from fuseloom.program import Program, StoredTensor, regular_files
from fuseloom.program.formats import suggestion
from fuseloom.program.inputs import check_data
from fuseloom.results.record import DataSource
from fuseloom.wording import counted

MOST_VALUES = 10_000
"""Values of an axis."""
_NUMBER = re.compile(r"\d{1,12}")
_INDEX = re.compile(r"[A-Za-z_][A-Za-z0-9_']*")
FREE = ("model", "data", "seed", "with.NAME", "preset", "schedule", "cuts", "order", "block",
        "lanes.INDEX", "machine", "capacity")  # fmt: skip
"""Axes, beside the sizes of a machine."""
SIZES = tuple(
    f.name
    for f in fields(Machine)
    if f.name != "channel_capacity" and type(getattr(Machine.default(), f.name)) is int
)
"""Sizes of a machine."""


@dataclass(frozen=True)
class ProgramWithData:
    """A program with its data.

    Attributes
    ----------
    name, label : str
        What people call the program, and the data.
    presets : mapping of str to str
        Schedules by name.
    """

    program: Program
    data: Mapping[str, StoredTensor] = field(repr=False)
    name: str = ""
    label: str = ""
    presets: Mapping[str, str] = field(default_factory=dict)
    source: DataSource | None = None

    @classmethod
    def of(
        cls, program: Program, data: Mapping[str, Any], presets: Mapping[str, str] | None = None
    ) -> ProgramWithData:
        """A program and arrays of any kind that :func:`fuseloom.program.check_data` takes.

        Raises
        ------
        DataError
            If they do not fit.
        """
        return cls(program, check_data(program, data), program.name, "", presets or {})


@dataclass(frozen=True)
class Base:
    """The configuration that axes vary: what holds of everything that no axis names.

    Attributes
    ----------
    of : str or ProgramWithData
        The name of a model, or a program with its data; ``data``, ``data_dir``, ``sizes`` and
        ``seed`` go with a name.
    preset, schedule : str or None
        The name of a preset, or the text of a schedule; neither: every statement alone.
    order : str
        ``best``, ``first`` or ``all``, of regions whose order the schedule leaves open.
    capacity : str or None
        As the axis: tokens, ``sized`` or ``none``; None for what the machine has.

    Examples
    --------
    >>> import fuseloom as fl
    >>> base = fl.Base("gcn", "karate", preset="partial", capacity="sized")
    >>> found = fl.explore(fl.Space(base, {"lanes.i": [1, 2]}))
    >>> [row.estimated for row in found.rows]
    [15353.715791875857, 8005.715791875856]
    """

    of: str | ProgramWithData = "gcn"
    data: str | None = None
    data_dir: Path | None = None
    sizes: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    preset: str | None = None
    schedule: str | None = None
    order: str = "best"
    machine: Machine = field(default_factory=Machine.default)
    capacity: str | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        if self.capacity is not None:
            _check_capacity(self.capacity)
        _check_word("order", self.order, ORDERS)
        if self.preset is not None and self.schedule is not None:
            raise DataError("a preset and a schedule are given", hint="leave one of them out")
        if not isinstance(self.of, str) and (self.data is not None or self.sizes):
            raise DataError("data sets and sizes go with a model", hint="the program has its data")


@dataclass(frozen=True)
class Space:
    """Every combination of the values of some axes.

    Parameters
    ----------
    base : Base
    axes : mapping of str to sequence
        Values by axis, numbers or texts (see the table of this module).
    schedules, machines : mapping
        Texts of schedules, and machines, by the names that the axes use for them.

    Raises
    ------
    DataError, SimulationError
        If there is no such axis, or a value can be none of its.

    Examples
    --------
    >>> import fuseloom as fl
    >>> axes = {"preset": ["partial", "full"], "lanes.i": [1, 2, 4]}
    >>> fl.Space(fl.Base("gcn", "karate"), axes).size
    6
    """

    base: Base = field(default_factory=Base)
    axes: Mapping[str, Any] = field(default_factory=dict)
    schedules: Mapping[str, str] = field(default_factory=dict)
    machines: Mapping[str, Machine] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_fields(self)
        if not isinstance(self.axes, Mapping):
            raise DataError("axes are given as values by name")
        found = {str(name): self._values(str(name), given) for name, given in self.axes.items()}
        object.__setattr__(self, "axes", MappingProxyType(found))
        for one, other in (("preset", "schedule"), ("schedule", "cuts")):
            if one in found and other in found:
                raise DataError(f"the axes {one} and {other} say both what is fused",
                                hint="leave one of them out")  # fmt: skip
        if not isinstance(self.base.of, str):
            odd = [n for n in found if n in ("model", "data", "seed") or n.startswith("with.")]
            if odd:
                raise DataError(f"the axis {odd[0]} goes with a model, not with a program")

    @property
    def size(self) -> int:
        """Combinations; what ``all`` stands for counts once."""
        return prod(len(values) for values in self.axes.values())

    @property
    def counted(self) -> bool:
        """True if the count is final: no axis has as many values as a program happens to have."""
        return self.base.order != "all" and not any(
            "all" in self.axes.get(name, ()) for name in ("cuts", "order")
        )

    def points(self) -> Iterator[dict[str, str]]:
        """Every combination: a value per axis.  Those of one program and data follow each other."""
        names = sorted(self.axes, key=_rank)
        for values in product(*(self.axes[name] for name in names)):
            point = dict(zip(names, values, strict=True))
            yield {name: point[name] for name in self.axes}

    def _values(self, name: str, given: Sequence[Any]) -> tuple[str, ...]:
        check = self._check(name)
        if isinstance(given, str) or not isinstance(given, Sequence | range):
            given = [given]
        values = tuple(dict.fromkeys(str(value).strip() for value in given))
        if not 1 <= len(values) <= MOST_VALUES:
            raise DataError(f"the axis {name} has {counted(len(values), 'value')}",
                            hint=f"from 1 to {MOST_VALUES:,}")  # fmt: skip
        for value in values:
            check(value)
        return values

    def _check(self, name: str) -> Callable[[str], None]:
        """Return the function that checks a value of an axis."""
        head, dot, tail = name.partition(".")
        match name:
            case "model":
                return lambda value: _check_word(name, value, MODELS)
            case "data":
                return _check_data_name
            case "preset":
                return lambda value: None  # another model may have it
            case "schedule":
                return lambda value: _check_word(name, value, self.schedules)
            case "machine":
                return lambda value: _check_word(name, value, {**PRESETS, **self.machines})
            case "cuts":
                return lambda value: _check_word(name, value, ("given", "all"))
            case "order":
                return lambda value: _check_word(name, value, ORDERS)
            case "seed":
                return lambda value: _check_number(name, value, 0)
            case "block":
                return lambda value: _check_number(name, value, 1, "none")
            case "capacity":
                return _check_capacity
        if head == "with" and tail:
            return lambda value: None  # the model says what it takes
        if head == "lanes" and dot and _INDEX.fullmatch(tail):
            return lambda value: _check_number(name, value, 1)
        if name in SIZES:
            return lambda value: _check_size(name, value)
        known = [*FREE, *SIZES]
        raise DataError(f"there is no axis {name[:40]!r}",
                        hint=suggestion(name, known) or ", ".join(known))  # fmt: skip


ORDERS = ("best", "first", "all")


def _rank(name: str) -> int:
    """Return the rank of an axis in the order of points: the costliest changes come first."""
    head = name.partition(".")[0]
    order = ("model", "data", "seed", "with", "preset", "schedule", "cuts", "block", "lanes",
             "machine", "order", "capacity")  # fmt: skip
    return order.index(head) if head in order else order.index("machine")


def _check_word(name: str, value: str, known: Sequence[str] | Mapping[str, Any]) -> None:
    if value not in known:
        raise DataError(f"{value[:60]!r} is no value of {name}",
                        hint=suggestion(value, [*known]) or ", ".join(known))  # fmt: skip


def _check_data_name(value: str) -> None:
    if value in DATASETS or regular_files.is_file(value) or regular_files.is_folder(value):
        return
    _check_word("data", value, DATASETS)


def _check_number(name: str, value: str, least: int, *words: str) -> None:
    if value in words or (_NUMBER.fullmatch(value) and int(value) >= least):
        return
    others = "".join(f", or {word}" for word in words)
    raise DataError(f"{value[:40]!r} is no value of {name}",
                    hint=f"an integer of at least {least}{others}")  # fmt: skip


def _check_capacity(value: str) -> None:
    _check_number("capacity", value, 1, "sized", "none")
    if value.isdecimal():
        Machine.default(int(value))


def _check_size(name: str, value: str) -> None:
    _check_number(name, value, 0)
    with_size(Machine.default(), name, int(value))
