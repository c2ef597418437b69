"""Nests of loops over buffers: views that are copied, reduced and padded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from math import prod
from typing import Any

from fuseloom.access.meaning import require_room
from fuseloom.access.shapes import Dims
from fuseloom.access.views import ElementView, TupleView, of_buffer, offset, plus
from fuseloom.codegen.imperative import (
    ArrayParameter,
    BinaryOperation,
    Command,
    ElementAccess,
    Expr,
    For,
    Increase,
    Int,
    Put,
    Real,
    Routine,
    Set,
    Var,
)

TOGETHER = 8
"""Nests of loops in a routine."""
SUM = "total"
LEAST = BinaryOperation("*", Real(-1e308), Real(10.0))
"""Minus infinity."""


class LoopNests:
    """Nests of loops, one after another, each of which fills a buffer or a part of one.

    Parameters
    ----------
    given : sequence of str
        Names of the arrays that are there before.

    Attributes
    ----------
    buffers : dict
        Names of the buffers, and their elements.

    Examples
    --------
    >>> nests = LoopNests(["r0"])
    >>> nests.reduced([of_buffer("r0", (2, 3))], (2,), largest=False).buffer
    'r1'
    >>> (routine,) = nests.routines()
    >>> nests.buffers, [(array.name, array.written) for array in routine.arrays]
    ({'r1': 2}, [('r0', False), ('r1', True)])
    """

    def __init__(self, given: Sequence[str]) -> None:
        self.given = tuple(given)
        self.buffers: dict[str, int] = {}
        self._body: list[Command] = []
        self._variables = 0

    def routines(self) -> tuple[Routine, ...]:
        """All nests, some per routine: compilers take long for long ones."""
        starts = range(0, len(self._body), TOGETHER)
        return tuple(self._routine(tuple(self._body[k : k + TOGETHER])) for k in starts)

    def _routine(self, body: tuple[Command, ...]) -> Routine:
        used = _arrays(body)
        arrays = [
            ArrayParameter(name, True, name in self.buffers)
            for name in (*self.given, *self.buffers)
            if name in used
        ]
        return Routine((), tuple(arrays), (SUM,), body)

    def _buffer(self, dims: Dims) -> str:
        require_room("a buffer", prod(dims))
        name = f"r{len(self.given) + len(self.buffers)}"
        self.buffers[name] = max(prod(dims), 1)
        return name

    def _loops(self, dims: Dims, body: Callable[[list[Expr]], list[Command]]) -> list[Command]:
        """Commands in loops over all indices; an extent of 1 needs none."""
        indices: list[Expr] = []
        names: list[tuple[str, int]] = []
        for extent in dims:
            if extent == 1:
                indices.append(Int(0))
                continue
            names.append((f"v{self._variables}", extent))
            indices.append(Var(names[-1][0]))
            self._variables += 1
        commands = body(indices)
        for name, extent in reversed(names):
            commands = [For(name, Int(0), Int(extent), tuple(commands))]
        return commands

    def plain(self, view: ElementView | TupleView) -> ElementView:
        """A view that is read by indices: tuples are copied."""
        if isinstance(view, ElementView):
            return view
        rest = view.parts[0].dims
        dims = (*rest[: view.axis], len(view.parts), *rest[view.axis :])
        name = self._buffer(dims)
        for number, part in enumerate(view.parts):

            def put(
                indices: list[Expr], part: ElementView = part, number: int = number
            ) -> list[Command]:
                places = [*indices[: view.axis], Int(number), *indices[view.axis :]]
                return [Put(name, offset(places, dims), part.read(indices))]

            self._body += self._loops(rest, put)
        return of_buffer(name, dims)

    def filled(self, views: Sequence[ElementView], dims: Dims, number: int) -> ElementView:
        """Views one after the other along a dimension, in a buffer of their own."""
        name = self._buffer(dims)
        start = 0
        for view in views:
            self._put(name, view, dims, number, start)
            start += view.dims[number] if view.dims else 0
        return of_buffer(name, dims)

    def padded(
        self, view: ElementView, dims: Dims, number: int, before: int, value: Expr
    ) -> ElementView:
        """A view with a value before and behind it along a dimension, in a buffer of its own."""
        name = self._buffer(dims)
        self._body += self._loops(dims, lambda x: [Put(name, offset(x, dims), value)])
        self._put(name, view, dims, number, before)
        return of_buffer(name, dims)

    def _put(self, name: str, view: ElementView, dims: Dims, number: int, low: int) -> None:
        """Copy a view into a buffer, from an index of a dimension on."""

        def put(indices: list[Expr]) -> list[Command]:
            places = [plus(x, low * (k == number)) for k, x in enumerate(indices)]
            return [Put(name, offset(places, dims), view.read(indices))]

        self._body += self._loops(view.dims, put)

    def reduced(self, views: Sequence[ElementView], access: Dims, *, largest: bool) -> ElementView:
        """Sums, or largest values, over all but the access dimensions of several views."""
        name = self._buffer(access)

        def position(outer: list[Expr]) -> list[Command]:
            commands: list[Command] = [Set(SUM, LEAST if largest else Real(0.0))]
            for view in views:

                def add(inner: list[Expr], view: ElementView = view) -> list[Command]:
                    value = view.read([*outer, *inner])
                    if largest:
                        return [Set(SUM, maximum(Var(SUM), value))]
                    return [Increase(SUM, value)]

                commands += self._loops(view.dims[len(access) :], add)
            return [*commands, Put(name, offset(outer, access), Var(SUM))]

        self._body += self._loops(access, position)
        return of_buffer(name, access)


def maximum(left: Expr, right: Expr) -> Expr:
    """The larger of two values.

    Examples
    --------
    >>> maximum(Var("x"), Real(0.0)).op
    'max'
    """
    return BinaryOperation("max", left, right)


def _arrays(command: Any) -> set[str]:
    """Names of the arrays that commands and expressions touch."""
    if isinstance(command, tuple):
        return set().union(*map(_arrays, command))
    if not is_dataclass(command):
        return set()
    own = {command.array} if isinstance(command, ElementAccess | Put) else set()
    return own.union(*(_arrays(getattr(command, field.name)) for field in fields(command)))
