"""Energies of a machine's actions from models of components, which the package hwcomponents has.

hwcomponents is the successor of Accelergy; its models are in packages of their own, such as CACTI
for memories (hwcomponents-cacti) and units of published accelerators (hwcomponents-library).  A
figure is replaced where an installed model has its component, and kept where none has
(``docs/spec/energy.md`` §6).
"""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module, metadata
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import Any

from fuseloom.dataflow.machine.energy import SRAM_BYTES, Energy, is_ddr4
from fuseloom.dataflow.machine.machine import Machine
from fuseloom.dataflow.machine.text import print_machine
from fuseloom.errors import SimulationError, printable, shortened
from fuseloom.results.declarations import Amount, Record
from fuseloom.results.energy import PICO

PROVIDER = "hwcomponents"
TECHNOLOGY = 45
"""Nanometres of the process that the defaults are of."""
LEAST_TECHNOLOGY, MOST_TECHNOLOGY = 7, 90
"""Nanometres between which the models are fitted, or scaled by published factors."""
WORD = 32
"""Bits of a number, and of a word of a memory."""
_LONGEST_CAUSE = 300
_CAUSE = re.compile(r"^[|\s]*(\w*(?:Error|Exception): .*\S)", re.MULTILINE)
"""The exception of a model, in the log that hwcomponents gives for a message."""


@dataclass(frozen=True)
class ModelledFigure(Record):
    """One figure of the table ``energy``, with the model it was asked of.

    Attributes
    ----------
    field : str
        Its name in the table.
    picojoules : float or None
        The figure, pJ; None is as of the memory's kind.
    component : str or None
        The component that has it; None of a figure that is of no single one.
    parameters : Mapping
        Parameters of the component: numbers in bits, the technology node (tech_node) in metres.
    actions : tuple of str
        The actions of the component whose mean it is.
    model : str or None
        Class of the model that gave it; None of a figure that is kept.
    version : str or None
        Version of the package of that class; None of a figure that is kept, and of a package that
        tells none.
    note : str
        Where it comes from, or why it is kept.
    """

    field: str
    picojoules: Amount | None
    component: str | None
    parameters: Mapping[str, Amount]
    actions: tuple[str, ...]
    model: str | None
    version: str | None
    note: str


@dataclass(frozen=True)
class ModelledEnergy(Record):
    """The figures of a table ``energy`` that models of components gave.

    Attributes
    ----------
    provider, version : str
        The package that chooses the models.
    technology : int
        Process, nm.
    figures : tuple of ModelledFigure
        Every energy of the table, in its order; sizes are no figures.
    """

    provider: str
    version: str
    technology: int
    figures: tuple[ModelledFigure, ...]


@dataclass(frozen=True)
class ModelledMachine:
    """A machine whose energies are from models of components, and what each is from."""

    machine: Machine
    energy: ModelledEnergy

    def text(self) -> str:
        """TOML that :func:`~fuseloom.dataflow.machine.text.parse_machine` reads back."""
        energy = self.energy
        lines = print_machine(self.machine).split("\n")[:-1]
        start = lines.index("[energy]") if "[energy]" in lines else len(lines)
        unsaid = []
        for figure in energy.figures:
            comment = f"# {figure.note}"
            place = _line(lines, start, f"{figure.field} = ")
            if place is None:
                unsaid.append(f"# {figure.field}: {figure.note}")
            else:
                lines.insert(place, comment)
        head = (
            f"# energies for {energy.technology} nm by {energy.provider} {energy.version}; "
            "those that are kept are not scaled"
        )
        end = next((k for k in range(start, len(lines)) if not lines[k]), len(lines))
        return "\n".join([head, *lines[:end], *unsaid, *lines[end:]]) + "\n"


def _line(lines: list[str], start: int, beginning: str) -> int | None:
    """The first line from a place on that begins so, before the next empty one."""
    for place in range(start, len(lines)):
        if not lines[place]:
            return None
        if lines[place].startswith(beginning):
            return place
    return None


@dataclass(frozen=True)
class _Component:
    """A component with the figure, and how its models are asked for it."""

    name: str
    actions: tuple[str, ...]
    parameters: Mapping[str, int] | None = None
    scaled: bool = True
    per_bit: bool = False

    def attributes(self, technology: int) -> dict[str, float]:
        """The parameters of the component, in the units of hwcomponents."""
        given: dict[str, float] = dict(self.parameters or {})
        return {**given, "tech_node": technology / 1e9} if self.scaled else given


_UNIT = {"width": WORD}
_UNITS: Mapping[str, _Component] = {
    "add": _Component("FPAdder", ("add",), _UNIT),
    "multiply": _Component("FPMultiplier", ("multiply",), _UNIT),
    "compare": _Component("FPComparator", ("compare",), _UNIT),
    "divide": _Component("FPDivider", ("divide",), _UNIT),
    "integer": _Component("IntAdder", ("add",), _UNIT),
    "sram_word": _Component("SRAM", ("read", "write"), {"width": WORD, "size": 8 * SRAM_BYTES}),
}
_ORDER = tuple(
    name for name in Energy.__dataclass_fields__ if name not in ("buffer_bytes", "unbounded_depth")
)


def with_modelled_energy(machine: Machine, technology: int = TECHNOLOGY) -> ModelledMachine:
    """The machine with the energies that installed models of hwcomponents have.

    ``memory_bit`` is asked of the memory's kind, HBM2 or DDR4.  Such a model has joules per bit and
    no action for rows, so that ``row_bit`` is 0 where it is replaced.

    Parameters
    ----------
    technology : int
        Process of units and SRAMs, nm.

    Raises
    ------
    SimulationError
        If hwcomponents is not installed, the technology is beyond its models, or a model of a
        component fails.
    """
    if not LEAST_TECHNOLOGY <= technology <= MOST_TECHNOLOGY:
        raise SimulationError(
            f"no models of energy are for {technology:,} nm",
            hint=f"a process from {LEAST_TECHNOLOGY} to {MOST_TECHNOLOGY} nm",
        )
    try:
        provider = import_module(PROVIDER)
    except ImportError:
        raise SimulationError(
            "hwcomponents is not installed",
            hint="pip install 'fuseloom[energy]', which needs Python 3.12 or later (this is "
            f"{platform.python_version()})",
        ) from None
    energy = machine.energy
    asked = {
        name: _figure(provider, name, component, technology, energy)
        for name, component in _UNITS.items()
    }
    asked["special"] = ModelledFigure(
        "special", energy.special, None, {}, (), None, None, "kept: of no single component"
    )
    kind = "DDR4" if is_ddr4(machine.memory) else "HBM2"
    memory = _Component(kind, ("read", "write"), scaled=False, per_bit=True)
    moved = asked["memory_bit"] = _figure(provider, "memory_bit", memory, technology, energy)
    taken = moved.model is not None
    asked["row_bit"] = replace(
        moved,
        field="row_bit",
        picojoules=0.0 if taken else energy.row_bit,
        note=f"in memory_bit: {kind} has no action for rows" if taken else moved.note,
    )
    figures = tuple(asked[name] for name in _ORDER)
    new: dict[str, Any] = {one.field: one.picojoules for one in figures if one.model is not None}
    version = _version(PROVIDER) or "of unknown version"
    return ModelledMachine(
        replace(machine, energy=replace(energy, **new)),
        ModelledEnergy(PROVIDER, version, technology, figures),
    )


def _figure(
    provider: Any, field: str, component: _Component, technology: int, energy: Energy
) -> ModelledFigure:
    """One figure as the best model has it, or as it was if there is no model."""
    parameters = component.attributes(technology)
    shown = ", ".join(f"{name}={value:g}" for name, value in parameters.items())
    called = f"{component.name}({shown})" if shown else component.name
    try:
        model = provider.get_model(component.name, dict(parameters), list(component.actions))
        arguments = {"bits_per_action": 1} if component.per_bit else {}
        costs = [getattr(model, action)(**arguments).energy for action in component.actions]
    except Exception as problem:  # whatever a model raises
        if type(problem).__name__ != "EstimatorError":
            raise _failure(called, component, _cause(problem)) from None
        return ModelledFigure(
            field, getattr(energy, field), component.name, parameters, component.actions,
            None, None, f"kept: no installed model has {called}",
        )  # fmt: skip
    for name, cost in zip(component.actions, costs, strict=True):
        if not (isinstance(cost, int | float) and isfinite(cost) and cost >= 0):
            raise _failure(called, component, f"{name} takes {cost!r} J")
    picojoules = float(f"{sum(costs) / len(costs) / PICO:.6g}")
    kind = type(model)
    package = kind.__module__.partition(".")[0]
    version = _version(package)
    action = ("mean of " if len(costs) > 1 else "") + " and ".join(component.actions)
    bit = " of a bit" if component.per_bit else ""
    note = f"{called}, {action}{bit}: {kind.__qualname__} of {package}"
    return ModelledFigure(
        field, picojoules, component.name, parameters, component.actions,
        f"{kind.__module__}.{kind.__qualname__}", version,
        printable(f"{note} {version}" if version else note),
    )  # fmt: skip


def _version(package: str) -> str | None:
    """The version of an installed package, if it tells one."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _cause(problem: Exception) -> str:
    """The reason for which a model failed, from a message that is a log of many lines."""
    text = str(problem)
    causes = _CAUSE.findall(text)
    if causes:
        return str(causes[-1]).partition(" Run command: ")[0]
    lines = [line.strip("| \t") for line in text.splitlines()]
    told = next((line for line in reversed(lines[:-1]) if "not " in line), "")
    return told or f"{type(problem).__name__}: {lines[0] if lines else ''}"


def _failure(called: str, component: _Component, cause: str) -> SimulationError:
    hint = "'hwc --list' names the components that installed models have"
    if component.name == "SRAM" and (folder := _cacti()):
        hint = f"where CACTI does not start, compile it: make -C {folder} opt"
    return SimulationError(
        f"hwcomponents: the model of {called} fails: {shortened(printable(cause), _LONGEST_CAUSE)}",
        hint=hint,
    )


def _cacti() -> Path | None:
    """The folder of CACTI's sources, where its package is installed."""
    spec = find_spec("hwcomponents_cacti")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "cacti"
    return folder if folder.is_dir() else None
