"""Pickles made to do harm do nothing: they are read by a machine that knows no calls."""

from __future__ import annotations

import os
import pickle
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuseloom.errors import DataError
from fuseloom.frontends.files import read_graph
from fuseloom.frontends.files.pickles import parse_pickle
from tests.frontends.files import Citation
from tests.frontends.files.harm import little_memory


class Calls:
    """An object that calls a function when it is unpickled."""

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self.function, self.arguments = function, arguments

    def __reduce__(self) -> tuple[Any, ...]:
        return self.function, self.arguments


class Stateful:
    """An object whose state would be set on a dtype."""

    def __reduce__(self) -> tuple[Any, ...]:
        return np.dtype, ("f4", False, True), {"__class__": Calls(os.getcwd)}


def hostile(marker: str) -> dict[str, bytes]:
    """Pickles each of which would make the file ``marker``, or run what nobody asked for."""
    command = f"touch {marker}"
    text = command.encode()
    evil = Calls(os.system, command)
    code = f"open({marker!r}, 'w')"
    made = {f"system-{p}": pickle.dumps(evil, p) for p in range(6)}
    made |= {
        "eval": pickle.dumps(Calls(eval, code)),
        "exec": pickle.dumps(Calls(exec, code)),
        "open": pickle.dumps(Calls(open, marker, "w")),
        "getattr": b"c__builtin__\ngetattr\n.",
        "in a list": pickle.dumps([1, [2, evil]]),
        "as a key": pickle.dumps({Calls(tuple, [1]): evil}),
        "in arguments": pickle.dumps(Calls(np.dtype, evil)),
        "in a state": pickle.dumps(Stateful()),
        "object array": pickle.dumps(np.array([evil], dtype=object)),
        "inst": b"(S'" + text + b"'\nios\nsystem\n.",
        "global": b"cos\nsystem\n(S'" + text + b"'\ntR.",
        "old module": b"cposix\nsystem\n(S'" + text + b"'\ntR.",
        "stack global": b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c"
        + bytes([len(text)]) + text + b"\x85R.",
        "ext": b"\x80\x02\x82\x01.",
        "ext2": b"\x80\x02\x83\x01\x00.",
        "ext4": b"\x80\x02\x84\x01\x00\x00\x00.",
        "obj": b"(cos\nsystem\nS'" + text + b"'\no.",
        "newobj": b"\x80\x02cos\nsystem\nS'" + text + b"'\n\x85\x81.",
        "newobj ex": b"\x80\x04cos\nsystem\nS'x'\n\x85}\x92.",
        "persistent": b"Pid\n.",
        "binary persistent": b"K\x01Q.",
        "nested name": b"\x80\x04\x8c\x05numpy\x8c\x0dcore.os.system\x93.",
        "dtype of a name": pickle.dumps(Calls(np.dtype, "O")),
        "a call of an array": pickle.dumps(Calls(np.ndarray, (10**12,))),
        "builtin import": b"c__builtin__\n__import__\n(S'os'\ntR.",
        "state of a list": b"]}S'a'\nK\x01sb.",
    }  # fmt: skip
    return made


@pytest.mark.parametrize("name", hostile("x"))
@pytest.mark.parametrize("part", ["allx", "graph", "ty"])
def test_hostile_pickles_do_nothing(tmp_path: Path, name: str, part: str) -> None:
    marker = tmp_path / "marker"
    folder = tmp_path / "data"
    folder.mkdir()
    Citation().write(folder)
    (folder / f"ind.tiny.{part}").write_bytes(hostile(str(marker))[name])
    with pytest.raises(DataError):
        read_graph(folder)
    assert not marker.exists()


def test_the_hostile_pickles_would_work(tmp_path: Path) -> None:
    """Otherwise the test above would prove nothing."""
    harmful = ("system-2", "eval", "in a list", "inst", "global", "stack global", "obj")
    for name in harmful:
        marker = tmp_path / name.replace(" ", "-")
        pickle.loads(hostile(str(marker))[name])
        assert marker.exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"cos\nsystem\n.", "byte 0: the name os.system is not allowed.*nothing was executed"),
        (b"(S'a'\nios\nsystem\n.", "byte 6: the operation INST is not allowed"),
        (b"\x80\x02\x82\x01.", "EXT1 is not allowed"),
        (b"clist\n.", "no such pickle"),
        (b"(((", "no such pickle"),
        (b"K\x01", "no such pickle"),
        (b"", "no such pickle|does not end"),
        (b"K\x01K\x02a.", "no list on the stack"),
        (b"0.", "not allowed"),
        (b"h\x05.", "no such pickle"),
        (b"}(K\x01u.", "a key without a value"),
        (b"}](K\x01es.", "no such pickle|neither"),
    ],
)
def test_refusals_name_the_byte(content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        parse_pickle(content, "file")


def test_what_needs_no_name_to_do_harm_is_refused() -> None:
    """Of keys no hash is computed but of numbers and texts; a memo has what was put into it."""
    deep = b")" + b"\x85" * 1_000_000
    for content in (b"}" + deep + b"K\x01s.", b"}(" + deep + b"K\x01u.", b"(" + deep + b"K\x01d."):
        with pytest.raises(DataError, match="neither an integer nor a string"):
            parse_pickle(content, "file")
    with little_memory():
        assert parse_pickle(b"K\x01r\xff\xff\xff\x3f.", "file") == 1


def test_a_claimed_array_is_not_allocated(tmp_path: Path) -> None:
    """Shapes of petabytes with a few bytes of data, as arrays and as matrices."""
    Citation().write(tmp_path)
    true = (tmp_path / "ind.tiny.ally").read_bytes()
    small = b"K\x06K\x03\x86"
    assert small in true
    huge = b"\x8a\x07" + (10**15).to_bytes(7, "little") + b"K\x03\x86"
    (tmp_path / "ind.tiny.ally").write_bytes(true.replace(small, huge))
    with little_memory(), pytest.raises(DataError, match="shape 1000000000000000x3"):
        read_graph(tmp_path)


def test_references_do_not_multiply(tmp_path: Path) -> None:
    """A list of a list of a list, each twice, is refused before anything is spread out."""
    Citation().write(tmp_path)
    many = b"\x80\x02](" + b"K\x01" * 60_000 + b"eq\x00" + b"}("
    many += b"".join(b"J" + struct.pack("<i", k) + b"h\x00" for k in range(10_000)) + b"u."
    (tmp_path / "ind.tiny.graph").write_bytes(many)
    with little_memory(), pytest.raises(DataError, match="lists 600,000,000 edges"):
        read_graph(tmp_path)
