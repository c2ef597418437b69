"""The catalogue of SAMML primitives: one entry each, and nothing else switches on a name.

An entry says what goes in and out and how deep it nests, how a picture shows it, what it means,
what work it does, and whatever other packages have to know of it: its traits
(:mod:`fuseloom.dataflow.samml.traits`).  Entries, and all else that is known of a primitive, lie in
the folder of its family in :mod:`fuseloom.dataflow.primitives`.  Rules: ``docs/spec/machine.md`` §3
to §9.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType, ModuleType

from fuseloom.dataflow.samml.primitive import Primitive
from fuseloom.errors import GraphError

__all__ = ["CATALOGUE", "FAMILIES", "PRIMITIVES", "modules", "primitive"]

PRIMITIVES = "fuseloom.dataflow.primitives"
"""The package of the families."""

FAMILIES = (
    *("sources", "scanners", "repeaters", "joiners", "values", "tiles", "reducers"),
    *("accumulators", "droppers", "shaping", "routing", "ports", "writers"),
)
"""The families, in the order in which lists show their primitives."""


def modules(part: str) -> Iterator[ModuleType]:
    """Import the modules of a part, family by family: ``kernels`` and all ``*_kernels``."""
    for family in FAMILIES:
        package = import_module(f"{PRIMITIVES}.{family}")
        for found in iter_modules(package.__path__):
            if found.name == part or found.name.endswith(f"_{part}"):
                yield import_module(f"{package.__name__}.{found.name}")


CATALOGUE: Mapping[str, Primitive] = MappingProxyType(
    {entry.name: entry for module in modules("entries") for entry in module.ENTRIES}
)
"""All entries by name."""


def primitive(name: str) -> Primitive:
    """The catalogue entry of that name.

    Raises
    ------
    GraphError
        If there is none.
    """
    try:
        return CATALOGUE[name]
    except KeyError:
        raise GraphError(
            f"no primitive is called {name!r}", hint=f"known: {', '.join(CATALOGUE)}"
        ) from None
