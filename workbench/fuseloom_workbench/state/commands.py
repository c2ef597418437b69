"""The requests of a page to a session: names, kinds of arguments, and handling of failures.

A request comes from a browser, which may send anything; what is not in :data:`COMMANDS` is not
carried out.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fuseloom import faults
from fuseloom.errors import FuseloomError, InternalError, ScheduleError
from fuseloom.program.printer import print_program
from fuseloom_workbench.input import arriving, forms, taking
from fuseloom_workbench.state import asking, saving, sources
from fuseloom_workbench.state.beside import beside, compare, load_beside
from fuseloom_workbench.state.look import Window
from fuseloom_workbench.state.session import Session

_log = logging.getLogger(__name__)
LONGEST = 200
"""Characters of a name in a request."""

FOLDS = 2000
"""Kernels and regions that are folded or opened at once."""
ROWS, CELLS = 5000, 400_000
"""Rows of a timeline that are asked for at once, and rows times columns."""


def _text(x: Any) -> bool:
    return isinstance(x, str)


def _name(x: Any) -> bool:
    return isinstance(x, str) and len(x) <= LONGEST


def _sentence(x: Any) -> bool:
    return isinstance(x, str) and len(x) <= 10 * LONGEST


def _number(x: Any) -> bool:
    return isinstance(x, int) and not isinstance(x, bool) and abs(x) < 1 << 31


def _names(x: Any) -> bool:
    return isinstance(x, list) and len(x) <= LONGEST and all(map(_name, x))


def _flag(x: Any) -> bool:
    return isinstance(x, bool)


def _cycle(x: Any) -> bool:
    return isinstance(x, int) and not isinstance(x, bool) and 0 <= x < 1 << 62


def _cycles(x: Any) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool) and 0 <= x < 1e18


def _rows(x: Any) -> bool:
    return isinstance(x, list) and len(x) <= ROWS and all(map(_number, x))


def _part(x: Any) -> bool:
    return isinstance(x, str) and len(x) <= arriving.PART


def _places(x: Any) -> bool:
    return isinstance(x, list) and len(x) <= LONGEST and all(map(_number, x))


def _saved(x: Any) -> bool:
    return isinstance(x, dict)


def _values(x: Any) -> bool:
    return isinstance(x, dict) and len(x) <= LONGEST and all(map(_name, (*x, *x.values())))


def _arguments(x: Any) -> bool:
    return isinstance(x, list) and len(x) <= LONGEST


def _flags(x: Any) -> bool:
    return (
        isinstance(x, dict)
        and len(x) <= FOLDS
        and all(map(_name, x))
        and all(map(_flag, x.values()))
    )


@dataclass(frozen=True)
class SessionCommand:
    """One thing to ask for.

    Attributes
    ----------
    kinds : tuple
        A predicate per argument.
    do : callable
        Takes the session and the arguments.
    topic : str
        What a refusal is about, so that it is shown where the request came from.
    """

    kinds: tuple[Callable[[Any], bool], ...]
    do: Callable[..., Any]
    topic: str = "fusion"


def _recall(session: Session, number: int) -> None:
    configurations = list(session.records)
    if 0 <= number < len(configurations):
        session.recall(configurations[number])


def _draw_towards(session: Session, direction: str) -> None:
    if direction in session.param.direction.objects:
        session.draw_towards(direction)


def _compare_graph(session: Session, against: str) -> None:
    if against in ("", "A", "global"):
        session.compare_graph(against)


def _look_into(
    session: Session, kind: str, number: int, start: int, stop: int, width: int, rows: list[int]
) -> None:
    if kind in ("window", "area", "trace") and start < stop:
        once = tuple(dict.fromkeys(rows))
        columns = max(1, min(width, CELLS // max(1, len(once))))
        session.look_into(Window(kind, number, start, stop, columns, once))


def _select_cell(session: Session, column: str, row: str) -> None:
    if (column, row) in session.current.table.cells:
        session.select_cell(column, row)


def _set_order(session: Session, region: int, order: list[str]) -> None:
    if 0 <= region < len(session.regions):
        session.set_order(region, order)


def _look_beside(session: Session, name: str, arguments: list[Any]) -> None:
    """Carry out a request to the design compared with, if it changes nothing of it."""
    other = beside(session)
    if other is None:
        return
    if name in LOOKS:
        carry_out(other, name, arguments)
    else:
        reason = "the design on the left is compared with, and stays as it is"
        hint = "press Load left: it takes the place of the one on the right, and Undo goes back"
        other.refuse(ScheduleError(reason, hint=hint), "order")
    session.comparand = replace(session.comparand, turn=session.comparand.turn + 1)


def _restore(session: Session, saved: dict[str, Any]) -> None:
    try:
        saving.restore(session, saved)
    except FuseloomError as reason:
        session.refuse(reason)


def _set_whole_schedule(session: Session, text: str) -> None:
    session.set_schedule(text, as_written=True)


LOOKS = frozenset({
    "select_region", "select_kernel", "select_cell", "select_node", "draw_framed", "draw_towards",
    "fold", "draw_whole", "stop_drawing", "draw_again", "look_into", "open_menu", "compare_graph",
})  # fmt: skip
"""Requests that change what is seen of a design, and nothing of the design."""
COMMANDS: dict[str, SessionCommand] = {
    "choose": SessionCommand((_name,), Session.choose),
    "choose_data": SessionCommand((_name,), lambda s, data: s.choose(s.design.model, data)),
    "set_options": SessionCommand((_values,), Session.set_options, "sizes"),
    "preset": SessionCommand((_name,), Session.preset),
    "set_program": SessionCommand((_text,), Session.set_program, "text"),
    "set_schedule": SessionCommand((_text,), Session.set_schedule, "text"),
    "set_whole_schedule": SessionCommand((_text,), _set_whole_schedule, "text"),
    "set_machine": SessionCommand((_text,), Session.set_machine, "machine"),
    "set_capacity": SessionCommand((_text,), Session.set_capacity, "machine"),
    "move_boundary": SessionCommand((_number, _number), Session.move_boundary),
    "add_boundary": SessionCommand((_number,), Session.add_boundary),
    "remove_boundary": SessionCommand((_number,), Session.remove_boundary),
    "map_pairs": SessionCommand((_flag,), asking.map_pairs),
    "take_pair": SessionCommand((_number, _number), asking.take_pair),
    "set_order": SessionCommand((_number, _names), _set_order, "order"),
    "move_row": SessionCommand((_name, _number), Session.move_row, "order"),
    "open_menu": SessionCommand((_name, _name), Session.open_menu),
    "choose_at": SessionCommand((_name, _name, _name), Session.choose_at, "order"),
    "take_way_out": SessionCommand((_sentence,), Session.take_way_out),
    "undo": SessionCommand((), Session.undo),
    "redo": SessionCommand((), Session.redo),
    "travel": SessionCommand((_number,), Session.travel),
    "pin": SessionCommand((_number,), Session.pin),
    "forget": SessionCommand((_number,), Session.forget),
    "recall": SessionCommand((_number,), _recall),
    "take_kept": SessionCommand((_name,), Session.take_kept),
    "apply_suggestion": SessionCommand((_name,), Session.apply_suggestion),
    "select_region": SessionCommand((_number,), Session.select_region),
    "select_kernel": SessionCommand((_number,), Session.select_kernel),
    "select_cell": SessionCommand((_name, _name), _select_cell),
    "select_node": SessionCommand((_number,), Session.select_node),
    "draw_framed": SessionCommand((_flag,), Session.draw_framed),
    "draw_towards": SessionCommand((_name,), _draw_towards),
    "fold": SessionCommand((_flags,), Session.fold),
    "draw_whole": SessionCommand((_flag,), Session.draw_whole),
    "compare": SessionCommand((_name,), compare),
    "look_beside": SessionCommand((_name, _arguments), _look_beside),
    "load_beside": SessionCommand((), load_beside),
    "compare_graph": SessionCommand((_name,), _compare_graph),
    "stop_drawing": SessionCommand((_name,), Session.stop_drawing),
    "draw_again": SessionCommand((_name,), Session.draw_again),
    "look_into": SessionCommand((_name, _number, _cycle, _cycle, _number, _rows), _look_into),
    "step_to": SessionCommand((_number, _number), Session.step_to),
    "restore": SessionCommand((_saved,), _restore),
    "why_not": SessionCommand((_text, _cycles, _number, _number, _name), asking.why_not),
    "take_found": SessionCommand((_name, _text, _flag), asking.take_found),
    "take_design": SessionCommand((_name, _text, _text), asking.take_design),
    "upload_begin": SessionCommand((_number, _text, _cycle), arriving.begin, "input"),
    "upload_part": SessionCommand((_number, _cycle, _part), arriving.part, "input"),
    "upload_cancel": SessionCommand((), arriving.cancel, "input"),
    "bind": SessionCommand((_name, _name, _name), taking.bind, "input"),
    "unbind": SessionCommand((_name,), taking.unbind, "input"),
    "set_format": SessionCommand((_name, _names, _places), forms.set_format, "input"),
    "set_machine_field": SessionCommand((_name, _name), forms.set_machine_field, "machine"),
    "check": SessionCommand((_name, _text, _number), asking.check),
}


def known(name: Any, arguments: Sequence[Any]) -> bool:
    """Return whether this is a request at all."""
    command = COMMANDS.get(name) if isinstance(name, str) else None
    return (
        command is not None
        and len(command.kinds) == len(arguments)
        and all(fits(x) for fits, x in zip(command.kinds, arguments, strict=True))
    )


def carry_out(session: Session, name: str, arguments: Sequence[Any]) -> None:
    """Carry out a request; whatever goes wrong becomes the session's answer.

    What needs more memory than there is is tried once more without the programs that were kept.
    """
    if not known(name, arguments):
        return
    command = COMMANDS[name]
    shown = session.built
    with (
        faults.collected() as reports,
        faults.about(
            request=lambda: f"{name} {arguments!r}",
            program=lambda: print_program(shown.program),
            schedule=lambda: str(shown.schedule),
        ),
    ):
        _carry_out(session, command, name, arguments)
    if reports and session.ok:
        session.message = f"{session.message} ({reports[0]}; another order is shown)"


def _carry_out(
    session: Session, command: SessionCommand, name: str, arguments: Sequence[Any]
) -> None:
    try:
        try:
            command.do(session, *arguments)
        except MemoryError:
            sources.forget()
            command.do(session, *arguments)
    except MemoryError:
        sources.forget()
        session.refuse(
            FuseloomError(
                "this needs more memory than a session may use here",
                hint="smaller tensors, or the command line",
            ),
            command.topic,
        )
    except RecursionError:
        session.refuse(
            FuseloomError("this is nested too deeply, or too long", hint="write it in parts"),
            command.topic,
        )
    except Exception as problem:  # a fault of the engine must not end the session
        _log.exception("the engine failed at %s", name)
        report = faults.report(f"the request {name} failed", problem)
        session.refuse(
            InternalError(f"{report}; nothing has changed", hint="please report it"), command.topic
        )
