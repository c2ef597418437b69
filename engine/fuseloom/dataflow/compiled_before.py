"""Regions compiled before: schedules of one program have most of their regions in common."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import fields, replace
from threading import Lock

from fuseloom.dataflow.compilation import CompiledRegion
from fuseloom.dataflow.fusion.region import FusedRegion
from fuseloom.dataflow.fusion.views import Instance, View, walk

MOST = 100_000
"""Nodes of graphs that are remembered: some 200 MB."""


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

        Parameters
        ----------
        asked : hashable
            What it depends on beside the region.
        """
        key = (region.name, _shape(region.roots), region.options, region.chosen, asked)
        with self._lock:
            known = tuple(self._known.get(key, ()))
            if known:
                self._known.move_to_end(key)
        for compiled in known:
            if replace(compiled.region, roots=()) == replace(region, roots=()):
                return compiled
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
