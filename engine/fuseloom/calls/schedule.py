"""Schedules: how a composition is cut into pipelines, and how their loops run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

from fuseloom.calls.annotated import DataHandle
from fuseloom.calls.composition import Composition, compose
from fuseloom.calls.parts import PartFields, Resolution, TileLoop
from fuseloom.calls.pipeline import CallPipeline, build_pipeline
from fuseloom.calls.pipeline_nodes import AllocateNode, FreeNode, PipelineNode
from fuseloom.calls.polynomials import Polynomial, Symbol
from fuseloom.calls.resolution import resolve, whole_parts
from fuseloom.errors import ScheduleError


@dataclass(frozen=True)
class Parallelize:
    """Run the iterations of a loop at once.

    Attributes
    ----------
    level : int
        0 for the outermost loop.
    """

    level: int


@dataclass(frozen=True)
class Reorder:
    """Exchange two loops.

    Attributes
    ----------
    first, second : int
        Their levels.
    """

    first: int
    second: int


@dataclass(frozen=True)
class SplitLoop:
    """Cut the tiles of a loop into smaller ones, by a loop within it.

    Attributes
    ----------
    level : int
    outer, inner : str
        The variables of the two loops.
    outer_step, inner_step : str
        Variables for the sizes of their tiles.
    """

    level: int
    outer: str
    inner: str
    outer_step: str
    inner_step: str


@dataclass(frozen=True)
class SubstituteValue:
    """Have a variable that is given when the code runs be a number.

    Attributes
    ----------
    name : str
    value : int
    """

    name: str
    value: int


@dataclass(frozen=True)
class BreakBefore:
    """Do not fuse across a place: what calls before it compute is computed whole.

    Attributes
    ----------
    call : int
        The number of the first call behind the place, from 1 on.
    """

    call: int


@dataclass(frozen=True)
class ReuseOverlap:
    """Keep what the tile before computed of an intermediate, and compute only what is new.

    Attributes
    ----------
    data : str
        The intermediate.
    level : int
        The loop whose tiles overlap.
    """

    data: str
    level: int


@dataclass(frozen=True)
class Subpipeline:
    """Run some calls in smaller tiles within each tile.

    Attributes
    ----------
    begin, end : int
        Numbers of the first call, and of the one behind the last.
    """

    begin: int
    end: int


ScheduleCommand: TypeAlias = (
    Parallelize | Reorder | SplitLoop | SubstituteValue | BreakBefore | ReuseOverlap | Subpipeline
)


@dataclass(frozen=True)
class ScheduledCalls:
    """Pipelines that run one after another.

    Attributes
    ----------
    composition : Composition
    stages : tuple of CallPipeline
        The last computes the result; each before it an intermediate that is kept whole.
    rooms : tuple of AllocateNode
        The intermediates that are kept whole.
    parameters : tuple of str
        Variables that are given when the code runs.
    """

    composition: Composition
    stages: tuple[CallPipeline, ...]
    rooms: tuple[AllocateNode, ...]
    parameters: tuple[str, ...]

    def nodes(self) -> Iterator[PipelineNode]:
        """All nodes in order, loops before what is in them."""
        yield from self.rooms
        for stage in self.stages:
            yield from stage.nodes()

    def __str__(self) -> str:
        lines = [str(room) for room in self.rooms]
        lines += [str(stage) for stage in self.stages]
        return "\n".join([*lines, *(str(FreeNode(x.name, x.kind)) for x in self.rooms)])


def schedule(composition: Composition, commands: Sequence[ScheduleCommand] = ()) -> ScheduledCalls:
    """Make pipelines of a composition.

    Loops are those of the last call; commands on loops count their levels in the order in which
    the commands before left them.

    Raises
    ------
    ScheduleError
        If a command is not possible; its text names the condition.
    ProgramError
        If the calls cannot be resolved.

    Examples
    --------
    >>> import numpy as np
    >>> from fuseloom.calls.annotated import annotate
    >>> from fuseloom.calls.data_kinds import Vector
    >>> exp = annotate(np.exp, '''t: Symbolic for x in [0, out.len, t] {
    ...     produces { out {start: x, len: t} } when consumes { a {start: x, len: t} } }''',
    ...     ["a", "out"])
    >>> a, b, c = (DataHandle(name, Vector()) for name in "abc")
    >>> print(schedule(compose([exp(a, b), exp(b, c)]), [BreakBefore(1), SubstituteValue("t", 8)]))
    allocate b {start: 0, len: c.len}
    for x in [0, c.len, b_t] {
      b_t_len = min(b_t, c.len - x)
      query a_part from a {start: x, len: b_t_len}
      query b_part from b {start: x, len: b_t_len}
      compute exp(a_part, b_part)
      insert b_part into b {start: x, len: b_t_len}
      free a_part
      free b_part
    }
    for x in [0, c.len, 8] {
      t_len = min(8, c.len - x)
      query b_part from b {start: x, len: t_len}
      query c_part from c {start: x, len: t_len}
      compute exp(b_part, c_part)
      insert c_part into c {start: x, len: t_len}
      free b_part
      free c_part
    }
    free b
    """
    return _Scheduler(composition, commands).scheduled()


class _Scheduler:
    def __init__(self, composition: Composition, commands: Sequence[ScheduleCommand]) -> None:
        self.composition = composition
        self.commands = commands
        self.kept: dict[DataHandle, PartFields] = {}
        self.known: dict[str, None] = {}  # variables of all stages, before values are put in

    def scheduled(self) -> ScheduledCalls:
        """All pipelines, those of intermediates that are kept whole first."""
        places = [0, *self._breaks(), len(self.composition.calls)]
        whole = whole_parts(self.composition) if len(places) > 2 else {}
        stages: list[CallPipeline] = []
        rooms: list[AllocateNode] = []
        parameters: list[str] = []
        for begin, end in pairwise(places[:-1]):
            for call in self.composition.calls[begin:end]:
                handle = call.output
                if not self._is_read_behind(handle, end):
                    continue
                self.kept[handle] = whole[handle]
                starts = {x.start: Polynomial.of(0) for x in handle.kind.dimensions}
                rooms.append(AllocateNode(handle.name, handle.kind, {**whole[handle], **starts}))
                group = self.composition.calls[begin:end]
                inner = compose(group[: [x.output for x in group].index(handle) + 1])
                stages.append(self._stage(inner, f"{handle.name}_", parameters))
        last = compose(self.composition.calls[places[-2] :])
        stages.append(self._stage(last, "", parameters))
        self._require_known(parameters)
        integers = [x for x in self.composition.integers if x not in parameters]
        return ScheduledCalls(
            self.composition, tuple(stages), tuple(rooms), (*parameters, *integers)
        )

    def _breaks(self) -> list[int]:
        places = sorted({x.call for x in self.commands if isinstance(x, BreakBefore)})
        for place in places:
            if not 1 <= place < len(self.composition.calls):
                raise ScheduleError(
                    f"there is no place before call {place} to break at",
                    hint=f"places are 1 to {len(self.composition.calls) - 1}",
                )
        return places

    def _reused(self, composition: Composition) -> tuple[dict[str, int], tuple[int, ...]]:
        """Intermediates of which tiles share parts, and the order of the loops around them."""
        reused: dict[str, int] = {}
        count = len(composition.calls[-1].function.annotation.intervals)
        names = [x.output.name for x in composition.calls[:-1]]
        for command in self.commands:
            if not isinstance(command, ReuseOverlap):
                continue
            if command.data not in names:
                raise ScheduleError(
                    f"{command.data} is no intermediate that is computed in tiles",
                    hint=f"intermediates are {', '.join(names) or 'none'}",
                )
            if not 0 <= command.level < count:
                raise ScheduleError(
                    f"there is no loop at level {command.level}",
                    hint=f"levels are 0 to {count - 1}",
                )
            reused[command.data] = command.level
        if not reused:
            return {}, ()
        if any(isinstance(x, SplitLoop) for x in self.commands):
            raise ScheduleError(
                "loops are not split where tiles share parts", hint="choose smaller tiles instead"
            )
        order = list(range(count))
        for command in self.commands:
            if isinstance(command, Reorder):
                for level in (command.first, command.second):
                    if not 0 <= level < count:
                        raise ScheduleError(f"there is no loop at level {level}")
                first, second = command.first, command.second
                order[first], order[second] = order[second], order[first]
        return reused, tuple(order)

    def _require_known(self, parameters: Sequence[str]) -> None:
        """Refuse values for variables that no stage has."""
        substituted = [x.name for x in self.commands if isinstance(x, SubstituteValue)]
        for name in substituted:
            if name not in self.known or substituted.count(name) > 1:
                raise ScheduleError(
                    f"no stage has a variable {name} to put a value in",
                    hint=f"there are {', '.join(self.known)}, each once",
                )

    def _is_read_behind(self, handle: DataHandle, place: int) -> bool:
        return any(handle in call.inputs for call in self.composition.calls[place:])

    def _stage(self, composition: Composition, prefix: str, parameters: list[str]) -> CallPipeline:
        """The pipeline of a stage; loops of the last stage are as the commands say."""
        reused, order = ({}, ()) if prefix else self._reused(composition)
        resolution = resolve(composition, self.kept, prefix, reused, order)
        parallel: frozenset[int] = frozenset()
        self.known |= dict.fromkeys(resolution.parameters)
        for command in self.commands:
            if isinstance(command, SubstituteValue):
                resolution = _with_value(resolution, command)
            elif not prefix and not (order and isinstance(command, Reorder)):
                resolution, parallel = _with_loops(resolution, parallel, command)
                self.known |= dict.fromkeys(resolution.parameters)
        finer = [
            self._finer(command, resolution)
            for command in self.commands
            if isinstance(command, Subpipeline) and self._is_in(command, composition)
        ]
        for made in (resolution, *finer):
            parameters += [x for x in made.parameters if x not in composition.integers]
        return build_pipeline(resolution, parallel, self.kept, finer)

    def _is_in(self, command: Subpipeline, composition: Composition) -> bool:
        """Tell if a stage has the calls of a command; refuse calls that no stage has together."""
        calls = self.composition.calls[command.begin : command.end]
        if not 0 <= command.begin < command.end <= len(self.composition.calls):
            raise ScheduleError(
                f"there are no calls {command.begin} to before {command.end}",
                hint=f"calls are 0 to {len(self.composition.calls) - 1}",
            )
        if any(command.begin < place < command.end for place in self._breaks()):
            raise ScheduleError("a subpipeline lies on one side of every break")
        for handle in [call.output for call in calls[:-1]]:
            readers = [c for c in self.composition.calls if handle in c.inputs]
            if any(reader not in calls for reader in readers):
                raise ScheduleError(
                    f"{handle.name} is read outside the subpipeline that computes it",
                    hint="have it end behind the last call that reads it",
                )
            if any(isinstance(x, ReuseOverlap) and x.data == handle.name for x in self.commands):
                raise ScheduleError(f"{handle.name} is reused, and computed in a subpipeline")
        others = [x for x in self.commands if isinstance(x, Subpipeline) and x is not command]
        if any(x.begin < command.end and command.begin < x.end for x in others):
            raise ScheduleError("two subpipelines share a call")
        return calls[-1] in composition.calls

    def _finer(self, command: Subpipeline, around: Resolution) -> Resolution:
        """Calls resolved for the part that a tile needs of the last of them."""
        calls = self.composition.calls[command.begin : command.end]
        result = calls[-1].output
        (produced,) = (x.produced for x in around.parts if x.call.output == result)
        taken = {name for loop in around.loops for name in (loop.variable, loop.length)}
        made = resolve(
            compose(calls), {**self.kept, result: produced}, f"{result.name}_",
            taken={*taken, *around.parameters},
        )  # fmt: skip
        self.known |= dict.fromkeys(made.parameters)
        for other in self.commands:
            if isinstance(other, SubstituteValue):
                made = _with_value(made, other)
        return made


def _with_value(resolution: Resolution, command: SubstituteValue) -> Resolution:
    if command.name not in resolution.parameters:
        return resolution
    if command.value < 1:
        raise ScheduleError(f"{command.name} is {command.value}; sizes are 1 or more")
    return resolution.substituted({command.name: Polynomial.of(command.value)})


def _with_loops(
    resolution: Resolution, parallel: frozenset[int], command: ScheduleCommand
) -> tuple[Resolution, frozenset[int]]:
    match command:
        case Parallelize(level):
            _require_level(resolution, level)
            return resolution, parallel | {level}
        case Reorder(first, second):
            _require_level(resolution, first)
            _require_level(resolution, second)
            return _reordered(resolution, first, second), frozenset(
                {first: second, second: first}.get(x, x) for x in parallel
            )
        case SplitLoop(level):
            _require_level(resolution, level)
            later = frozenset(x + (x > level) for x in parallel)
            return _split(resolution, command), later
    return resolution, parallel


def _require_level(resolution: Resolution, level: int) -> None:
    if not 0 <= level < len(resolution.loops):
        raise ScheduleError(
            f"there is no loop at level {level}",
            hint=f"levels are 0 to {len(resolution.loops) - 1}",
        )


def _reordered(resolution: Resolution, first: int, second: int) -> Resolution:
    loops = list(resolution.loops)
    loops[first], loops[second] = loops[second], loops[first]
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
    return replace(resolution, loops=tuple(loops))


def _split(resolution: Resolution, command: SplitLoop) -> Resolution:
    loop = resolution.loops[command.level]
    size = loop.step.symbol
    if not loop.length:
        raise ScheduleError(
            f"the loop over {loop.variable} has no size of tiles",
            hint="make its step symbolic in the annotation of the last call",
        )
    taken = {x.variable for x in resolution.loops} | {*resolution.parameters}
    taken -= {loop.variable, str(size)}
    names = (command.outer, command.inner, command.outer_step, command.inner_step)
    for name in names:
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
