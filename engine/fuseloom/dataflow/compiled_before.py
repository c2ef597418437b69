"""Regions compiled before: schedules of one program have most of their regions in common."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import fields, replace
from threading import Lock

from fuseloom.dataflow.compilation import CompiledRegion
from fuseloom.dataflow.fusion.region import FusedRegion
from fuseloom.dataflow.fusion.views import Instance, View, walk
from fuseloom.program.blocking import blocking
from fuseloom.program.dense_levels import written_levels
from fuseloom.program.types import Program

MOST = 100_000
"""Nodes of graphs that are remembered: some 200 MB."""
_NO_PROGRAM = Program("", (), (), ())


class CompiledBefore:
    """A cache of compiled regions, for equal ones; it keeps those that were used last.

    Parameters
    ----------
    most : int
        Nodes of graphs that are remembered, some 2 kB each.

    Notes
    -----
    Given to :func:`~fuseloom.dataflow.compiler.compile_program` and
    :func:`~fuseloom.dataflow.compiler.compile_region` for one schedule after another.

    Examples
    --------
    >>> from fuseloom.dataflow.compiler import compile_program
    >>> from fuseloom.program import parse
    >>> program = parse("A: 4x4 csr\\nT[i,j] = relu(A[i,j])\\nU[i,j] = exp(T[i,j])")
    >>> before = CompiledBefore()
    >>> one, again = (compile_program(program, before=before) for _ in range(2))
    >>> one.regions[0] is again.regions[0]
    True
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._nodes = 0
        self._known: OrderedDict[Hashable, list[CompiledRegion]] = OrderedDict()
        self._lock = Lock()

    def get(
        self, region: FusedRegion, asked: Hashable, make: Callable[[], CompiledRegion]
    ) -> CompiledRegion:
        """A region as it was compiled when the same was asked for, or as ``make`` compiles it.

        Its program, and whether the schedule or the caller named its order, may have been others:
        of a program it depends on the tensors that it reads and writes.

        Parameters
        ----------
        asked : hashable
            What it depends on beside the region; the order, if one is named.
        """
        key = (region.name, _shape(region.roots), region.options, _read(region), asked)
        with self._lock:
            known = tuple(self._known.get(key, ()))
            if known:
                self._known.move_to_end(key)
        for compiled in known:
            if _alone(compiled.region) == _alone(region):
                return _within(compiled, region)
        made = make()
        if made.region is not region:  # less shared than was asked for
            return made
        with self._lock:
            self._known.setdefault(key, []).append(made)
            self._nodes += len(made.graph.nodes)
            while self._nodes > self._most and len(self._known) > 1:
                _, dropped = self._known.popitem(last=False)
                self._nodes -= sum(len(compiled.graph.nodes) for compiled in dropped)
        return made


def _read(region: FusedRegion) -> Hashable:
    """The part of its program, beside statements, that a region's graph depends on.

    As :mod:`fuseloom.dataflow.fusion.alike` has it: blocks, broadcast addition, its tensors.
    """
    program = region.program
    written = {s.out.tensor for s in region.statements}
    names = {view.tensor for view in walk(*region.roots)}
    names |= {access.tensor for s in region.statements for access in (s.out, *s.operands)}
    tensors = (
        (program.tensor(name), written_levels(program, name) if name in written else ())
        for name in sorted(names)
    )
    return program.broadcast_add, blocking(program).edge, *tensors


def _alone(region: FusedRegion) -> FusedRegion:
    """A region without what tells equal ones apart: views, its program, who named its order."""
    return replace(region, roots=(), program=_NO_PROGRAM, chosen=None)


def _within(compiled: CompiledRegion, region: FusedRegion) -> CompiledRegion:
    """A compiled region in the program of an equal one, its order named as there."""
    mine = compiled.region
    if mine.program == region.program and mine.chosen == region.chosen:
        return compiled
    region = replace(mine, program=region.program, chosen=region.chosen)
    return replace(compiled, region=region, table=replace(compiled.table, region=region))


def _shape(roots: tuple[Instance, ...]) -> Hashable:
    """Views in the order of a walk, each with the numbers of its operands.

    No two views are equal, and what they share tells one region from another.
    """
    numbers: dict[View, int] = {}
    shape: list[Hashable] = []
    for view in walk(*roots):
        numbers[view] = len(numbers)
        own = [getattr(view, f.name) for f in fields(view) if f.name != "operands"]
        operands = view.operands if isinstance(view, Instance) else ()
        shape.append((type(view), *own, *(numbers[operand] for operand in operands)))
    return tuple(shape), tuple(numbers[root] for root in roots)
