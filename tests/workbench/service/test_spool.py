"""A page's runs lie in a file without a name, in order, and what has gone takes no room."""

from __future__ import annotations

import os
import random
import tempfile

import pytest

from fuseloom_workbench.service import spool
from fuseloom_workbench.service.spool import TextSpool


def test_the_last_come_back_in_order() -> None:
    kept = TextSpool(3, ["a", "bb"])
    for text in ("ccc", "", "é"):
        kept.add(text)
    assert [*kept] == ["ccc", "", "é"]
    assert (len(kept), kept.size) == (3, 5)
    assert [*TextSpool(kept.most, kept)] == [*kept]


def test_any_sequence_is_as_a_list_would_be() -> None:
    rng = random.Random(1)
    for _ in range(30):
        most = rng.randrange(1, 6)
        kept, meant = TextSpool(most), []
        for number in range(40):
            text = f"{number}" * rng.randrange(200)
            kept.add(text)
            meant = [*meant, text][-most:]
            assert [*kept] == meant
            assert kept.size == sum(map(len, meant))
            assert kept.on_disk <= 2 * kept.size


def test_the_file_has_no_name_and_does_not_grow(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    kept = TextSpool(2)
    for number in range(100):
        kept.add(f"{number:1000}")
        assert kept.on_disk <= 5000
    assert not list(tmp_path.iterdir())
    file = kept._file.fileno()
    kept.close()
    kept.close()
    assert not len(kept)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(file)


def test_what_cannot_be_written_stays_in_memory(monkeypatch) -> None:
    full = [False]
    write = spool.write_at

    def perhaps(file: int, data: bytes, start: int) -> None:
        if full[0]:
            raise OSError(28, "No space left on device")
        write(file, data, start)

    monkeypatch.setattr(spool, "write_at", perhaps)
    kept = TextSpool(3)
    for number, is_full in enumerate([False, True, True, False, True]):
        full[0] = is_full
        kept.add(str(number) * 50)
    assert [text[0] for text in kept] == ["2", "3", "4"]


def test_without_a_folder_for_temporary_files_memory_is_used(monkeypatch) -> None:
    def refuse(**_: str) -> None:
        raise FileNotFoundError("no usable temporary directory")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    kept = TextSpool(2, "abc")
    assert [*kept] == ["b", "c"]
