"""Commands on loops, applied: loops exchanged, split, run in parallel, sharing parts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from fuseloom.calls.commands import (
    Parallelize,
    Reorder,
    ReuseOverlap,
    ScheduleCommand,
    SplitLoop,
)
from fuseloom.calls.parts import Resolution, TileLoop
from fuseloom.calls.polynomials import Polynomial, Symbol
from fuseloom.errors import ScheduleError


def with_command(
    resolution: Resolution, parallel: frozenset[int], command: ScheduleCommand
) -> tuple[Resolution, frozenset[int]]:
    """A resolution, and the levels that run in parallel, after a command on its loops.

    Raises
    ------
    ScheduleError
        If the command is not possible.
    """
    match command:
        case Parallelize(level):
            require_level(level, len(resolution.loops))
            return resolution, parallel | {level}
        case Reorder(first, second):
            require_level(first, len(resolution.loops))
            require_level(second, len(resolution.loops))
            return _reordered(resolution, first, second), frozenset(
                {first: second, second: first}.get(x, x) for x in parallel
            )
        case SplitLoop(level):
            require_level(level, len(resolution.loops))
            later = frozenset(x + (x > level) for x in parallel)
            return _split(resolution, command), later
    return resolution, parallel


def require_level(level: int, count: int) -> None:
    """Refuse a level that none of so many loops has."""
    if not 0 <= level < count:
        raise ScheduleError(
            f"there is no loop at level {level}",
            hint=f"levels are 0 to {count - 1}" if count else "the last call has no loop",
        )


def _reordered(resolution: Resolution, first: int, second: int) -> Resolution:
    loops = list(resolution.loops)
    loops[first], loops[second] = loops[second], loops[first]
    _require_nesting(loops)
    return replace(resolution, loops=tuple(loops))


def _require_nesting(loops: Sequence[TileLoop]) -> None:
    """Refuse an order of loops in which one lies outside a loop that it begins or ends at."""
    seen: set[str] = set()
    every = {x.variable for x in loops} | {x.length for x in loops}
    for loop in loops:
        for value in (loop.start, loop.end):
            for atom in value.atoms():
                if isinstance(atom, Symbol) and atom.name in every and atom.name not in seen:
                    raise ScheduleError(
                        f"the loop over {loop.variable} begins or ends at {atom.name}, so that it "
                        "stays within that loop"
                    )
        seen |= {loop.variable, loop.length}


def _split(resolution: Resolution, command: SplitLoop) -> Resolution:
    loop = resolution.loops[command.level]
    size = loop.step.symbol
    if not loop.length:
        raise ScheduleError(
            f"the loop over {loop.variable} has no size of tiles",
            hint="make its step symbolic in the annotation of the last call",
        )
    others = [x for x in resolution.loops if x is not loop]
    taken = {name for x in others for name in (x.variable, x.length)}
    taken |= {*resolution.parameters, *resolution.taken} - {str(size)}
    steps = (command.outer_step, command.inner_step)
    for name in (command.outer, command.inner, *steps, *(f"{step}_len" for step in steps)):
        if not name.isidentifier() or name in taken:
            raise ScheduleError(f"{name!r} is taken, or no name", hint="choose another")
        taken.add(name)
    outer, length = Polynomial.of(command.outer), f"{command.outer_step}_len"
    loops = (
        TileLoop(
            command.outer, loop.start, loop.end, Polynomial.of(command.outer_step), length
        ),
        TileLoop(
            command.inner, outer, outer + Polynomial.of(length),
            Polynomial.of(command.inner_step), f"{command.inner_step}_len",
        ),
    )  # fmt: skip
    made = resolution.substituted({
        loop.variable: Polynomial.of(command.inner),
        loop.length: Polynomial.of(f"{command.inner_step}_len"),
    })  # fmt: skip
    parameters = list(resolution.parameters)
    place = parameters.index(str(size)) if str(size) in parameters else 0
    parameters[place : place + 1] = [command.outer_step, command.inner_step]
    before, after = made.loops[: command.level], made.loops[command.level + 1 :]
    return replace(made, loops=(*before, *loops, *after), parameters=tuple(parameters))


@dataclass(frozen=True)
class ReusedLoops:
    """Loops whose tiles share parts of intermediates.

    Attributes
    ----------
    reused : mapping
        Names of intermediates, and the level of the loop of each.
    order : tuple of int
        The loops of the last call's annotation, from the outermost in.
    parallel : frozenset of int
        Levels that run in parallel.
    """

    reused: Mapping[str, int]
    order: tuple[int, ...]
    parallel: frozenset[int]


def reused_loops(
    commands: Sequence[ScheduleCommand], names: Collection[str], count: int
) -> ReusedLoops | None:
    """Collect the commands on loops whose tiles share parts; None if there are none.

    Parameters
    ----------
    names : collection of str
        Of intermediates that are computed in tiles.
    count : int
        Of loops.

    Raises
    ------
    ScheduleError
        If there is no such intermediate or loop, or a loop is split.

    Examples
    --------
    >>> reused_loops([Parallelize(0), ReuseOverlap("b", 1), Reorder(0, 1)], ["b"], 2)
    ReusedLoops(reused={'b': 0}, order=(1, 0), parallel=frozenset({1}))
    """
    reused: dict[str, int] = {}
    parallel: set[int] = set()
    order = list(range(count))
    if not any(isinstance(command, ReuseOverlap) for command in commands):
        return None
    for command in commands:
        match command:
            case SplitLoop():
                raise ScheduleError(
                    "loops are not split where tiles share parts",
                    hint="choose smaller tiles instead",
                )
            case Parallelize(level):
                require_level(level, count)
                parallel.add(order[level])
            case Reorder(first, second):
                require_level(first, count)
                require_level(second, count)
                order[first], order[second] = order[second], order[first]
            case ReuseOverlap(data, level):
                if data not in names:
                    raise ScheduleError(
                        f"{data} is no intermediate that is computed in tiles",
                        hint=f"intermediates are {', '.join(names) or 'none'}",
                    )
                require_level(level, count)
                reused[data] = order[level]
    level_of = {loop: level for level, loop in enumerate(order)}
    return ReusedLoops(
        {data: level_of[loop] for data, loop in reused.items()},
        tuple(order),
        frozenset(level_of[loop] for loop in parallel),
    )
