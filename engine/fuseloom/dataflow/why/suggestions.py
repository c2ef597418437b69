"""Changes that are expected to help, each with what it promises.

Every schedule that is suggested was compiled, has all of its orders named, and so gives the very
program of which the promise speaks; what is illegal is left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiled_before import CompiledBefore
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost import Estimate, estimate
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.orders import best_orders
from fuseloom.dataflow.why.edits import EditKind, ScheduleDraft, drafts
from fuseloom.dataflow.why.promises import Promise, bound
from fuseloom.errors import FuseloomError
from fuseloom.program.storage import StoredTensor
from fuseloom.results.record import RunRecord
from fuseloom.wording import counted

GAIN = 0.01
"""Share of the cycles that a change must be expected to save."""
SECONDS = 0.4
"""The most seconds of a search for changes."""
_EFFORT = 1e6
"""The most work of ranking the orders of a change, in elements of executions."""
_BEFORE = CompiledBefore(most=20_000)
"""The cache of regions that earlier changes have compiled."""

__all__ = ["EditKind", "Suggestion", "SuggestionRequest", "suggestions"]


@dataclass(frozen=True)
class Suggestion:
    """A change that is expected to help.

    Attributes
    ----------
    text : str
        What to do, naming kernels as they are drawn.
    schedule : str or None
        The schedule with the change, every order named; None where it stays.
    machine : Machine or None
        The machine with the change; None where it stays.
    promise : Promise
    """

    kind: EditKind
    text: str
    promise: Promise
    schedule: str | None = field(default=None, repr=False)
    machine: Machine | None = field(default=None, repr=False)

    @property
    def applies(self) -> bool:
        """True if it can be carried out; a faster node is for information alone."""
        return self.schedule is not None or self.machine is not None

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "kind": self.kind.value,
            "text": self.text,
            "promise": self.promise.to_dict(),
            "schedule": self.schedule,
            "machine": None if self.machine is None else self.machine.name,
        }


@dataclass(frozen=True)
class SuggestionRequest:
    """A request for changes to a program.

    Attributes
    ----------
    compilation : Compilation
        The program as it is scheduled.
    data : mapping
        Its inputs by name.
    record : RunRecord or None
        A run of it; explained, it tells what a faster node could gain.
    kernels : mapping
        Of tensors that statements assign the kernel, as it is drawn; by default the tensor.
        Programs are cut between kernels only.
    heavy : sequence of str
        Tensors of which it is known that they are computed over and over: a cut behind the last
        of them is tried first.
    """

    compilation: Compilation
    data: Mapping[str, StoredTensor] = field(repr=False)
    machine: Machine
    estimate: Estimate = field(repr=False)
    record: RunRecord | None = field(default=None, repr=False)
    kernels: Mapping[str, str] = field(default_factory=dict)
    heavy: Sequence[str] = ()

    @property
    def now(self) -> float:
        """Cycles as it is: measured, or else estimated."""
        return self.estimate.cycles if self.record is None else self.record.cycles


def suggestions(
    asked: SuggestionRequest,
    *,
    seconds: float = SECONDS,
    most: int = 6,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[Suggestion, ...]:
    """Changes that are expected to help, the best first; those that need more hardware last.

    Parameters
    ----------
    seconds : float
        After so long no further change is looked at; at least one is.
    most : int
        How many are given.

    Returns
    -------
    tuple of Suggestion
        Empty where nothing that was tried is expected to save a hundredth of the cycles.
    """
    until = clock() + seconds
    found: list[Suggestion] = []
    seen = {str(asked.compilation.resolved)}
    spans = [(r.name, e.cycles) for r, e in _regions(asked)]
    for draft in drafts(asked.compilation, asked.kernels, spans, asked.heavy):
        made = _judged(asked, draft, seen)
        if made is not None and _helps(asked, made):
            found.append(made)
        if clock() > until:
            break
    found += [s for s in _channels(asked) if _helps(asked, s)]
    return tuple(_chosen([*_ranked(found), *_faster(asked)], most))


def _ranked(found: Sequence[Suggestion]) -> list[Suggestion]:
    """The fewest cycles first; of what is hardly worse, what was looked at first."""
    cycles = [s.promise.estimated or 0.0 for s in found]
    ranked = sorted(range(len(found)), key=cycles.__getitem__)
    front = [k for k in ranked if cycles[k] <= cycles[ranked[0]] * (1.0 + GAIN)]
    return [found[k] for k in (*sorted(front), *ranked[len(front) :])]


def _regions(asked: SuggestionRequest) -> Iterator[tuple[Any, Any]]:
    return zip(asked.compilation.regions, asked.estimate.regions, strict=True)


def _helps(asked: SuggestionRequest, made: Suggestion) -> bool:
    expected = made.promise.estimated
    return expected is not None and expected < asked.estimate.cycles * (1.0 - GAIN)


def _chosen(found: Sequence[Suggestion], most: int) -> list[Suggestion]:
    """Return the free suggestions first; of each kind with hardware only the best one."""
    free = [s for s in found if not s.kind.hardware]
    dear: dict[EditKind, Suggestion] = {}
    for suggestion in found:
        if suggestion.kind.hardware:
            dear.setdefault(suggestion.kind, suggestion)
    return [*free[: max(1, most - len(dear))], *dear.values()][:most]


def _judged(asked: SuggestionRequest, draft: ScheduleDraft, seen: set[str]) -> Suggestion | None:
    """A change compiled and estimated; None if it is illegal, or has been looked at."""
    source = asked.compilation.source or asked.compilation.program
    machine = asked.machine
    try:
        made = compile_program(source, draft.schedule, before=_BEFORE)
        made = best_orders(made, asked.data, effort=_EFFORT, machine=machine).compilation
        text = str(made.resolved)
        if text in seen:
            return None
        seen.add(text)
        return Suggestion(draft.kind, draft.text, _promise(asked, made, machine), text)
    except FuseloomError:
        return None


def _promise(asked: SuggestionRequest, made: Compilation, machine: Machine) -> Promise:
    expected = estimate(made, asked.data, machine=machine)
    high = expected.high if expected.high < inf else None
    return Promise(asked.now, bound(expected), expected.cycles, high)


def _channels(asked: SuggestionRequest) -> Iterator[Suggestion]:
    """Channels with more room, where the machine has a bound."""
    room = asked.machine.channel_capacity
    if room is None:
        return
    machine = replace(asked.machine, channel_capacity=room * 4)
    try:
        promise = _promise(asked, asked.compilation, machine)
    except FuseloomError:
        return
    yield Suggestion(
        EditKind.CHANNELS, f"Channels of {counted(room * 4, 'token')}", promise, None, machine
    )


def _faster(asked: SuggestionRequest) -> Iterator[Suggestion]:
    """The node whose double speed could gain most."""
    record = asked.record
    if record is None or not record.explained:
        return
    gains = [(r, g) for r in record.regions for g in (r.path["what_if"] if r.path else [])[:1]]
    if not gains:
        return
    _, guess = max(gains, key=lambda pair: pair[1]["gain"])
    if guess["gain"] < GAIN * record.cycles:
        return
    promise = Promise(record.cycles, record.cycles - guess["gain"])
    yield Suggestion(EditKind.NODE, f"{guess['label']} twice as fast", promise)
