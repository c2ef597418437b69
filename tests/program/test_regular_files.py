"""Files as users name them: regular ones, whole, and not too large."""

from __future__ import annotations

import os
import resource
import signal
import socket
from pathlib import Path

import pytest

from fuseloom.errors import LONGEST, DataError, GraphError, ProgramError
from fuseloom.program import regular_files


def test_a_file_is_read_whole_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "some"
    path.write_bytes("käse".encode())
    assert regular_files.content(path, 5) == "käse".encode()
    assert regular_files.text(path, 5) == "käse"
    with pytest.raises(GraphError, match="some is larger than 4 bytes"):
        regular_files.content(path, 4, error=GraphError)
    path.write_bytes(b"\xff")
    with pytest.raises(ProgramError, match=r"the program .*some is not UTF-8 text"):
        regular_files.text(path, 4, what="program", error=ProgramError)


def test_anything_else_is_named_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(tmp_path / "socket"))
    (tmp_path / "linked").symlink_to("/dev/zero")
    found = {
        tmp_path: "a folder",
        tmp_path / "pipe": "a pipe",
        Path("/dev/zero"): "a device",
        tmp_path / "linked": "a device",
    }
    for path, kind in found.items():
        with pytest.raises(DataError, match=f"it is {kind}"):
            regular_files.opened(path)
    with pytest.raises(DataError, match="cannot read"):
        regular_files.opened(tmp_path / "socket")
    listening.close()


@pytest.mark.parametrize("name", ["x" * 3000, "/".join("x" * 2000), "a\0b", "none", ""])
def test_names_of_nothing(name: str) -> None:
    assert not regular_files.is_file(name)
    assert not regular_files.is_folder(name)
    assert not regular_files.exists(name)
    with pytest.raises(DataError) as caught:
        regular_files.content(name, 10)
    assert len(str(caught.value)) <= LONGEST


def test_errors_keep_the_beginning_and_the_end_of_what_is_long() -> None:
    problem = ProgramError("a" + "x" * 10**6 + "z", hint="y" * 10**6, source="s" * 10**5, line=3)
    assert len(str(problem)) <= LONGEST
    assert problem.message.startswith("axx")
    assert problem.message.endswith("xxz")
    assert "line 3" in str(problem)


def test_what_is_neither_file_nor_folder(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").touch()
    (tmp_path / "dangling").symlink_to("nowhere")
    assert regular_files.is_special(tmp_path / "pipe")
    assert regular_files.is_special("/dev/null")
    for other in (tmp_path, tmp_path / "file", tmp_path / "dangling", "a\0b", "none"):
        assert not regular_files.is_special(other)


def test_only_files_are_replaced(tmp_path: Path) -> None:
    """A pipe or a device would be gone after it."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(DataError, match="it is no file"):
            regular_files.write_bytes(path, b"x")
    assert (tmp_path / "pipe").is_fifo()
    regular_files.write_bytes(tmp_path / "file", b"x")
    regular_files.write_bytes(tmp_path / "file", b"y")
    assert (tmp_path / "file").read_bytes() == b"y"
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith(".")] == []


def test_a_file_has_the_rights_that_its_maker_gives_files(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        regular_files.write_bytes(tmp_path / "made" / "file", b"x")
    finally:
        os.umask(before)
    assert (tmp_path / "made" / "file").stat().st_mode & 0o777 == 0o600


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"before")
    (tmp_path / "folder").touch()
    for path in (tmp_path / "folder" / "file", tmp_path / ("x" * 300), tmp_path / "a\0b"):
        with pytest.raises(DataError, match="cannot write"):
            regular_files.write_bytes(path, b"x")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limit[1]))
    try:
        with pytest.raises(DataError, match="cannot write"):
            regular_files.write_bytes(tmp_path / "file", b"x" * 1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, handler)
    assert (tmp_path / "file").read_bytes() == b"before"
    assert len(list(tmp_path.iterdir())) == 2
