"""Files made to do harm: pickles that call, headers that lie, archives that burst."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from engine.errors import DataError, FuseloomError
from engine.frontends.files import read_graph, read_tensor
from engine.frontends.files.pickles import parse_pickle
from tests.frontends.files import Citation, damaged, matrix, pieces, repack
from tests.frontends.files.test_graphs import citation_file, ogb_folder

MEMORY = 256 * 2**20
"""Bytes that reading a small file may take: limits of one block of text, not of what it claims."""


@contextmanager
def little_memory() -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < MEMORY
    finally:
        tracemalloc.stop()


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


def npy(shape: tuple[int, ...], content: bytes, dtype: str = "<f8") -> bytes:
    header = str({"descr": dtype, "fortran_order": False, "shape": shape}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + content


@pytest.mark.parametrize(
    "data",
    [
        npy((10**15,), b"x" * 80),
        npy((2**62, 2**62), b""),
        npy((-1,), b""),
        npy((3,), b"x" * 8),
        npy((1,), b"x" * 8, "|O"),
        npy((1,), b"x" * 8, "[('a', '<f8')]"),
        b"\x93NUMPY\x03\x00",
        b"\x93NUMPY\x09\x00",
        b"",
        b"cos\nsystem\n.",
    ],
    ids=range(10),
)
def test_headers_of_arrays_that_lie(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.npz"
    scipy.sparse.save_npz(path, matrix(1))
    repack(path, "data.npy", data)
    with little_memory(), pytest.raises(DataError):
        read_tensor(path)


def test_bombs(tmp_path: Path) -> None:
    zeros = gzip.compress(bytes(50 * 2**20))
    lines = gzip.compress(b"\n" * (20 * 2**20))
    rows = gzip.compress(b"1 1 1\n" * (4 * 2**20))
    for name, content in [("z.tns", zeros), ("l.tns", lines), ("r.csv.gz", rows)]:
        assert len(content) < 2**20
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DataError, match=r"a line of more than|unpacks to more than"):
            read_tensor(tmp_path / name)
    with zipfile.ZipFile(tmp_path / "z.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.npy", npy((25 * 2**20,), b""))
        archive.writestr("format.npy", bytes(64 * 2**20))
    with little_memory(), pytest.raises(DataError):
        read_tensor(tmp_path / "z.npz")


def test_a_member_larger_than_it_says(tmp_path: Path) -> None:
    """The archive's own figure bounds what is read, whatever its content unpacks to."""
    path = tmp_path / "a.npz"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("format.npy", npy((2**22,), bytes(2**25)))
    content = buffer.getvalue()
    size = len(npy((2**22,), bytes(2**25)))
    path.write_bytes(content.replace(struct.pack("<I", size), struct.pack("<I", 200)))
    with little_memory(), pytest.raises(DataError):
        read_tensor(path)


CASES = 240


def good_files(folder: Path) -> dict[str, Path]:
    scipy.io.mmwrite(folder / "a.mtx", matrix(1))
    (folder / "t.tns").write_text("1 2 1 0.5\n2 2 3 -1\n4 1 1 2e3\n")
    scipy.sparse.save_npz(folder / "s.npz", matrix(2), compressed=False)
    (folder / "e.csv").write_text("from,to,w\n0,1,2\n1,3,0.5\n4,0,1\n")
    (folder / "e.tsv.gz").write_bytes(gzip.compress(b"0\t1\n1\t3\n4\t0\n"))
    return {name: folder / name for name in ("a.mtx", "t.tns", "s.npz", "e.csv", "e.tsv.gz")}


def checked(read: Callable[[], Any]) -> bool:
    """Whether a damaged file was read; anything but a result or our own error fails."""
    try:
        result = read()
    except FuseloomError:
        return False
    if hasattr(result, "coords"):
        assert np.isfinite(result.values).all()
        assert (result.coords >= 0).all()
        assert (result.coords < np.array(result.shape)).all()
    else:
        assert np.isfinite(result.adjacency.data).all()
        assert result.adjacency.has_sorted_indices
    return True


@pytest.mark.parametrize("name", ["a.mtx", "t.tns", "s.npz", "e.csv", "e.tsv.gz"])
def test_damaged_tensors(tmp_path: Path, name: str) -> None:
    path = good_files(tmp_path)[name]
    whole = path.read_bytes()
    inner = dict(pieces(path))
    read = 0
    with little_memory():
        for seed in range(CASES):
            if inner and seed % 2:
                part = sorted(inner)[seed // 2 % len(inner)]
                path.write_bytes(whole)
                repack(path, part, damaged(inner[part], seed // 2))
            else:
                path.write_bytes(damaged(whole, seed))
            read += checked(lambda: read_tensor(path))
    assert 0 <= read < CASES


@pytest.mark.parametrize("part", ["allx", "tx", "ally", "ty", "graph", "test.index"])
def test_damaged_planetoid(tmp_path: Path, part: str) -> None:
    Citation().write(tmp_path)
    path = tmp_path / f"ind.tiny.{part}"
    whole = path.read_bytes()
    with little_memory():
        for seed in range(CASES):
            path.write_bytes(damaged(whole, seed))
            checked(lambda: read_graph(tmp_path))


def test_damaged_citation_full(tmp_path: Path) -> None:
    path = citation_file(tmp_path)
    whole, inner = path.read_bytes(), dict(pieces(path))
    with little_memory():
        for seed in range(CASES):
            part = sorted(inner)[seed % len(inner)]
            path.write_bytes(whole)
            repack(path, part, damaged(inner[part], seed))
            checked(lambda: read_graph(path))


@pytest.mark.parametrize("part", ["edge.csv.gz", "num-node-list.csv.gz", "node-feat.csv.gz"])
def test_damaged_ogb(tmp_path: Path, part: str) -> None:
    folder = ogb_folder(tmp_path)
    path = folder / "raw" / part
    whole, inner = path.read_bytes(), dict(pieces(path))["gz"]
    with little_memory():
        for seed in range(CASES):
            path.write_bytes(whole)
            if seed % 2:
                repack(path, "gz", damaged(inner, seed // 2))
            else:
                path.write_bytes(damaged(whole, seed // 2))
            checked(lambda: read_graph(folder))


def test_damage_is_damage() -> None:
    whole = zlib.compress(b"0,1\n" * 50)
    assert sum(damaged(whole, seed) != whole for seed in range(CASES)) > CASES * 0.95
