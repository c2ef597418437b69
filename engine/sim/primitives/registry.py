"""Which code runs a primitive: its generator twin and, when there is one, its compiled kernel.

Both are registered under the name of the primitive's catalogue entry.  Importing
``engine.sim.primitives`` registers all twins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy.typing as npt

from engine.errors import SimulationError
from engine.program.storage import StoredTensor
from engine.samml.graph import Node
from engine.sim.process import Behaviour, Process

Twin = Callable[[Process], Behaviour]
Reader = Callable[[Node, StoredTensor], dict[str, npt.NDArray[Any]]]


@dataclass(frozen=True)
class Implementation:
    """The code of one primitive.

    Attributes
    ----------
    generator : callable or None
        The executable specification (``engine.sim.interpreter`` runs it).
    kernel : object or None
        What the compiled engine runs; only that engine looks into it.
    reads : callable or None
        The arrays a node needs of the tensor its parameter ``tensor`` names.
    """

    generator: Twin | None = None
    kernel: Any = None
    reads: Reader | None = None


_TABLE: dict[str, Implementation] = {}
IMPLEMENTATIONS = MappingProxyType(_TABLE)
"""Read-only view: catalogue name to implementation."""


def twin(name: str, reads: Reader | None = None) -> Callable[[Twin], Twin]:
    """Decorator: this generator specifies the primitive of that name."""

    def register(generator: Twin) -> Twin:
        entry = _TABLE.get(name, Implementation())
        _TABLE[name] = replace(entry, generator=generator, reads=reads)
        return generator

    return register


def register_kernel(name: str, kernel: Any) -> None:
    """Say which compiled kernel runs the primitive of that name."""
    _TABLE[name] = replace(_TABLE.get(name, Implementation()), kernel=kernel)


def implementation(name: str) -> Implementation:
    """What runs the primitive of that name.

    Raises
    ------
    SimulationError
        If nothing does.
    """
    if name not in _TABLE:
        raise SimulationError(
            f"the simulator cannot run the primitive {name!r}",
            hint=f"it runs: {', '.join(sorted(_TABLE))}",
        )
    return _TABLE[name]


def generator_of(name: str) -> Twin:
    """The generator twin of that primitive.

    Raises
    ------
    SimulationError
        If there is none.
    """
    found = implementation(name).generator
    if found is None:
        raise SimulationError(f"the primitive {name!r} has no generator twin")
    return found
