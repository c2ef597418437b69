"""Cutting a program into the regions that a schedule fuses."""

from __future__ import annotations

from dataclasses import dataclass

from fuseloom.dataflow.fusion.directives import Materialise
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.errors import ScheduleError
from fuseloom.program.types import Program, Statement


@dataclass(frozen=True)
class RegionSpan:
    """A run of consecutive live statements, with what leaves it.

    Attributes
    ----------
    outputs : tuple of str
        Tensors of this region that the program returns or a later region reads.
    """

    name: str
    statements: tuple[Statement, ...]
    outputs: tuple[str, ...]

    @classmethod
    def of(cls, program: Program, group: tuple[Statement, ...]) -> RegionSpan:
        """The span of some statements of a program."""
        mine = {s.out.tensor for s in group}
        outputs = tuple(
            name
            for name in (s.out.tensor for s in group)
            if name in program.outputs or not program.readers.get(name, mine) <= mine
        )
        ends = (group[0].out.tensor, group[-1].out.tensor)
        name = ends[0] if len(group) == 1 else "..".join(ends)
        return cls(name, group, outputs)

    def cut(self, program: Program, tensor: str) -> tuple[RegionSpan, RegionSpan] | None:
        """The two spans on both sides of where a tensor is assigned; None at the very end."""
        at = [s.out.tensor for s in self.statements].index(tensor) + 1
        if at == len(self.statements):
            return None
        return (
            RegionSpan.of(program, self.statements[:at]),
            RegionSpan.of(program, self.statements[at:]),
        )


def partition(program: Program, schedule: Schedule) -> tuple[RegionSpan, ...]:
    """Split the live statements into regions; a statement no ``fuse`` names stands alone.

    A reshape belongs to no region: memory does it between them (``docs/spec/fusion.md`` §1.1).

    Raises
    ------
    ScheduleError
        If a directive names no statement, runs backwards, overlaps another, or crosses a
        reshape.
    """
    statements = program.live
    position = {s.out.tensor: k for k, s in enumerate(statements)}
    dead = set(program.producers) - set(position)

    def place(name: str) -> int:
        if name in position:
            return position[name]
        if name in dead:
            raise ScheduleError(
                f"statement {name!r} is not fused: no output of the program needs it",
                hint="declare it as an output or leave it out of the schedule",
            )
        raise ScheduleError(
            f"the schedule names {name!r}, but no statement assigns it",
            hint=f"statements assign: {', '.join(position)}",
        )

    owner: dict[int, int] = {}
    for number, fuse in enumerate(schedule.fusions):
        first, last = place(fuse.first), place(fuse.last)
        if first > last:
            raise ScheduleError(
                f"'{fuse}' runs backwards: {fuse.last} is assigned before {fuse.first}",
                hint=f"write fuse {fuse.last}..{fuse.first}",
            )
        for k in range(first, last + 1):
            if not statements[k].op.fuses:
                raise ScheduleError(
                    f"'{fuse}' crosses {statements[k].out.tensor}, and a reshape is a fusion "
                    "barrier",
                    hint=_around(statements, first, k, last),
                )
            if k in owner:
                raise ScheduleError(
                    f"'{fuse}' and '{schedule.fusions[owner[k]]}' both claim "
                    f"{statements[k].out.tensor}",
                    hint="a statement belongs to one region",
                )
            owner[k] = number
    written = {place(setting.tensor): setting for setting in schedule.of(Materialise)}

    groups: list[list[Statement]] = []
    previous: int | None = None
    for k, statement in enumerate(statements):
        if not statement.op.fuses:
            previous = None
            continue
        mine = owner.get(k)
        if mine is None or mine != previous:
            groups.append([])
        groups[-1].append(statement)
        previous = None if k in written else mine
    spans = tuple(RegionSpan.of(program, tuple(group)) for group in groups)
    for k, setting in written.items():
        if owner.get(k) is None or owner.get(k) != owner.get(k + 1):
            name = statements[k].out.tensor
            raise ScheduleError(
                f"'{setting}' changes nothing: {name} ends its region, so it is written anyway",
                hint="name a tensor inside a fused region, or leave the directive out",
            )
    return spans


def _around(statements: tuple[Statement, ...], first: int, barrier: int, last: int) -> str:
    """The directives that fuse what lies on both sides of a barrier."""
    parts = [(first, barrier - 1), (barrier + 1, last)]
    texts = [
        f"fuse {statements[a].out.tensor}..{statements[b].out.tensor}" for a, b in parts if a < b
    ]
    return f"write {'; '.join(texts)}" if texts else "leave these statements unfused"


def statement_orders(program: Program, schedule: Schedule) -> dict[str, tuple[str, ...]]:
    """The orders that a schedule asks for of single statements, by the tensors they assign.

    Raises
    ------
    ScheduleError
        Of what no statement assigns, or an index that it lacks.
    """
    result: dict[str, tuple[str, ...]] = {}
    for order in schedule.orders:
        if order.last is not None:
            continue
        statement = program.producers.get(order.first)
        if statement is None:
            raise ScheduleError(
                f"'{order}' names no statement",
                hint=f"statements assign: {', '.join(program.producers)}",
            )
        unknown = [x for x in order.indices if x not in statement.indices]
        if unknown:
            raise ScheduleError(
                f"'{order}': {order.first} has no index {unknown[0]}",
                hint=f"its indices are {', '.join(statement.indices)}",
            )
        result[order.first] = order.indices
    return result
