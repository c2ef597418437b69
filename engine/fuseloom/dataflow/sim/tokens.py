"""Tokens of the machine's streams, their text and their encoding in arrays.

Rules: ``docs/spec/machine.md`` §1.

A leaf token is a plain number: a Python ``int`` on coordinate and reference streams, a
``numpy.float32`` on value streams; in a blocked graph a value may be a tile, an array of
``float32`` that nobody changes.  Everything else is a :class:`Stop` or a :class:`Control`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.samml.graph import StreamKind
from fuseloom.errors import SimulationError


@dataclass(frozen=True, slots=True)
class Stop:
    """``Sn``: closes the innermost fiber and ``level`` enclosing ones in one token."""

    level: int

    def __str__(self) -> str:
        return f"S{self.level}"


class Control(Enum):
    """Tokens without a payload; the value is their text.

    ``EMPTY`` says that an operand has nothing at this coordinate and stands where a leaf
    stands.  ``REPEAT`` and ``SIGNAL_STOP`` occur on repeat signals only, where a stop has
    no level.
    """

    EMPTY = "N"
    DONE = "D"
    REPEAT = "R"
    SIGNAL_STOP = "S"

    def __str__(self) -> str:
        return self.value


EMPTY, DONE = Control.EMPTY, Control.DONE
REPEAT, SIGNAL_STOP = Control.REPEAT, Control.SIGNAL_STOP

Number: TypeAlias = int | np.float32 | npt.NDArray[np.float32]
Token: TypeAlias = Number | Stop | Control

LEAF_CODE, STOP_CODE, EMPTY_CODE, DONE_CODE, REPEAT_CODE, SIGNAL_STOP_CODE = range(6)
_CONTROL_CODES = {
    EMPTY: EMPTY_CODE,
    DONE: DONE_CODE,
    REPEAT: REPEAT_CODE,
    SIGNAL_STOP: SIGNAL_STOP_CODE,
}
CONTROL_OF_CODE = {code: control for control, code in _CONTROL_CODES.items()}

TOKEN_DTYPE = np.dtype([("code", np.int64), ("value", np.float64)])
"""One encoded token: a ``*_CODE`` and the leaf's number, or a stop's level, or 0.

A double holds every ``float32`` and every reference below 2**53 exactly.
"""


def is_number(token: Token) -> bool:
    """True for a coordinate, a reference or a value."""
    return isinstance(token, (int, np.float32, np.ndarray))


def same(a: Token, b: Token) -> bool:
    """Return whether two tokens are equal; a tile equals only itself."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return a is b
    return bool(a == b)


def is_value(token: Token) -> bool:
    """True for a number, or the repeat signal that stands for one."""
    return token is REPEAT or isinstance(token, (int, np.float32, np.ndarray))


def is_leaf(token: Token) -> bool:
    """True where one element stands: a number or the empty token."""
    return token is EMPTY or isinstance(token, (int, np.float32, np.ndarray))


def parse_token(text: str | float, kind: StreamKind) -> Token:
    """Read one token: ``S2``, ``N``, ``D``, ``R``, ``S`` or a number.

    Raises
    ------
    SimulationError
        If the text is none of these.

    Examples
    --------
    >>> parse_token("S1", StreamKind.CRD), parse_token("7", StreamKind.CRD)
    (Stop(level=1), 7)
    """
    try:
        if isinstance(text, str):
            if text in {control.value for control in Control}:
                return Control(text)
            if text.startswith("S"):
                return Stop(int(text[1:]))
        return np.float32(text) if kind is StreamKind.VAL else int(float(text))
    except ValueError:
        raise SimulationError(
            f"{text!r} is not a token", hint="write a number, Sn, N, D, R or S"
        ) from None


def parse_tokens(text: str, kind: StreamKind = StreamKind.CRD) -> list[Token]:
    """Read tokens separated by spaces (see :func:`parse_token`)."""
    return [parse_token(word, kind) for word in text.split()]


def format_token(token: Token) -> str:
    """The text that :func:`parse_token` reads; of a tile, its numbers row by row."""
    if isinstance(token, np.ndarray):
        rows = (" ".join(f"{x:g}" for x in row) for row in np.atleast_2d(token))
        return f"[{'; '.join(rows)}]"
    return f"{token:g}" if isinstance(token, np.float32) else str(token)


def format_tokens(tokens: Iterable[Token]) -> str:
    """Texts of several tokens, separated by spaces."""
    return " ".join(map(format_token, tokens))


def encode(tokens: Iterable[Token]) -> npt.NDArray[Any]:
    """Tokens as an array of :data:`TOKEN_DTYPE`.

    Raises
    ------
    SimulationError
        If one is a tile.
    """
    rows: list[tuple[int, float]] = []
    for token in tokens:
        match token:
            case Stop(level):
                rows.append((STOP_CODE, level))
            case Control():
                rows.append((_CONTROL_CODES[token], 0))
            case np.ndarray():
                raise SimulationError("a tile has no encoding", hint="encode single numbers")
            case _:
                rows.append((LEAF_CODE, float(token)))
    return np.array(rows, dtype=TOKEN_DTYPE)


def decode(array: npt.NDArray[Any], kind: StreamKind) -> list[Token]:
    """Tokens of an array that :func:`encode` made; leaves of a value stream are ``float32``."""
    tokens: list[Token] = []
    for code, value in array.tolist():
        if code == STOP_CODE:
            tokens.append(Stop(int(value)))
        elif code == LEAF_CODE:
            tokens.append(np.float32(value) if kind is StreamKind.VAL else int(value))
        else:
            tokens.append(CONTROL_OF_CODE[code])
    return tokens
