"""The elements of each tensor that some elements of a result depend on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from fuseloom.program.distinct import distinct
from fuseloom.program.functions import Op
from fuseloom.program.rounded.tensors import Box, Elements, Grid, Ints
from fuseloom.program.types import Access, BroadcastAdd, Program, Statement

Leaf: TypeAlias = Callable[[str, Box], Elements | None]
"""A tensor's elements inside a box, where they are known and sparse."""


class Wanted:
    """Per tensor a box that holds everything needed of it.

    An element inside a box is the same as without boxes: what is summed up is never left out.

    Parameters
    ----------
    outputs : mapping
        Of each output the box that is asked for.
    """

    def __init__(self, program: Program, outputs: Mapping[str, Box]) -> None:
        self.program = program
        self.boxes: dict[str, Box] = dict(outputs)

    def of(self, name: str) -> Box:
        """The box of a tensor; everything where nobody asked."""
        return self.boxes.get(name, (None,) * self.program.tensor(name).rank)

    def indices(self, s: Statement) -> dict[str, Ints | None]:
        """Per index of a statement the coordinates that are wanted of its result."""
        known: dict[str, Ints | None] = dict.fromkeys(s.indices)
        return {**known, **dict(zip(s.out.indices, self.of(s.out.tensor), strict=True))}

    def ask(self, s: Statement, leaf: Leaf | None = None) -> None:
        """Ask the operands of a statement for what its result needs.

        Parameters
        ----------
        leaf : callable, optional
            What is known of an operand inside a box, or None; products need of the others no
            more than that meets.
        """
        only = self._passed_on(s)
        if leaf is not None and s.op in (Op.MUL, Op.DIV):
            for access in s.operands:
                _narrow(access, leaf, only)
        for access in s.operands:
            box = tuple(only.get(x) for x in access.indices)
            before = self.boxes.get(access.tensor)
            if before is None:
                self.boxes[access.tensor] = box
            else:
                self.boxes[access.tensor] = tuple(map(_either, before, box))

    def _passed_on(self, s: Statement) -> dict[str, Ints | None]:
        """The coordinates of its result's indices that a statement hands on to its operands."""
        only = self.indices(s)
        if s.op is Op.RESHAPE:
            return dict.fromkeys(x for a in s.operands for x in a.indices)
        if s.axis is not None:
            only[s.axis] = None
        sparse = self.program.broadcast_add is BroadcastAdd.SPARSE
        broadcasts = len({frozenset(a.indices) for a in s.operands}) > 1
        if s.op.unites and sparse and broadcasts:
            # Whether a row exists is seen from all that is inside it.
            outermost = (*s.out.indices, *s.reduced)[:1]
            only = {x: box if x in outermost else None for x, box in only.items()}
        return only


def _either(a: Ints | None, b: Ints | None) -> Ints | None:
    return None if a is None or b is None else np.union1d(a, b)


def _narrow(access: Access, leaf: Leaf, only: dict[str, Ints | None]) -> None:
    """Leave of the indices not restricted yet what a known factor has inside the box."""
    box = tuple(only.get(x) for x in access.indices)
    if all(b is None for b in box) or all(b is not None for b in box):
        return
    known = leaf(access.tensor, box)
    if known is None:
        return
    for k, x in enumerate(access.indices):
        if only.get(x) is None:
            only[x] = known.axes[k] if isinstance(known, Grid) else distinct(known.coords[k])
