"""Which code specifies a primitive: its golden model.

It is registered under the name of the primitive's catalogue entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.samml.registry import Registry
from fuseloom.dataflow.sim.process import Behaviour, Process
from fuseloom.errors import SimulationError
from fuseloom.program.storage import StoredTensor

GoldenModel = Callable[[Process], Behaviour]
Reader = Callable[[Node, StoredTensor], dict[str, npt.NDArray[Any]]]


@dataclass(frozen=True)
class Implementation:
    """The code of one primitive.

    Attributes
    ----------
    generator : callable
        The executable specification (``fuseloom.dataflow.sim.golden.interpreter`` runs it).
    reads : callable or None
        The arrays a node needs of the tensor its parameter ``tensor`` names.
    """

    generator: GoldenModel
    reads: Reader | None = None


IMPLEMENTATIONS: Registry[Implementation] = Registry(
    "golden", "golden model", lambda entry: {entry.name, entry.memory.stalled or entry.name}
)
"""Every primitive's implementation, by its name."""


def golden_model(name: str, reads: Reader | None = None) -> Callable[[GoldenModel], GoldenModel]:
    """Decorator: this generator specifies the primitive of that name."""

    def register(generator: GoldenModel) -> GoldenModel:
        IMPLEMENTATIONS.add(name, Implementation(generator, reads))
        return generator

    return register


@contextmanager
def instead(name: str, generator: GoldenModel) -> Iterator[None]:
    """Let another generator stand for the primitive of that name, for a while.

    Raises
    ------
    SimulationError
        If nothing runs it.
    """
    reads = implementation(name).reads
    with IMPLEMENTATIONS.instead({name: Implementation(generator, reads)}):
        yield


def implementation(name: str) -> Implementation:
    """Return the implementation of the primitive of that name.

    Raises
    ------
    SimulationError
        If nothing does.
    """
    if name not in IMPLEMENTATIONS:
        raise SimulationError(
            f"the simulator cannot run the primitive {name!r}",
            hint=f"it runs: {', '.join(sorted(IMPLEMENTATIONS))}",
        )
    return IMPLEMENTATIONS[name]
