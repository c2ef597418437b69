"""Text files block by block, with the numbers of their lines."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from fuseloom.errors import DataError
from fuseloom.frontends.files import lines, packed
from fuseloom.frontends.files.lines import Lines, blocks
from fuseloom.frontends.files.packed import size_of


def text_file(folder: Path, content: bytes, zipped: bool = False) -> Path:
    path = folder / ("a.txt.gz" if zipped else "a.txt")
    path.write_bytes(gzip.compress(content) if zipped else content)
    return path


def numbered(path: Path) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    for block in blocks(path):
        found.update(enumerate(block.lines, block.first))
    return found


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("chunk", [1, 2, 3, 5, 1 << 22])
def test_lines_keep_their_numbers_wherever_blocks_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int, zipped: bool
) -> None:
    monkeypatch.setattr(lines, "CHUNK", chunk)
    for content in (b"", b"a", b"a\n", b"a\nbb\n\nccc", b"\n\n", b"\nx\n"):
        expected = content.split(b"\n")
        if expected[-1] == b"":
            expected.pop()
        assert numbered(text_file(tmp_path, content, zipped)) == dict(enumerate(expected, 1))


def test_a_head_line_by_line_and_the_rest_in_blocks(tmp_path: Path) -> None:
    given = Lines(text_file(tmp_path, b"%%head\n% more\n1 2\n3 4\n"))
    assert given.take() == b"%%head"
    assert given.take() == b"% more"
    error = given.error("nonsense", "write sense")
    assert (error.line, error.source) == (2, str(given.path))
    (rest,) = given.rest()
    assert (rest.first, rest.lines) == (3, [b"1 2", b"3 4"])


def test_at_the_end_there_is_nothing(tmp_path: Path) -> None:
    given = Lines(text_file(tmp_path, b"x"))
    assert [given.take(), given.take(), given.take()] == [b"x", None, None]
    assert list(given.rest()) == []
    empty = Lines(text_file(tmp_path, b""))
    assert empty.take() is None
    assert empty.error("nothing", "write something").line == 1


def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match=r"No such file|it is a folder"):
        size_of(tmp_path / "missing")
    with pytest.raises(DataError, match=r"No such file|it is a folder"):
        size_of(tmp_path)
    with pytest.raises(DataError):
        size_of(Path("a\0b"))
    path = text_file(tmp_path, b"12345")
    monkeypatch.setattr(packed, "MAX_FILE_BYTES", 4)
    with pytest.raises(DataError, match="has 5 bytes, the limit is 4"):
        size_of(path)


def test_a_packed_file_cut_short_is_damaged(tmp_path: Path) -> None:
    path = text_file(tmp_path, b"0 1\n" * 500, zipped=True)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match="cannot read") as caught:
        list(blocks(path))
    assert "cut short" in (caught.value.hint or "")


def test_a_small_file_must_not_unpack_to_a_large_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed, "FREE_UNPACKING", 10)
    monkeypatch.setattr(packed, "MAX_RATIO", 2)
    with pytest.raises(DataError, match="unpacks to more than"):
        list(blocks(text_file(tmp_path, b"1\n" * 5000, zipped=True)))


def test_a_line_without_end_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_LINE", 8)
    with pytest.raises(DataError, match="a line of more than 8 bytes") as caught:
        list(blocks(text_file(tmp_path, b"a\nb\n" + b"c" * 20)))
    assert caught.value.line == 3
