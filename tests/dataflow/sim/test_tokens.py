"""Tokens: their text, their encoding in arrays, and what counts as an element."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuseloom.dataflow.samml.graph import StreamKind
from fuseloom.dataflow.sim.tokens import (
    DONE,
    EMPTY,
    REPEAT,
    SIGNAL_STOP,
    TOKEN_DTYPE,
    Stop,
    Token,
    decode,
    encode,
    format_token,
    format_tokens,
    is_leaf,
    is_number,
    is_value,
    parse_token,
    parse_tokens,
    same,
)
from fuseloom.errors import SimulationError

CONTROLS = st.sampled_from([EMPTY, DONE, REPEAT, SIGNAL_STOP])
STOPS = st.builds(Stop, st.integers(0, 9))
NUMBERS = {
    StreamKind.CRD: st.integers(0, 2**53 - 1),
    StreamKind.VAL: st.floats(width=32, allow_nan=False).map(np.float32),
}


@pytest.mark.parametrize("kind", NUMBERS)
@settings(deadline=None)
@given(data=st.data())
def test_encoded_tokens_come_back(kind: StreamKind, data: st.DataObject) -> None:
    tokens: list[Token] = data.draw(st.lists(st.one_of(NUMBERS[kind], STOPS, CONTROLS)))
    array = encode(tokens)
    assert array.dtype == TOKEN_DTYPE
    back = decode(array, kind)
    assert [type(token) for token in back] == [type(token) for token in tokens]
    assert back == tokens


@settings(deadline=None)
@given(st.lists(st.one_of(st.integers(0, 999_999), STOPS, CONTROLS), max_size=20))
def test_printed_tokens_are_read_back(tokens: list[Token]) -> None:
    assert parse_tokens(format_tokens(tokens)) == tokens


def test_a_value_is_read_in_single_precision() -> None:
    token = parse_token("0.1", StreamKind.VAL)
    assert isinstance(token, np.float32)
    assert token == np.float32(0.1)
    assert parse_token("3.0", StreamKind.CRD) == 3


@pytest.mark.parametrize("text", ["", "x", "Sx", "1,2", "--1"])
def test_what_is_no_token_is_named(text: str) -> None:
    with pytest.raises(SimulationError, match=r"is not a token .hint: write a number"):
        parse_token(text, StreamKind.CRD)


def test_what_stands_for_an_element() -> None:
    tile = np.ones((2, 2), np.float32)
    groups = {
        "number": [3, np.float32(2), tile],
        "empty": [EMPTY],
        "repeat": [REPEAT],
        "control": [DONE, SIGNAL_STOP, Stop(0)],
    }
    said = {
        name: {(is_number(t), is_leaf(t), is_value(t)) for t in group}
        for name, group in groups.items()
    }
    assert said == {
        "number": {(True, True, True)},
        "empty": {(False, True, False)},
        "repeat": {(False, False, True)},
        "control": {(False, False, False)},
    }


def test_a_tile_equals_itself_only_and_has_no_encoding() -> None:
    tile = np.array([[1, 2], [3, 4]], np.float32)
    assert same(tile, tile)
    assert not same(tile, tile.copy())
    assert not same(tile, Stop(1))
    assert same(Stop(1), Stop(1))
    assert format_token(tile) == "[1 2; 3 4]"
    with pytest.raises(SimulationError, match="a tile has no encoding"):
        encode([tile])
