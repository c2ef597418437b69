"""The work of the page's process: a program read, and fused by one system after another."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from fuseloom.cli.limits import MADE_UP_ELEMENTS
from fuseloom.comparison.compare import compare, problem_of
from fuseloom.comparison.examples import example_path
from fuseloom.comparison.known import known_comparison
from fuseloom.comparison.problem import ComparedProgram, Progress
from fuseloom.comparison.rows import ComparisonRow, FusionSystem
from fuseloom.errors import FuseloomError, LimitError
from fuseloom.exploration.limiting import limit_memory
from fuseloom.models import Model, data_for, random_data
from fuseloom.models.drawing import check_made_up
from fuseloom.program import Program, parse
from fuseloom.program.printer import print_program
from fuseloom_workbench.base.child import Send
from fuseloom_workbench.state.sources import chosen_options, known_names, source
from fuseloom_workbench.systems import view
from fuseloom_workbench.systems.asked import LONGEST, SystemsQuestion
from fuseloom_workbench.systems.carried import CarriedSchedule, carried, explorer_words
from fuseloom_workbench.systems.openings import openings

MOST_MEMORY = 3 * 2**30
"""Bytes that the process may take besides what it has loaded."""
MOST_SECONDS = 100.0
"""Seconds that one system may take."""
MOST_STATEMENTS = 500
"""Statements of a program that is compared."""


class OvertimeError(BaseException):
    """A system that takes longer than a page waits; no handler of errors of users stops it."""


@dataclass
class OpenProgram:
    """The program that is shown, with its data.

    Attributes
    ----------
    problem : ComparedProgram
        As the command line has it, so that both know each other's rows.
    label : str
        What people call the data.
    carried : CarriedSchedule
        The schedule that came along.
    """

    asked: SystemsQuestion
    problem: ComparedProgram
    label: str
    carried: CarriedSchedule

    def problem_for(self, system: FusionSystem) -> ComparedProgram:
        """The program for a system: schedules are those of the dataflow machine alone."""
        return self.carried.problem if system is FusionSystem.DATAFLOW else self.problem


_open: list[OpenProgram] = []


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
            case ("show", SystemsQuestion() as asked):
                _show(asked, send)
                told = ""
            case ("compare", SystemsQuestion() as asked, bool(again)):
                told = _compare(asked, send, again=again)
            case ("read", int(number), str(text)):
                send(("part", "written", {"number": number, "error": _error_of(text)}))
                told = ""
            case _:
                told = ""
    except FuseloomError as reason:
        place = f"line {reason.line}, column {reason.column}: " if reason.line else ""
        send(("refused", f"{place}{reason.message}", reason.hint or ""))
    except MemoryError:
        send(("refused", "this takes more memory than a page may", "declare smaller dimensions"))
    except RecursionError:
        send(("refused", "the program is nested too deeply", "write it in more statements"))
    else:
        send(("done", told))


def _show(asked: SystemsQuestion, send: Send, doing: str = "reading") -> OpenProgram:
    """Open a program, and tell what is known of it; one that cannot be opened changes nothing."""
    send(("progress", 0.0, doing))
    try:
        read = _read(asked)
    except FuseloomError as reason:
        if asked.text:
            send(("part", "fault", {"text": asked.text, **_place(reason)}))
        raise
    model, program = read.model, read.model.program
    presets = {name: text for name, text in model.presets.items() if name != "unfused"}
    problem = problem_of(program, read.data, presets=presets if model.presets else None)
    now = OpenProgram(asked, problem, read.label, carried(problem, asked.schedule))
    known = {}
    for system in FusionSystem:
        found = known_comparison(now.problem_for(system), system)
        if found is not None:
            known[system.value] = view.rows_view(found.rows)
    opened = openings(program, read.text, read.source, explorer_words(asked))
    _open[:] = [now]
    send(("part", "program", {
        "text": read.text, "name": program.name, "label": read.label, "seed": asked.seed,
        "statements": len(program.live), "command": _command(asked, program.name, read.source),
        "own": bool(asked.text), "data": bool(asked.text and asked.data),
        "carried": now.carried.name, "unfit": now.carried.refused, "systems": known,
        "openings": [view.opening_view(one) for one in opened],
    }))  # fmt: skip
    return now


@dataclass
class _ReadProgram:
    """A program with its data; ``source`` is the model and the data set that these are of."""

    model: Model
    data: Any
    text: str
    label: str
    source: tuple[str, str] | None = None


def _read(asked: SystemsQuestion) -> _ReadProgram:
    if asked.is_model or asked.data:
        name = asked.data or data_for(asked.name, {})
        known_names(asked.name, name)
        options = chosen_options(asked.name, name, dict(asked.sizes))
        _check_length(parse(asked.text) if asked.text else None)
        loaded = source(asked.name, name, asked.seed, asked.text or None, options)
        text = asked.text or print_program(loaded.model.program)
        return _ReadProgram(loaded.model, loaded.data, text, loaded.label, (asked.name, name))
    text = asked.text or example_path(asked.name).read_text(encoding="utf-8")
    program = parse(text)
    _check_length(program)
    model = Model(program, ())
    check_made_up(map(program.tensor, program.given), MADE_UP_ELEMENTS)
    return _ReadProgram(model, random_data(model, asked.seed), text, "random")


def _check_length(program: Program | None) -> None:
    """Refuse a text with more statements than a page compares."""
    if program is not None and len(program.live) > MOST_STATEMENTS:
        raise LimitError(
            f"the program has {len(program.live):,} statements, and a page compares at most "
            f"{MOST_STATEMENTS}",
            hint="fuseloom compare FILE takes more",
        )


def _error_of(text: str) -> dict[str, Any] | None:
    """The fault of a program that is being written."""
    try:
        parse(text[: LONGEST + 1])
    except FuseloomError as reason:
        return _place(reason)
    return None


def _place(reason: FuseloomError) -> dict[str, Any]:
    return {
        "message": reason.message,
        "hint": reason.hint or "",
        "line": reason.line,
        "column": reason.column,
    }


def _command(asked: SystemsQuestion, name: str, source: tuple[str, str] | None) -> str:
    """The command that gives the same rows."""
    if source is not None and not asked.text:
        words = ["--model", source[0], "--data", source[1]]
        sizes = ",".join(f"{size}={value}" for size, value in asked.sizes)
        words += ["--with", sizes] if sizes else []
    else:
        words = [f"{name}.loom" if asked.text else asked.name]
    return shlex.join(["fuseloom", "compare", *words, "--seed", str(asked.seed)])


def _compare(asked: SystemsQuestion, send: Send, *, again: bool) -> str:
    known = bool(_open) and _open[0].asked == asked
    now = _open[0] if known else _show(asked, send, "reading the program")
    late = []
    for number, system in enumerate(FusionSystem):
        share = number / len(FusionSystem)

        def tell(text: str, share: float = share) -> None:
            send(("progress", share, text))

        tell(system.value)
        rows, told = rows_of(now, system, again=again, tell=tell)
        late += [told] if told else []
        send(("part", "system", {"system": system.value, **view.rows_view(rows)}))
    return "; ".join(late)


def rows_of(
    now: OpenProgram, system: FusionSystem, *, again: bool, tell: Progress
) -> tuple[tuple[ComparisonRow, ...], str]:
    """Return the rows of a system, and a word if it was given up: others go on."""
    problem = now.problem_for(system)
    try:
        with _within(MOST_SECONDS):
            made = compare(
                problem.program, problem.data, presets=problem.presets, systems=[system.value],
                label=now.label, again=again, progress=tell,
            )  # fmt: skip
    except OvertimeError:
        reason = (
            f"given up after {MOST_SECONDS:.0f} seconds; declare smaller dimensions, or run the "
            "command below, which has no such limit"
        )
    except MemoryError:
        reason = "it takes more memory than a page may; declare smaller dimensions"
    except FuseloomError as error:
        reason = error.message
    except Exception as fault:  # a fault of one system takes no other with it
        reason = f"a fault of Fuseloom itself: {type(fault).__name__}: {fault}"
    else:
        return made.rows, ""
    row = ComparisonRow(system, "", applies=False, reason=reason)
    return (row,), f"{system.value}: {reason}"


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Raise where the work has not ended by then; on systems without such alarms never."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, _raise_overtime)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _raise_overtime(*_: object) -> None:
    raise OvertimeError
