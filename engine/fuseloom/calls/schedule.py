"""Schedules: how a composition is cut into pipelines, and how their loops run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from fuseloom.calls.annotated import DataHandle
from fuseloom.calls.commands import (
    BreakBefore,
    ReuseOverlap,
    ScheduleCommand,
    Subpipeline,
    SubstituteValue,
)
from fuseloom.calls.composition import Composition, compose
from fuseloom.calls.loop_commands import reused_loops, with_command
from fuseloom.calls.parts import PartFields, Resolution
from fuseloom.calls.pipeline import CallPipeline, build_pipeline
from fuseloom.calls.pipeline_nodes import AllocateNode, FreeNode, PipelineNode
from fuseloom.calls.polynomials import Polynomial
from fuseloom.calls.resolution import resolve, whole_parts
from fuseloom.errors import ScheduleError


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
        shared = None
        if not prefix:
            names = [x.output.name for x in composition.calls[:-1]]
            loops = composition.calls[-1].function.annotation.intervals
            shared = reused_loops(self.commands, names, len(loops))
        taken = {*self.composition.names, *parameters}
        if shared is None:
            resolution = resolve(composition, self.kept, prefix, taken=taken)
        else:
            resolution = resolve(composition, self.kept, prefix, shared.reused, shared.order, taken)
        parallel = frozenset() if shared is None else shared.parallel
        self.known |= dict.fromkeys(resolution.parameters)
        for command in self.commands:
            if isinstance(command, SubstituteValue):
                resolution = _with_value(resolution, command)
            elif not prefix and shared is None:
                resolution, parallel = with_command(resolution, parallel, command)
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
            taken={*taken, *around.parameters, *around.taken},
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
