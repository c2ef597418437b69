"""Regions that are equal but for the names of their tensors, told before any is fused.

Fusing and compiling read of a region: its statements, with the names of their indices; shapes and
formats of the tensors they name, and the levels that are written; the blocks and the broadcast
addition of the program, which all regions have in common; and what the schedule says of it.  Where
all that is equal, so are constraints, order, table and graph, but for names.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import fields

from fuseloom.dataflow.fusion.directives import (
    Locate,
    LocateLevel,
    Parallel,
    Permute,
    Repeat,
    Setting,
    Span,
)
from fuseloom.dataflow.fusion.regions import RegionSpan
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.program.dense_levels import written_levels
from fuseloom.program.primes import bare, primes
from fuseloom.program.types import Program

_LOCAL = (Locate, LocateLevel, Parallel, Permute, Repeat)
"""Settings of regions."""


class Kinds:
    """Spans of one program under one schedule, by what fusing and compiling read of them.

    Parameters
    ----------
    like : Kinds, optional
        Those of the same program with tensors stored otherwise: equal keys are alike there, too.
    """

    def __init__(
        self,
        program: Program,
        schedule: Schedule,
        wishes: Mapping[str, tuple[str, ...]],
        like: Kinds | None = None,
    ) -> None:
        self.program = program
        self.wishes = wishes
        self._chosen = {
            Span(o.first, o.last): o.indices for o in schedule.orders if o.last is not None
        }
        self._settings = tuple(s for s in schedule.settings if isinstance(s, _LOCAL))
        place = {s.out.tensor: k for k, s in enumerate(program.live)}
        self._place = place
        self._soft = [
            (place[f.first], place[f.last])
            for f in schedule.fusions
            if f.where_possible and {f.first, f.last} <= place.keys()
        ]
        self._tensors: dict[Hashable, int] = like._tensors if like else {}
        self._known: dict[tuple[str, bool], int] = {}

    def chosen(self, span: RegionSpan) -> tuple[str, ...] | None:
        """The order that the schedule has for a region."""
        return self._chosen.get(_ends(span))

    def settings(self, span: RegionSpan) -> tuple[Setting, ...]:
        """Return the schedule's settings for this region, or for a view that it may have."""
        if not self._settings:
            return ()
        ends = _ends(span)
        names = {a.tensor for s in span.statements for a in (s.out, *s.operands)}
        return tuple(
            s
            for s in self._settings
            if s.region in (None, ends)
            and (not isinstance(s, LocateLevel | Permute) or bare(s.view) in names)
        )

    def key(self, span: RegionSpan) -> Hashable:
        """Equal for spans whose regions are equal but for the names of tensors.

        Names with a prime are kept: views of a tensor are told apart by primes.
        """
        number: dict[str, Hashable] = {}

        def known(name: str) -> Hashable:
            if name not in number:
                number[name] = name if "'" in name else len(number)
            return number[name]

        statements = tuple(
            (
                s.op.value,
                s.constant,
                s.axis,
                s.nonzero,
                known(s.out.tensor),
                s.out.indices,
                tuple((known(a.tensor), a.indices) for a in s.operands),
                self.wishes.get(s.out.tensor),
            )
            for s in span.statements
        )
        mine = {s.out.tensor for s in span.statements}
        first, last = (self._place[s.out.tensor] for s in (span.statements[0], span.statements[-1]))
        return (
            statements,
            tuple(map(known, span.outputs)),
            tuple(self._tensor(name, name in mine) for name in number),
            any(a <= first and last <= b for a, b in self._soft),
            self.chosen(span),
            tuple(
                (
                    type(s),
                    *(
                        (known(bare(value)), primes(value)) if field.name == "view" else value
                        for field in fields(s)
                        if field.compare and field.name != "region"
                        for value in (getattr(s, field.name),)
                    ),
                )
                for s in self.settings(span)
            ),
        )

    def _tensor(self, name: str, written: bool) -> int:
        if (name, written) not in self._known:
            tensor = self.program.tensor(name)
            levels = written_levels(self.program, name) if written else None
            kind = (tensor.shape, tensor.format, levels)
            self._known[name, written] = self._tensors.setdefault(kind, len(self._tensors))
        return self._known[name, written]


def _ends(span: RegionSpan) -> Span:
    return Span(span.statements[0].out.tensor, span.statements[-1].out.tensor)
