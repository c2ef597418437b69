"""Files of machine code: whole, of their name, in a folder of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuseloom.dataflow.sim.compiled.code_files import CodeFile, UnsafeFolderError, own_folder


def test_what_is_saved_is_loaded_under_its_name_only(tmp_path: Path) -> None:
    file = CodeFile(tmp_path, "scan")
    assert (file.there, file.sound, file.load()) == (False, False, None)
    file.save(b"code")
    assert (file.there, file.sound, file.load()) == (True, True, b"code")
    other = CodeFile(tmp_path, "reduce")
    file.path.rename(other.path)
    assert (other.there, other.sound, other.load()) == (True, False, None)
    other.save(b"")
    assert other.load() == b""
    assert other.sound


def test_nothing_is_left_of_what_could_not_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = CodeFile(tmp_path, "scan")
    file.save(b"before")

    def full(*_: object) -> None:
        raise OSError("no room")

    with monkeypatch.context() as patch:
        patch.setattr("os.replace", full)
        with pytest.raises(OSError, match="no room"):
            file.save(b"after")
    assert list(tmp_path.iterdir()) == [file.path]
    assert file.load() == b"before"


def test_folders_are_made_for_this_user_alone(tmp_path: Path) -> None:
    folder = own_folder(tmp_path / "kernels" / "version")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert folder.parent.stat().st_mode & 0o777 == 0o700
    folder.parent.chmod(0o770)
    with pytest.raises(UnsafeFolderError, match="kernels may be written to by other users"):
        own_folder(folder)
