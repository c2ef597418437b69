"""What a page may ask of a session: names, kinds of arguments, and what becomes of a failure.

A request comes from a browser, which may send anything; what is not in :data:`COMMANDS` is not
carried out.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from engine.errors import FuseloomError
from workbench import saving, sources
from workbench.session import Session

_log = logging.getLogger(__name__)
LONGEST = 200
"""Characters of a name in a request."""


def _text(x: Any) -> bool:
    return isinstance(x, str)


def _name(x: Any) -> bool:
    return isinstance(x, str) and len(x) <= LONGEST


def _number(x: Any) -> bool:
    return isinstance(x, int) and not isinstance(x, bool) and abs(x) < 1 << 31


def _names(x: Any) -> bool:
    return isinstance(x, list) and len(x) <= LONGEST and all(map(_name, x))


def _flag(x: Any) -> bool:
    return isinstance(x, bool)


def _saved(x: Any) -> bool:
    return isinstance(x, dict)


def _values(x: Any) -> bool:
    return isinstance(x, dict) and len(x) <= LONGEST and all(map(_name, (*x, *x.values())))


@dataclass(frozen=True)
class Command:
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


def _look_at(session: Session, activity: str) -> None:
    if activity in session.param.activity.objects:
        session.look_at(activity)


def _select_cell(session: Session, column: str, row: str) -> None:
    if (column, row) in session.current.table.cells:
        session.select_cell(column, row)


def _set_order(session: Session, region: int, order: list[str]) -> None:
    if 0 <= region < len(session.regions):
        session.set_order(region, order)


def _restore(session: Session, saved: dict[str, Any]) -> None:
    try:
        saving.restore(session, saved)
    except FuseloomError as reason:
        session.refuse(reason)


COMMANDS: dict[str, Command] = {
    "choose": Command((_name,), Session.choose),
    "choose_data": Command((_name,), lambda s, data: s.choose(s.design.model, data)),
    "set_options": Command((_values,), Session.set_options, "sizes"),
    "preset": Command((_name,), Session.preset),
    "set_program": Command((_text,), Session.set_program, "text"),
    "set_schedule": Command((_text,), Session.set_schedule, "text"),
    "set_machine": Command((_text,), Session.set_machine, "machine"),
    "set_capacity": Command((_text,), Session.set_capacity, "machine"),
    "move_boundary": Command((_number, _number), Session.move_boundary),
    "add_boundary": Command((_number,), Session.add_boundary),
    "remove_boundary": Command((_number,), Session.remove_boundary),
    "set_order": Command((_number, _names), _set_order, "order"),
    "move_row": Command((_name, _number), Session.move_row, "order"),
    "undo": Command((), Session.undo),
    "redo": Command((), Session.redo),
    "recall": Command((_number,), _recall),
    "take_kept": Command((_name,), Session.take_kept),
    "select_region": Command((_number,), Session.select_region),
    "select_cell": Command((_name, _name), _select_cell),
    "select_node": Command((_number,), Session.select_node),
    "draw_framed": Command((_flag,), Session.draw_framed),
    "draw_towards": Command((_name,), _draw_towards),
    "look_at": Command((_name,), _look_at),
    "restore": Command((_saved,), _restore),
}


def known(name: Any, arguments: Sequence[Any]) -> bool:
    """Whether this is a request at all."""
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
        session.refuse(
            FuseloomError(
                f"the engine failed at this ({type(problem).__name__}: {problem}); "
                "nothing has changed",
                hint="please report it",
            ),
            command.topic,
        )
