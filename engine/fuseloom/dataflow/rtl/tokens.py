"""Tokens of streams as wires: two bits of kind and a word of 32 bits (``docs/spec/machine.md`` §1).

A word holds a coordinate or a reference as an integer, a value as the bits of a ``float32``, or a
stop's level; it is 0 where a kind has none, so that equal tokens have equal bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from operator import add, or_
from typing import Any, Self

import numpy as np
from amaranth.hdl import C, Cat, Mux

from fuseloom.dataflow.sim.tokens import DONE, EMPTY, REPEAT, SIGNAL_STOP, Stop, Token

WORD_BITS = 32
KIND_BITS = 2
TOKEN_BITS = KIND_BITS + WORD_BITS
LEVEL_BITS = 8
"""Bits of a stop's level where it is stored beside late values."""


class TokenKind(IntEnum):
    """The two bits of a token's kind; repeat signals are values and stops."""

    VALUE = 0
    STOP = 1
    EMPTY = 2
    DONE = 3


@dataclass(frozen=True)
class TokenWires:
    """A token: its kind and its word, each an expression."""

    kind: Any
    data: Any

    @classmethod
    def of(cls, bits: Any) -> Self:
        """Split the bits that :attr:`bits` joined."""
        return cls(bits[:KIND_BITS], bits[KIND_BITS:])

    @classmethod
    def value(cls, data: Any) -> Self:
        """A coordinate, a reference or a value."""
        return cls(C(TokenKind.VALUE, KIND_BITS), data)

    @classmethod
    def stop(cls, level: Any) -> Self:
        """The stop of that level."""
        return cls(C(TokenKind.STOP, KIND_BITS), level)

    @classmethod
    def empty(cls) -> Self:
        """The empty token."""
        return cls(C(TokenKind.EMPTY, KIND_BITS), C(0, WORD_BITS))

    @classmethod
    def done(cls) -> Self:
        """The end."""
        return cls(C(TokenKind.DONE, KIND_BITS), C(0, WORD_BITS))

    @property
    def bits(self) -> Any:
        """All bits, the kind first."""
        word = self.data
        return Cat(self.kind, word)[:TOKEN_BITS] if len(word) >= WORD_BITS else _padded(self)

    @property
    def is_value(self) -> Any:
        return self.kind == TokenKind.VALUE

    @property
    def is_stop(self) -> Any:
        return self.kind == TokenKind.STOP

    @property
    def is_empty(self) -> Any:
        return self.kind == TokenKind.EMPTY

    @property
    def is_done(self) -> Any:
        return self.kind == TokenKind.DONE

    @property
    def is_leaf(self) -> Any:
        """True where one element stands: a value or the empty token."""
        return ~self.kind[0]

    def same(self, other: TokenWires) -> Any:
        """True where both are the same token, bit by bit."""
        return (self.kind == other.kind) & (self.data == other.data)


def _padded(token: TokenWires) -> Any:
    return Cat(token.kind, token.data, C(0, WORD_BITS - len(token.data)))


def choose(*cases: tuple[Any, TokenWires], otherwise: TokenWires) -> TokenWires:
    """The token of the first condition that holds."""
    bits = otherwise.bits
    for condition, token in reversed(cases):
        bits = Mux(condition, token.bits, bits)
    return TokenWires.of(bits)


def any_of(conditions: Sequence[Any]) -> Any:
    """Join conditions: true where one of them holds; of none, never."""
    return _joined(or_, conditions)


def number_of(conditions: Sequence[Any]) -> Any:
    """Count the conditions that hold."""
    return _joined(add, conditions)


def _joined(join: Callable[[Any, Any], Any], conditions: Sequence[Any]) -> Any:
    """Join conditions pair by pair: what large graphs have many of does not nest deeply."""
    level = list(conditions) or [C(0, 1)]
    while len(level) > 1:
        level = [
            join(*level[k : k + 2]) if k + 1 < len(level) else level[k]
            for k in range(0, len(level), 2)
        ]
    return level[0]


def encoded(token: Token) -> int:
    """The bits of a token of the simulator."""
    kind, word = TokenKind.VALUE, 0
    if isinstance(token, Stop):
        kind, word = TokenKind.STOP, token.level
    elif token is SIGNAL_STOP:
        kind = TokenKind.STOP
    elif token is EMPTY:
        kind = TokenKind.EMPTY
    elif token is DONE:
        kind = TokenKind.DONE
    elif isinstance(token, np.float32):
        word = int(token.view(np.uint32))
    elif isinstance(token, int):
        word = token & (1 << WORD_BITS) - 1
    elif token is not REPEAT:
        raise TypeError(f"{token!r} is not a token of the hardware")
    return kind | word << KIND_BITS
