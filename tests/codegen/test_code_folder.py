"""The folder of machine code: whole files of one's own, and not too many."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fuseloom.codegen import code_folder
from fuseloom.codegen.code_folder import ENVIRONMENT, cache_folder
from fuseloom.codegen.compile import Backend, build
from tests.codegen.adding import adds, result


def test_a_damaged_file_is_made_anew(folder: Path, anew: Callable[[], None]) -> None:
    build([adds(1.0)], Backend.C)
    (path,) = folder.glob("*.so")
    whole = path.read_bytes()
    for damage in (whole[:-1], whole[:4000] + b"x" + whole[4001:], b"", b"\x7fELF"):
        path.unlink()
        path.write_bytes(damage)
        path.chmod(0o700)
        anew()
        built = build([adds(1.0)], Backend.C)
        assert not built.reused
        assert result(built) == [1.0, 1.0, 0.0]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="folders have no owner here")
def test_a_folder_that_others_write_to_is_not_used(folder: Path, anew: Callable[[], None]) -> None:
    build([adds(1.0)], Backend.C)
    folder.chmod(0o777)
    anew()
    built = build([adds(1.0)], Backend.C)
    assert not built.reused
    assert "may be written to by other users" in built.said
    assert result(built) == [1.0, 1.0, 0.0]
    assert cache_folder()[0] != folder


def test_a_cache_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path / "file"))
    assert "is not kept" in build([adds(1.0)], Backend.C).said


def test_only_so_many_are_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_folder, "KEPT", 2)
    for value in (1.0, 2.0, 3.0):
        build([adds(value)], Backend.C, ("-O0",))
    assert len(list(folder.glob("*.so"))) == 2
