"""The catalogue of SAMML primitives: one entry each, and nothing else switches on a name.

An entry says what goes in and out and how deep it nests, how a picture shows it, what it means,
what work it does, and whatever other rooms have to know of it: its traits
(:mod:`fuseloom.dataflow.samml.traits`).  Its streaming semantics and timing are the generator and
the kernels that ``fuseloom.dataflow.sim`` registers by name; how it changes the expected number of
tokens is registered in ``fuseloom.dataflow.cost``.  The modules are named as those of the golden
models. Source: ``samml.md`` §2, ``fusion.md`` §7.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType

from fuseloom.dataflow.samml.catalogue import (
    droppers,
    joiners,
    ports,
    reducers,
    repeaters,
    routing,
    scanners,
    shaping,
    sources,
    values,
    writers,
)
from fuseloom.dataflow.samml.primitive import Primitive
from fuseloom.errors import GraphError

__all__ = ["CATALOGUE", "primitive", "require_registered"]

_ENTRIES = (
    *sources.ENTRIES,
    *scanners.ENTRIES,
    *repeaters.ENTRIES,
    *joiners.ENTRIES,
    *values.ENTRIES,
    *reducers.ENTRIES,
    *droppers.ENTRIES,
    *shaping.ENTRIES,
    *routing.ENTRIES,
    *ports.ENTRIES,
    *writers.ENTRIES,
)

CATALOGUE: Mapping[str, Primitive] = MappingProxyType({entry.name: entry for entry in _ENTRIES})
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


def require_registered(
    what: str, where: str, known: Collection[str], needed: Callable[[Primitive], Collection[str]]
) -> None:
    """Check that what entries name is registered: their golden models, their kernels, their rules.

    Parameters
    ----------
    what, where : str
        What is registered, and in which package, for the message.
    known : collection of str
        Names registered there.
    needed : callable
        The names that an entry needs there.

    Raises
    ------
    GraphError
        If one is not, naming it and the primitive.
    """
    for entry in CATALOGUE.values():
        for name in sorted(needed(entry)):
            if name not in known:
                raise GraphError(
                    f"the primitive {entry.name!r} has no {what} of the name {name!r}",
                    hint=f"register one in {where}",
                )
