"""Archives of models: what is saved comes back, and what means harm is refused."""

from __future__ import annotations

import atexit
import io
import json
import tempfile
import urllib.request
import zipfile
from pathlib import Path

import numpy as np
import pytest

import fuseloom as fl
from benchmarks.visitors import free_port
from fuseloom.cli.main import main
from fuseloom.errors import DataError, FuseloomError, RecordError
from fuseloom.models import load
from fuseloom.program import check_data, parse
from fuseloom.results import archive
from fuseloom.results.archive import ArchivedKernel, ModelArchive, read_model
from tests.waiting import until

MODELS = ["gcn", "graphsage", "autoencoder", "attention", "heads", "nested", "spmm", "spmv"]


def saved(folder: Path, name: str = "gcn") -> Path:
    model, data = load(name)
    kernels = tuple(ArchivedKernel(k.name, k.statements, f"model.py:{n}")
                    for n, k in enumerate(model.kernels))  # fmt: skip
    path = folder / "model.fuseloom"
    ModelArchive(model.program, data, model.presets, kernels, ("A note.",)).save(path)
    return path


@pytest.mark.parametrize("name", MODELS)
def test_what_is_saved_comes_back(name, tmp_path):
    model, data = load(name)
    again = read_model(saved(tmp_path, name))
    assert again.program == model.program
    assert dict(again.presets) == dict(model.presets)
    assert again.notes == ("A note.",)
    assert [k.name for k in again.kernels] == [k.name for k in model.kernels]
    assert again.kernels[-1].place.startswith("model.py:")
    assert again.data.keys() == data.keys()
    for given in data:
        assert again.data[given].tensor == data[given].tensor
        np.testing.assert_array_equal(again.data[given].values, data[given].values)
        np.testing.assert_array_equal(again.data[given].to_dense(), data[given].to_dense())
    assert "presets" in repr(again)


def test_scalars_and_empty_tensors_come_back(tmp_path):
    program = parse("A: 4x2 csr\nc: scalar\nB: 4x3 dcsr\ny[i,j] = c * B[i,j]\nz[i] = A[i,k]\n")
    given = {"A": np.zeros((4, 2)), "c": np.array(2.5), "B": np.zeros((4, 3))}
    data = check_data(program, given)
    ModelArchive(program, data).save(tmp_path / "m.fuseloom")
    again = read_model(tmp_path / "m.fuseloom")
    assert again.program == program
    assert all((again.data[n].to_dense() == data[n].to_dense()).all() for n in given)


def test_commands_read_it(tmp_path, capsys):
    path = saved(tmp_path)
    own = fl.load("gcn")
    assert main(["simulate", str(path), "--preset", "full", "--json"]) == 0
    cycles = json.loads(capsys.readouterr().out)["cycles"]
    assert main(["simulate", "--model", "gcn", "--preset", "full", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cycles"] == cycles
    assert main(["estimate", str(path)]) == 0
    np.savez(tmp_path / "x.npz", X=2 * own[1]["X"].to_dense())
    command = ["simulate", str(path), "--tensors", str(tmp_path / "x.npz")]
    assert main(command) == 0, "one input is replaced"
    assert main(["simulate", str(path), "--data", "random", "--seed", "3"]) == 0
    capsys.readouterr()
    assert main(["simulate", str(path), "--preset", "none"]) != 0
    assert "presets:" in capsys.readouterr().err


def test_what_is_there_stays_when_it_cannot_be_written(tmp_path, monkeypatch):
    path = saved(tmp_path)
    before = path.read_bytes()
    model, data = load("spmv")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(archive, "write_tensors", full)
    with pytest.raises(DataError, match="No space left"):
        ModelArchive(model.program, data).save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["model.fuseloom"]


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False


def test_it_is_opened_in_the_workbench(tmp_path, monkeypatch):
    """By a server of its own, which ends when it is told to, and leaves nothing."""
    monkeypatch.setenv("FUSELOOM_UPLOADS", str(tmp_path / "uploads"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    model, data = load("spmv")
    port = free_port()
    begun = []
    monkeypatch.setattr(atexit, "register", begun.append)
    server = ModelArchive(model.program, data).open(port, browser=False)
    try:
        until(lambda: answers(f"http://localhost:{port}/health"), "the server answers")
        (kept,) = (tmp_path / "uploads").glob("*.fuseloom")
        assert read_model(kept).program == model.program
    finally:
        begun[-1]()
    assert server.returncode is not None
    assert [p.name for p in tmp_path.iterdir()] == ["uploads"]


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def written(path: Path, parts: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return path


HEADS = {
    "no JSON": b"{",
    "a list": b"[]",
    "a newer version": b'{"version": 2}',
    "no version": b"{}",
    "a version that is none": b'{"version": true, "kernels": [], "presets": {}, "notes": []}',
    "unknown names": b'{"version": 1, "kernels": [], "presets": {}, "notes": [], "run": "x"}',
    "presets that are none": b'{"version": 1, "kernels": [], "presets": {"a": 1}, "notes": []}',
    "nesting": b"[" * 100_000,
    "unknown statements": b'{"version": 1, "kernels": [{"name": "k", "statements": ["q"], '
    b'"place": ""}], "presets": {}, "notes": []}',
}


@pytest.mark.parametrize("head", HEADS)
def test_a_damaged_description_is_refused(head, tmp_path):
    path = saved(tmp_path)
    written(path, {**members(path), "model.json": HEADS[head]})
    with pytest.raises(RecordError, match=r"model\.fuseloom"):
        read_model(path)


def test_a_statement_is_of_one_kernel(tmp_path):
    path = saved(tmp_path)
    parts = members(path)
    head = json.loads(parts["model.json"])
    head["kernels"].append(head["kernels"][0])
    with pytest.raises(RecordError, match="another kernel has"):
        read_model(written(path, {**parts, "model.json": json.dumps(head).encode()}))


def pickled() -> bytes:
    made = io.BytesIO()
    np.savez(made, **{"0": np.array([{"a": 1}], dtype=object)})
    return made.getvalue()


PARTS = {
    "no data": {"data.npz": None},
    "no program": {"program.loom": None},
    "more": {"evil.py": b"print()"},
    "a way out": {"../evil": b""},
    "an empty program": {"program.loom": b""},
    "a program that is none": {"program.loom": b"what is this"},
    "a text in Latin-1": {"program.loom": b"# \xff\n"},
    "data that are none": {"data.npz": b"PK"},
    "data of another program": {"program.loom": b"A: 3x3 csr\ny[i] = A[i,j]\n"},
    "pickles": {"data.npz": pickled()},
}


@pytest.mark.parametrize("part", PARTS)
def test_a_damaged_archive_is_refused(part, tmp_path):
    path = saved(tmp_path)
    parts = {**members(path), **PARTS[part]}
    written(path, {name: held for name, held in parts.items() if held is not None})
    with pytest.raises(FuseloomError) as raised:
        read_model(path)
    assert "model.fuseloom" in str(raised.value) or "data.npz" in str(raised.value)


@pytest.mark.parametrize("name", ["model.json", "program.loom", "data.npz"])
def test_what_unpacks_to_too_much_is_not_unpacked(name, tmp_path, monkeypatch):
    path = saved(tmp_path)
    monkeypatch.setattr(archive, "MOST_TEXT", 1 << 16)
    monkeypatch.setattr(archive, "FREE_ARRAYS", 1 << 16)
    with zipfile.ZipFile(path) as file:
        parts = {n: file.read(n) for n in file.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for member, content in {**parts, name: bytes(1 << 25)}.items():
            file.writestr(member, content)
    with pytest.raises(DataError, match=rf"{name} unpacks to .* the limit is"):
        read_model(path)


def test_random_damage_is_refused_or_harmless(tmp_path):
    """Cut off, or with bytes changed: an error in words, or what was saved."""
    path = saved(tmp_path, "spmv")
    whole, rng = path.read_bytes(), np.random.default_rng(5)
    model, _ = load("spmv")
    for _ in range(150):
        damaged = bytearray(whole[: rng.integers(len(whole)) if rng.random() < 0.3 else None])
        for _ in range(rng.integers(1, 4)):
            if damaged:
                damaged[rng.integers(len(damaged))] = rng.integers(256)
        path.write_bytes(bytes(damaged))
        try:
            again = read_model(path)
        except FuseloomError:
            continue
        assert again.program.given == model.program.given


@pytest.mark.parametrize("kind", ["missing", "folder", "text"])
def test_what_is_no_file_is_refused(kind, tmp_path):
    path = tmp_path / "x.fuseloom"
    if kind == "folder":
        path.mkdir()
    elif kind == "text":
        path.write_text("program x\n")
    with pytest.raises(FuseloomError, match="cannot read"):
        read_model(path)
