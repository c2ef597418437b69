"""Names for the slots of a node's record.

The last words of a node's record (:data:`fuseloom.dataflow.sim.compiled.layout.NODE`) mean what its
kernel wants: ``p0`` to ``p7`` are its parameters, ``s0`` to ``s9`` what it knows from one visit to
the next, ``f0`` and ``f1`` floats.  The file of a kernel says beside it what lies in
them, and sees its node under these names only::

    _STOPDROP = slots(
        holding="s0",  # a token taken waits for room
        begun="s1",  # something came since the last stop
    )

    @kernel("stopdrop", fields=_STOPDROP)
    def stopdrop(node: Int, table: Int) -> Int:
        s = state_of(table)
        nd = node_of(s, node, _STOPDROP)
        ...

The names are fields of the record that lie over the slots, so they cost nothing: the machine code
is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeVar

import numba
import numpy as np
import numpy.typing as npt
from numba.core import types
from numba.extending import typeof_impl
from numba.np import arrayobj

from fuseloom.dataflow.sim.compiled.inlining import generated, helper
from fuseloom.dataflow.sim.compiled.layout import COMMON, NODE, SLOTS

Function = TypeVar("Function", bound=Callable[..., Any])

# The parts of numba used here have no types.
_types: Any = types
_make_array: Any = arrayobj.make_array


@dataclass(frozen=True)
class Slots:
    """The names of a node's slots; other slots are not used."""

    names: Mapping[str, str]

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The record of a node with these names in place of the slots'."""
        where = {name: name for name in COMMON} | dict(self.names)
        fields = NODE.fields
        assert fields is not None
        return np.dtype(
            {
                "names": list(where),
                "formats": [fields[slot][0] for slot in where.values()],
                "offsets": [fields[slot][1] for slot in where.values()],
                "itemsize": NODE.itemsize,
            }
        )

    @cached_property
    def record(self) -> Any:
        """The same, as kernels know it."""
        return numba.from_dtype(self.dtype)

    def also(self, **names: str) -> Slots:
        """These names and more.

        Raises
        ------
        TypeError
            If a name or a slot is taken, or there is no such slot.
        """
        owners = {slot: name for name, slot in self.names.items()}
        for name, slot in names.items():
            if slot not in SLOTS:
                raise TypeError(f"{name}: a node has no slot {slot!r}, only {', '.join(SLOTS)}")
            if name in self.names or name in COMMON or name in SLOTS:
                raise TypeError(f"{name!r} names something else in a node already")
            if slot in owners:
                raise TypeError(f"slot {slot} holds {owners[slot]!r} already, so not {name!r} too")
            owners[slot] = name
        return Slots(MappingProxyType({**self.names, **names}))

    def view(self, nodes: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The records of nodes under these names; what is set there is set in them."""
        return nodes.view(self.dtype)


NOTHING = Slots(MappingProxyType({}))
"""Of a kernel that uses no slots."""


def slots(**names: str) -> Slots:
    """Return the layout of a kernel's slots: the name of each item, and its slot.

    Raises
    ------
    TypeError
        If a slot is named twice or there is none of that name, or the name is that of a field
        which all nodes have.
    """
    return NOTHING.also(**names)


def _type_of(names: Slots, _: Any) -> Any:
    return _types.DType(names.record)


typeof_impl.register(Slots)(_type_of)


@generated
def node_of(typing_context: Any, s: Any, node: Any, names: Any) -> Any:
    """``node_of(s, node, names)``: the record of a node, its slots under these names."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        nodes = _make_array(s.types[0])(context, builder, builder.extract_value(args[0], 0))
        pointer = builder.gep(nodes.data, [args[1]])
        return builder.bitcast(pointer, context.get_value_type(names.dtype))

    return names.dtype(s, node, names), generate


def _unnamed(kind: Any) -> Any:
    """A node's record without the names of its slots; any other type as it is."""
    is_node = isinstance(kind, _types.Record) and all(name in kind.fields for name in COMMON)
    return NOTHING.record if is_node else kind


def inline_common(function: Function) -> Function:
    """Decorator: as ``inline``, for a helper that uses no slots of the nodes it is given.

    It is compiled once, and not for the slots of every kernel anew.
    """
    return helper(function, set(), _unnamed)
