"""Files of data sets: downloaded whole or not at all, within limits, and compared with facts."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from http.client import IncompleteRead
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.error import URLError

import pytest

from fuseloom.errors import CancelledError, DataError
from fuseloom.models.datasets import fetching
from fuseloom.models.datasets.fetching import compare_facts, fetch, place_of, source_of
from fuseloom.models.datasets.sources import SOURCES
from tests.frontends.files import Citation


class Answer(io.BytesIO):
    """The content of an address, after redirections."""

    def __init__(self, content: bytes, url: str, length: int | None = None) -> None:
        super().__init__(content)
        self.url = url
        self.headers = {"Content-Length": str(len(content) if length is None else length)}


class Server:
    """Answers by address, in place of the network."""

    def __init__(self) -> None:
        self.answers: dict[str, bytes | Exception | Answer] = {}
        self.asked: list[str] = []

    def __call__(self, address: str, timeout: float) -> Any:
        assert timeout == fetching.PATIENCE
        self.asked.append(address)
        answer = self.answers.get(address, URLError("unknown host"))
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Answer) else Answer(answer, address)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    made = Server()
    monkeypatch.setattr(fetching, "urlopen", made)
    return made


def known(monkeypatch: pytest.MonkeyPatch, name: str, **changed: Any) -> None:
    """A source that differs from the real one."""
    sources: Mapping[str, Any] = {**SOURCES, name: replace(SOURCES[name], **changed)}
    monkeypatch.setattr(fetching, "SOURCES", MappingProxyType(sources))


@pytest.fixture
def cora(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """A small graph in Cora's files, which a server has."""
    folder = tmp_path / "upstream"
    folder.mkdir()
    Citation().write(folder, "cora")
    held = {path.name: path.read_bytes() for path in folder.iterdir()}
    source = SOURCES["cora"]
    for path in source.files:  # two are not read: what is in them is in others
        held.setdefault(Path(path).name, path.encode())
    sums = {path: hashlib.sha256(held[Path(path).name]).hexdigest() for path in source.files}
    known(monkeypatch, "cora", sha256=sums)
    server.answers = {url: held[Path(path).name] for path, url in source.files.items()}
    return held


def whole(folder: Path) -> Iterator[str]:
    """The files below a folder."""
    return (x.relative_to(folder).as_posix() for x in sorted(folder.rglob("*")) if x.is_file())


def zipped(**files: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/"), content)
    return file.getvalue()


def test_files_are_downloaded_once_and_found(tmp_path, server, cora):
    folder = tmp_path / "data"
    told: list[str] = []
    written = fetch("cora", folder, progress=told.append)
    assert {path.name for path in written} == {*cora}
    assert len(told) == len(cora) == 8
    assert place_of("cora", folder) == folder / "planetoid"
    assert all((folder / "planetoid" / name).read_bytes() == cora[name] for name in cora)
    assert fetch("cora", folder) == []
    (folder / "planetoid" / "ind.cora.x").write_bytes(b"damaged")
    assert [path.name for path in fetch("cora", folder)] == ["ind.cora.x"]
    facts = {fact.what: fact for fact in compare_facts("cora", folder)}
    assert facts["SHA-256 of ind.cora.x"].ok
    assert not facts["nodes"].ok
    assert (facts["nodes"].found, facts["nodes"].known) == ("9", "2,708")


def test_another_version_is_not_kept(tmp_path, server, cora):
    first = next(iter(SOURCES["cora"].files.values()))
    server.answers[first] = b"another"
    with pytest.raises(DataError, match="was expected"):
        fetch("cora", tmp_path / "data")
    assert list(whole(tmp_path / "data")) == []


def test_what_cannot_be_reached_says_what_to_put_where(tmp_path, server):
    with pytest.raises(DataError, match=r"unknown host") as refused:
        fetch("cora", tmp_path)
    assert "7 more files from there" in str(refused.value.hint)
    assert str(tmp_path / "planetoid") in str(refused.value.hint)
    server.answers[SOURCES["dblp"].files["dblp.npz"]] = TimeoutError("timed out")
    with pytest.raises(DataError, match="timed out") as refused:
        fetch("dblp", tmp_path)
    assert f"save it as {tmp_path / 'dblp.npz'}" in str(refused.value.hint)
    with pytest.raises(DataError, match="unknown host") as refused:
        fetch("mag", tmp_path)
    assert f"unpack it in {tmp_path}" in str(refused.value.hint)
    assert list(whole(tmp_path)) == []


def test_what_leads_away_from_https_or_ends_early_is_not_kept(tmp_path, server):
    address = SOURCES["dblp"].files["dblp.npz"]
    for answer, message in (
        (Answer(b"1234", "http://elsewhere.example/dblp.npz"), "no https address"),
        (Answer(b"1234", address, length=9), "ended after 4 bytes of 9"),
        (IncompleteRead(b"12"), "cannot be reached"),
        (OSError("handshake failed"), "cannot be reached: handshake failed"),
    ):
        server.answers[address] = answer
        with pytest.raises(DataError, match=message):
            fetch("dblp", tmp_path)
    assert list(whole(tmp_path)) == []


def test_files_and_archives_have_bounds(tmp_path, server, monkeypatch):
    monkeypatch.setattr(fetching, "MOST_BYTES", 1_000)
    monkeypatch.setattr(fetching, "MOST_UNPACKED", 5_000)
    monkeypatch.setattr(fetching, "MOST_MEMBERS", 3)
    server.answers[SOURCES["dblp"].files["dblp.npz"]] = bytes(1_001)
    with pytest.raises(DataError, match="more than 1,000 bytes"):
        fetch("dblp", tmp_path)
    collab = SOURCES["collab"].files["collab.zip"]
    for content, message in (
        (b"no archive", "is no ZIP archive"),
        (zipped(collab__raw__edges=bytes(5_001)), "1 file, 5,001 bytes unpacked"),
        (zipped(**{f"collab__{n}": b"" for n in range(4)}), "4 files, 0 bytes unpacked"),
        (zipped(**{"../evil": b"1"}), r"holds \.\./evil"),
        (zipped(**{"/etc__evil": b"1"}), "holds /etc/evil"),
    ):
        server.answers[collab] = content
        with pytest.raises(DataError, match=message):
            fetch("collab", tmp_path)
    assert list(whole(tmp_path.parent if (tmp_path.parent / "evil").exists() else tmp_path)) == []


def test_an_archive_appears_whole_beside_nothing_of_a_users(tmp_path, server):
    collab = SOURCES["collab"].files["collab.zip"]
    server.answers[collab] = zipped(**{
        "collab/raw/edge.csv.gz": b"1", "collab/RELEASE_v1.txt": b"2"
    })  # fmt: skip
    mine = tmp_path / "collab" / "mine.txt"
    mine.parent.mkdir()
    mine.write_text("mine")
    with pytest.raises(DataError, match="holds other files"):
        fetch("collab", tmp_path)
    assert mine.read_text() == "mine"
    mine.unlink()
    mine.parent.rmdir()
    assert len(fetch("collab", tmp_path)) == 2
    assert list(whole(tmp_path)) == ["collab/RELEASE_v1.txt", "collab/raw/edge.csv.gz"]
    assert place_of("collab", tmp_path) == tmp_path / "collab"
    assert fetch("collab", tmp_path) == []


def test_who_cancels_leaves_nothing(tmp_path, server, cora):
    def stop(_: str) -> None:
        raise CancelledError("stopped")

    with pytest.raises(CancelledError):
        fetch("cora", tmp_path / "data", progress=stop)
    assert not (tmp_path / "data").exists()


def test_names_and_folders_that_do_not_fit(tmp_path, server):
    with pytest.raises(DataError, match="called 'karate'"):
        source_of("karate")
    with pytest.raises(DataError, match="has no files of cora"):
        list(compare_facts("cora", tmp_path))
    (tmp_path / "planetoid").write_text("a file in place of a folder")
    server.answers = dict.fromkeys(SOURCES["cora"].files.values(), b"")
    with pytest.raises(DataError, match="cannot be written"):
        fetch("cora", tmp_path)
