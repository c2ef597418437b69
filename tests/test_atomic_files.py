"""A file is replaced as a whole, or what was there before stays."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from fuseloom.atomic_files import replacing


def test_a_file_is_replaced_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    path.write_bytes(b"1 2 3")
    with replacing(path) as file:
        file.write(b"4 5")
        assert path.read_bytes() == b"1 2 3"
    assert path.read_bytes() == b"4 5"
    assert [*tmp_path.iterdir()] == [path]


def test_what_was_there_stays_when_writing_fails(tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    path.write_bytes(b"1 2 3")
    parts: list[Any] = [b"4", None]
    with pytest.raises(TypeError), replacing(path) as file:
        file.writelines(parts)
    assert path.read_bytes() == b"1 2 3"
    assert [*tmp_path.iterdir()] == [path]


def test_a_private_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    with replacing(tmp_path / "code", private=True) as file:
        file.write(b"code")
    assert stat.S_IMODE((tmp_path / "code").stat().st_mode) == 0o600


def test_a_folder_that_is_not_there_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "none" / "file"):
        pass
