"""The single source of truth of a workbench: one design, what it compiles to, and its runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import param

from fuseloom.dataflow.compilation import Compilation, CompiledRegion
from fuseloom.dataflow.cost import Estimate
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.machine.text import read_machine
from fuseloom.errors import FuseloomError, ScheduleError
from fuseloom_workbench.base.quantities import count
from fuseloom_workbench.state import edits, repairs
from fuseloom_workbench.state.answered import Answered
from fuseloom_workbench.state.carrying import Recut, recut
from fuseloom_workbench.state.cells import with_choice
from fuseloom_workbench.state.design import BuiltDesign, Design, build
from fuseloom_workbench.state.look import ViewState
from fuseloom_workbench.state.machines import RUN_LIMIT, tokens_of
from fuseloom_workbench.state.records import KeptRun
from fuseloom_workbench.state.repairs import WayOut
from fuseloom_workbench.state.runs import Runs
from fuseloom_workbench.state.sources import known_names
from fuseloom_workbench.state.steps import DesignStep, Steps

LONGEST = 500
"""Characters of an answer."""


class Session(ViewState, Runs, Answered):
    """The state of a page, and every way to change it.

    Each change compiles first.  If the engine refuses, nothing changes, and ``message`` says
    why with ``ok`` False.  Components watch ``answers``, which counts every answer, accepted or
    refused, and is set last.

    Parameters
    ----------
    model, data : str
        Names in :mod:`fuseloom.models`.
    seed : int
        Seed of random data.
    schedule : str, optional
        Text of the scheduling language; by default the preset ``partial``, if there is one.
    built : BuiltDesign, optional
        The design to begin with, in the place of all these.

    Examples
    --------
    >>> session = Session("gcn", "karate")
    >>> session.cuts
    (4,)
    >>> session.move_boundary(4, 3)
    True
    >>> [region.name for region in session.regions]
    ['T1..T3', 'H..Y']
    """

    built = param.ClassSelector(class_=BuiltDesign, doc="The design, compiled and estimated.")
    message = param.String(doc="The last answer, for people.")
    ok = param.Boolean(True, doc="Whether the last request was granted.")
    answers = param.Integer(0, doc="Counts answers, so that a refusal is an event too.")
    topic = param.Selector(
        default="fusion",
        objects=["fusion", "order", "text", "machine", "sizes", "input"],
        doc="What was asked last.",
    )
    place = param.Tuple((0, 0), doc="Line and column of the last refusal; 0 is none.")
    run_limit = param.Number(RUN_LIMIT, doc="Seconds that a run may take here.")

    ways: tuple[WayOut, ...] = ()
    """Ways to have what was refused last."""

    def __init__(
        self,
        model: str = "gcn",
        data: str | None = None,
        seed: int = 0,
        schedule: str | None = None,
        machine: Machine | None = None,
        built: BuiltDesign | None = None,
        **params: Any,
    ) -> None:
        super().__init__(**params)
        self._steps = Steps()
        self._here: DesignStep | None = None
        self._show(built or build(edits.started(model, data, seed, schedule, machine)))

    # What there is ------------------------------------------------------------------------

    @property
    def design(self) -> Design:
        return self.built.design

    @property
    def machine(self) -> Machine:
        return self.design.machine

    @property
    def compilation(self) -> Compilation:
        return self.built.compilation

    @property
    def estimate(self) -> Estimate:
        return self.built.estimate

    @property
    def regions(self) -> tuple[CompiledRegion, ...]:
        return self.built.regions

    @property
    def summary(self) -> str:
        """The design in a sentence."""
        regions, cycles = len(self.regions), count(self.estimate.cycles, "cycles")
        note = self.built.ranking.note
        told = f" {note[0].upper()}{note[1:]}." if note else ""
        return f"{regions} region{'s' * (regions != 1)}, estimated {cycles}.{told}"

    @property
    def cuts(self) -> tuple[int, ...]:
        """Gaps between boxes of the chain that are cut; gap ``g`` is before box ``g``."""
        return self.built.gaps

    @property
    def presets(self) -> Mapping[str, str]:
        """Schedules worth comparing; of a text that was edited, there are none."""
        return self.built.model.presets

    @property
    def configuration(self) -> str:
        return self.built.configuration

    # Changes ------------------------------------------------------------------------------

    def choose(self, model: str, data: str | None = None, seed: int | None = None) -> bool:
        """Load another model or data set, by name; a model starts with its own schedule.

        The model whose program was edited, named alone, gets its own program back.
        """

        def change() -> Design:
            known_names(model, data)
            edited = self.design.text is not None
            if model == self.design.model and not (edited and data is None and seed is None):
                return edits.with_data(self.design, data, seed)
            return edits.started(model, data, seed or 0, None, self.machine)

        return self.edit(change)

    def set_options(self, given: Mapping[str, Any]) -> bool:
        """Give the model these sizes and densities, numbers or texts; its own for all others."""

        def change() -> Design:
            design = edits.with_options(self.built, given)
            self.check_size(design)
            return design

        return self.edit(change, "sizes")

    def preset(self, name: str) -> bool:
        """Take over a schedule of the model by name."""
        if name not in self.presets:
            return self.refuse(
                ScheduleError(f"no preset is called {name!r}", hint=", ".join(self.presets))
            )
        return self.edit(lambda: edits.with_schedule(self.design, self.presets[name]))

    def set_schedule(self, text: str, as_written: bool = False) -> bool:
        """Take over schedule text, and nothing beyond it if it is to be as written."""

        def change() -> Design:
            self.bounded(text)
            return edits.with_schedule(self.design, text, as_written)

        return self.edit(change, "text")

    def take(
        self, problem: str, schedule: str, told: str, as_written: bool = False, machine: str = ""
    ) -> bool:
        """Take over a schedule that was found, possibly as written, and say so.

        With the text of a machine, take that over, too, in one step.  Refused if the program, its
        data or the machine shown are not those of the problem any more.
        """
        if problem != self.built.problem:
            return self.refuse(
                ScheduleError(
                    "a schedule was found for what is not shown any more", hint="search again"
                )
            )

        def change() -> Design:
            design = self.design
            if machine:
                design = replace(design, machine=read_machine(machine))
            return edits.with_schedule(design, schedule, as_written)

        return self.edit(change, told=told)

    def set_program(self, text: str) -> bool:
        """Take over program text; cuts and orders stay where the statements are the same."""

        def change() -> Design:
            self.bounded(text)
            design = edits.with_program(self.built, text)
            self.check_size(design)
            return design

        return self.edit(change, "text")

    def set_machine(self, name_or_text: str) -> bool:
        """Simulate on another machine: a preset by name, or one described in TOML."""
        return self.edit(
            lambda: replace(self.design, machine=read_machine(name_or_text)), "machine"
        )

    def set_capacity(self, text: str) -> bool:
        """Let every channel of the machine hold so many tokens, or be unbounded."""

        def change() -> Design:
            machine = replace(self.machine, channel_capacity=tokens_of(text))
            return replace(self.design, machine=machine)

        return self.edit(change, "machine")

    def set_cuts(self, gaps: Iterable[int]) -> bool:
        """Cut exactly at these gaps between boxes."""
        return self.edit(lambda: edits.with_cuts(self.built, gaps))

    def move_boundary(self, gap: int, to: int) -> bool:
        """Move the boundary at one gap to another, past no other boundary."""
        return self.edit(lambda: edits.with_boundary_moved(self.built, gap, to))

    def add_boundary(self, gap: int) -> bool:
        """Cut a region in two."""
        return self.set_cuts({*self.cuts, gap})

    def remove_boundary(self, gap: int) -> bool:
        """Fuse the regions on both sides of a gap."""
        return self.set_cuts(set(self.cuts) - {gap})

    def set_order(self, region: int, order: Sequence[str]) -> bool:
        """Choose a region's dataflow order, outermost index first."""
        return self.edit(
            lambda: edits.with_region_order(self.built, region, order),
            "order",
            ways=lambda: repairs.of_order(self.built, region, order),
        )

    def move_row(self, row: str, to: int) -> bool:
        """Move an index of the region shown to another place of the table's rows."""
        return self.edit(
            lambda: edits.with_row_moved(self.built, self.region, row, to),
            "order",
            ways=lambda: repairs.of_order(
                self.built, self.region, edits.moved(self.current, row, to)
            ),
        )

    def take_way_out(self, text: str) -> bool:
        """Do what was offered when the last request was refused, by its text."""
        chosen = next((way for way in self.ways if way.text == text), None)
        if chosen is None:
            return self.refuse(
                ScheduleError("this is not offered any more", hint="ask again for what was refused")
            )
        return self.edit(lambda: chosen.design, self.topic)

    def choose_at(self, column: str, row: str, key: str) -> bool:
        """Take an entry of the menu of a cell of the region shown (``state/cells.py``).

        Examples
        --------
        >>> session = Session("gcn", "karate")
        >>> session.choose_at("A", "i", "lanes 4")
        True
        >>> "parallel T1..H: i by 4" in session.built.resolved
        True
        """
        return self.edit(lambda: with_choice(self.built, self.region, column, row, key), "order")

    def undo(self) -> bool:
        """Back to the design before the last change."""
        return self.travel(-1)

    def redo(self) -> bool:
        return self.travel(1)

    def travel(self, by: int) -> bool:
        """Go so many steps ahead, or back if negative."""
        step, here = self._steps.reached(by), self._here
        if step is None or here is None:
            return self.refuse(FuseloomError(f"nothing to {'redo' if by > 0 else 'undo'}"))
        try:
            built = build(step.design, self.built)
        except FuseloomError as reason:
            return self.refuse(reason)
        self._steps.travel(here, by)
        self._here = step if step.cycles is not None else DesignStep.of(built, None)
        self._show(built)
        return True

    @property
    def travels(self) -> tuple[bool, bool]:
        """Whether there is something to undo, and to redo."""
        return bool(self._steps.past), bool(self._steps.future)

    @property
    def trail(self) -> tuple[list[DesignStep], int]:
        """Every step, and which of them is shown."""
        past = self._steps.past
        here = self._here or DesignStep.of(self.built, None)
        return [*past, here, *reversed(self._steps.future)], len(past)

    @property
    def steps(self) -> tuple[list[Design], list[Design]]:
        """The designs before this one, and those that were undone."""
        return [s.design for s in self._steps.past], [s.design for s in self._steps.future]

    def go_to(
        self,
        design: Design,
        past: Sequence[Design],
        future: Sequence[Design],
        records: Mapping[str, KeptRun],
    ) -> None:
        """Show a design with its history and runs, as they were saved.

        Raises
        ------
        FuseloomError
            If it cannot be built; nothing changes then.
        """
        self.check_size(design)
        built = build(design, self.built)
        self._steps.restore(past, future)
        self._here = DesignStep.of(built, None)
        self.param.update(records=dict(records), latest=next(reversed(records.values()), None))
        self._show(built)

    def apply_suggestion(self, text: str) -> bool:
        """Carry out a change that was suggested, by its text; what it promises is kept."""
        chosen = self.suggested.get(text)
        if chosen is None or not chosen.applies:
            return self.refuse(
                ScheduleError("this is not suggested any more", hint="choose another change")
            )

        def change() -> Design:
            if chosen.schedule is None:
                return replace(self.design, machine=chosen.machine)
            return edits.with_schedule(self.design, chosen.schedule, as_written=True)

        told = f"{chosen.text}: {chosen.promise.text} cycles. Run shows whether that holds."
        if not self.edit(change, told=told):
            return False
        self.promise(chosen.promise)
        return True

    # Back to what was run ---------------------------------------------------------------

    def recall(self, configuration: str) -> bool:
        """Go back to a configuration that was run."""
        record = self.records.get(configuration)
        return record is not None and self.edit(lambda: record.design)

    def take_kept(self, key: str) -> bool:
        """Take over the schedule of a run of the store."""
        run = next((run for run in self.others if run.key == key), None)
        if run is None:
            return self.refuse(
                ScheduleError("that run is not shown any more", hint="choose another one")
            )

        def change() -> Design:
            self.bounded(run.schedule)
            return edits.with_schedule(self.design, run.schedule, as_written=True)

        cycles = count(run.cycles, "cycles")
        told = f"A kept run of {cycles} was taken over; Undo goes back."
        if run.engine:
            told += f" Engine {run.engine} has done it: press Run to see what this one makes of it."
        if not self.edit(change, told=told):
            return False
        if self.built.resolved != run.schedule:
            self.message = f"{told} This engine reads its schedule in another way; press Run."
            self.answers += 1
        return True

    # Inside -------------------------------------------------------------------------------

    def edit(
        self,
        change: Callable[[], Design | Recut],
        topic: str = "fusion",
        told: str = "",
        ways: Callable[[], Sequence[WayOut]] = tuple,
        refused: list[FuseloomError] | None = None,
    ) -> bool:
        """Show the design that a change gives; with ``refused``, a reason goes there instead."""
        try:
            made = recut(change(), self.built)
        except FuseloomError as reason:
            if refused is not None:
                refused.append(reason)
                return False
            offered: Sequence[WayOut] = ()
            with suppress(FuseloomError):  # of what cannot even be asked for
                offered = ways()
            return self.refuse(reason, topic, offered)
        if made.built.design != self.design:
            self._steps.went(self._here or DesignStep.of(self.built, None))
            self._here = DesignStep.of(made.built, self.built)
        self._show(made.built, topic, told, made.told)
        return True

    def _show(
        self, built: BuiltDesign, topic: str = "fusion", told: str = "", more: str = ""
    ) -> None:
        if self._here is None:
            self._here = DesignStep.of(built, None)
        number = 0 if self.built is None else edits.region_after(self.current, built)
        same = self.built is not None and built.compilation is self.built.compilation
        self.param.update(
            built=built,
            region=self.region if same else number,
            cell=self.cell if same else ("", ""),
            menu=("", ""),
            node=self.node if same else -1,
            kernel=self.kernel if same else -1,
            moment=self.moment if same else self.beginning,
            ok=True,
            topic=topic,
            place=(0, 0),
        )
        self.message = f"{told or self.summary} {more}".rstrip()
        self.ways = ()
        if self.record is not None:
            self.latest = self.record
        self.answers += 1

    def refuse(
        self, reason: FuseloomError, topic: str = "fusion", ways: Sequence[WayOut] = ()
    ) -> bool:
        """Answer with a reason, and with ways to have it all the same; nothing changes."""
        text = str(reason)
        self.ways = tuple(ways)
        self.param.update(
            ok=False,
            topic=topic,
            message=text if len(text) <= LONGEST else f"{text[: LONGEST - 2]} …",
            place=(reason.line or 0, (reason.column or 1) if reason.line else 0),
        )
        self.answers += 1
        return False
