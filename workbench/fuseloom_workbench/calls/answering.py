"""The work of the page's process: compositions resolved, scheduled, counted and measured.

It runs calls of the library that comes with the program; what a visitor writes are annotations,
which say what parts those calls are given, and commands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fuseloom.calls.annotated import FunctionCall, annotate
from fuseloom.calls.checker import check
from fuseloom.calls.composition import Composition, compose
from fuseloom.calls.fused import FusedFunction
from fuseloom.calls.library import LIBRARY
from fuseloom.calls.measuring import TiledSchedule, every_tile, measure, tune
from fuseloom.calls.pipelines import PipelineCase, ShippedPipeline, pipeline_named, read_extents
from fuseloom.calls.schedule import schedule
from fuseloom.errors import FuseloomError, LimitError, ProgramError
from fuseloom.exploration.limiting import limit_memory
from fuseloom_workbench.base.child import Send
from fuseloom_workbench.calls import view
from fuseloom_workbench.calls.asked import CallsQuestion, read_command

MOST_MEMORY = 3 * 2**30
"""Bytes that the process may take besides what it has loaded."""
ROUNDS = 5


@dataclass
class _ShownCalls:
    """What is known of the question that is shown."""

    asked: CallsQuestion
    pipeline: ShippedPipeline
    case: PipelineCase
    fused: FusedFunction


_shown: list[_ShownCalls] = []


def prepare() -> None:
    """Limit what answers may take."""
    limit_memory(MOST_MEMORY)


def answer(request: tuple[Any, ...], send: Send) -> None:
    """Carry out a request; runs inside the process.

    Sends ``("part", name, data)`` as something is found, ``("progress", share, text)``, and at the
    end ``("done", text)`` or ``("refused", text, hint)``.
    """
    try:
        match request:
            case ("show", CallsQuestion() as asked):
                told = _show(asked, send)
            case ("measure" | "tune" | "sweep" as what,):
                told = _measure(what, send)
            case ("check", int(number)):
                told = _check(number, send)
            case _:
                told = ""
    except FuseloomError as reason:
        place = f"line {reason.line}, column {reason.column}: " if reason.line else ""
        send(("refused", f"{place}{reason.message}", reason.hint or ""))
    except MemoryError:
        send(("refused", "this takes more memory than a page may", "take smaller extents"))
    except Exception as problem:  # a call that does not bear the parts that it was given
        send(("refused", f"a call failed on its parts: {problem}", "mend its annotation"))
    else:
        send(("done", told))


def _show(asked: CallsQuestion, send: Send) -> str:
    pipeline = pipeline_named(asked.pipeline)
    case = pipeline.make(read_extents(asked.extents), asked.seed)
    edited = dict(asked.annotations)
    case.calls = [_edited(call, edited.get(n), send) for n, call in enumerate(case.calls)]
    composition = compose(case.calls)
    send(("part", "graph", view.graph_view(composition)))
    commands = [read_command(text) for text in asked.commands]
    fused = FusedFunction(composition, commands, asked.threads)
    send(("part", "annotations", {"calls": view.annotations_view(fused, edited)}))
    send(("part", "code", view.code_view(fused)))
    send(("part", "menu", {"commands": list(_menu(composition, asked))}))
    _shown[:] = [_ShownCalls(asked, pipeline, case, fused)]
    given = {**case.arguments, **_sizes(fused, pipeline.tile, asked.tile)}
    send(("part", "tiles", view.tiles_view(fused, fused.values(**given))))
    try:
        send(("part", "counts", view.counts_view(fused.counts(**given))))
    except LimitError as reason:
        return reason.message
    return ""


def _edited(call: FunctionCall, text: str | None, send: Send) -> FunctionCall:
    """A call with the annotation that a visitor wrote."""
    if text is None:
        return call
    function = call.function
    try:
        made = annotate(function.function, text, function.parameters, function.name)
        return FunctionCall(made, call.arguments)
    except FuseloomError as reason:
        send(("part", "fault", {
            "name": function.name, "output": call.output.name, "message": reason.message,
            "line": reason.line, "column": reason.column,
        }))  # fmt: skip
        raise


def _sizes(fused: FusedFunction, variable: str, tile: int) -> dict[str, int]:
    """The size of tiles of every stage that has one of that name."""
    return {
        name: tile
        for name in fused.scheduled.parameters
        if name == variable or name.endswith(f"_{variable}")
    }


def _menu(composition: Composition, asked: CallsQuestion) -> Iterator[dict[str, Any]]:
    """Commands that could come next, each with why it cannot."""
    loops = len(composition.calls[-1].function.annotation.intervals)
    names = [call.output.name for call in composition.calls[:-1]]
    texts = [f"parallelize {level}" for level in range(loops)]
    texts += [f"reorder {a} {b}" for a in range(loops) for b in range(a + 1, loops)]
    texts += [f"split {level} outer inner big small" for level in range(loops)]
    texts += [f"break {place}" for place in range(1, len(composition.calls))]
    texts += [f"reuse {name} {level}" for name in names for level in range(loops)]
    texts += [f"subpipeline {a} {a + 2}" for a in range(len(composition.calls) - 1)]
    before = [read_command(text) for text in asked.commands]
    for text in texts:
        reason = ""
        if text in asked.commands:
            reason = "it is there already"
        else:
            try:
                schedule(composition, [*before, read_command(text)])
            except FuseloomError as problem:
                reason = problem.message
        yield {"text": text, "reason": reason}


def _now() -> _ShownCalls:
    if not _shown:
        raise ProgramError("nothing has been composed yet", hint="mend what is refused")
    return _shown[0]


def _measure(what: str, send: Send) -> str:
    now = _now()
    common: Mapping[str, Any] = {"workers": now.asked.threads, "rounds": ROUNDS}
    if what == "tune":
        made = tune(
            now.case, now.pipeline.tile, **common,
            progress=lambda share: send(("progress", share, "trying tiles and breaks")),
        )  # fmt: skip
    else:
        tiles = [now.asked.tile] if what == "measure" else every_tile(now.case)
        made = measure(
            now.case, now.pipeline.tile, [TiledSchedule(tile) for tile in tiles],
            commands=[read_command(text) for text in now.asked.commands], **common,
            progress=lambda number: send(("progress", number / ROUNDS, "measuring in turns")),
        )  # fmt: skip
    if what == "sweep":
        send(("part", "sweep", view.sweep_view(made)))
    else:
        send(("part", "times", {**view.times_view(made), "tuned": what == "tune"}))
    return f"{made[0].verdict}: {made[0].reason}"


def _check(number: int, send: Send) -> str:
    """Search for parts on which a call's annotation is wrong."""
    calls = _now().case.composition.calls
    if not 0 <= number < len(calls):
        raise ProgramError("there is no such call", hint="choose one of the list")
    function = calls[number].function
    row = LIBRARY.get(function.name)
    if row is None:
        raise ProgramError(f"there is no example of {function.name} to check it on")
    found = check(function, row.kinds, row.example(), tolerance=row.tolerance)
    send(("part", "checked", {"number": number, "ok": found.ok, "text": str(found)}))
    return ""
