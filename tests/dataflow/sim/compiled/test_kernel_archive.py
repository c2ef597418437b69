"""Kernels in one file: taken as they are, or refused with the reason."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from fuseloom.dataflow.sim.compiled import cache, kernel_archive
from fuseloom.dataflow.sim.compiled.code_files import SUFFIX, CodeFile, own_folder
from fuseloom.dataflow.sim.compiled.kernel_archive import export_kernels, import_kernels
from fuseloom.dataflow.sim.compiled.kernels import KERNELS
from fuseloom.errors import DataError, FuseloomError, SimulationError
from tests.cli.commands import output

NAMES = ("root", "sink")


@pytest.fixture
def exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, str]:
    """An archive of two files, its digest, and then an empty cache."""
    monkeypatch.setenv(cache.ENVIRONMENT, str(tmp_path / "first"))
    folder = own_folder(cache.directory())
    for name in NAMES:
        CodeFile(folder, KERNELS[name].file_name).save(f"code of {name}".encode())
    digest = export_kernels(tmp_path / "kernels.zip")
    monkeypatch.setenv(cache.ENVIRONMENT, str(tmp_path / "second"))
    return tmp_path / "kernels.zip", digest


def digest_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_what_was_exported_is_there_after_the_import(exported: tuple[Path, str]) -> None:
    path, digest = exported
    assert digest == digest_of(path)
    assert import_kernels(path, digest.upper()).installed == NAMES
    folder = cache.directory()
    assert {p.name for p in folder.iterdir()} == {f"{KERNELS[n].file_name}{SUFFIX}" for n in NAMES}
    for name in NAMES:
        file = CodeFile(folder, KERNELS[name].file_name)
        assert file.load() == f"code of {name}".encode()
        assert file.path.stat().st_mode & 0o077 == 0


def test_an_archive_that_is_not_meant_is_refused(exported: tuple[Path, str]) -> None:
    path, digest = exported
    with path.open("ab") as file:
        file.write(b"\n")
    with pytest.raises(DataError, match="is not the archive that is meant"):
        import_kernels(path, digest)
    with pytest.raises(DataError, match="no SHA-256"):
        import_kernels(path, "abc")
    with pytest.raises(DataError, match="cannot read"):
        import_kernels(path.with_name("none"), digest)
    assert not cache.directory().exists()


def rewritten(path: Path, change: Callable[[dict[str, bytes]], object]) -> str:
    """Change the files of an archive; its new digest."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    change(files)
    with zipfile.ZipFile(path, "w") as archive:
        for name, body in files.items():
            archive.writestr(name, body)
    return digest_of(path)


def described(**more: object) -> Callable[[dict[str, bytes]], object]:
    def change(files: dict[str, bytes]) -> None:
        head = {**json.loads(files["kernels.json"]), **more}
        files["kernels.json"] = json.dumps(head).encode()

    return change


def own(files: dict[str, bytes]) -> str:
    return f"{KERNELS['root'].file_name}{SUFFIX}"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda files: files.pop("kernels.json"), "no archive of kernels"),
        (lambda files: files.update({"kernels.json": b"[]"}), "no archive of kernels"),
        (lambda files: files.update({"kernels.json": b"{" * 70_000}), "too long"),
        (described(version=2), "of version 2"),
        (described(made_with={**cache.conditions(), "numba": "0"}), r"another numba \("),
        (described(made_with={}), "another numba, NumPy, LLVM, Python, processor"),
        (lambda files: files.update({"../a.kernel": b"a"}), "is no kernel"),
        (lambda files: files.update({f"a{k}": b"" for k in range(99)}), "more files than"),
        (lambda files: files.update({own(files): b"damaged"}), "damaged, or of another name"),
        (
            lambda files: files.update({own(files): files[f"{KERNELS['sink'].file_name}{SUFFIX}"]}),
            "damaged, or of another name",
        ),
    ],
)
def test_a_wrong_archive_is_refused(
    change: Callable[[dict[str, bytes]], object], told: str, exported: tuple[Path, str]
) -> None:
    path, _ = exported
    digest = rewritten(path, change)
    with pytest.raises((DataError, SimulationError), match=told):
        import_kernels(path, digest)
    assert not [*path.parent.glob("*.kernel")]


def test_what_is_no_zip_file_is_refused(exported: tuple[Path, str]) -> None:
    path, _ = exported
    path.write_bytes(b"kernels")
    with pytest.raises(DataError, match="no archive of kernels"):
        import_kernels(path, digest_of(path))


def test_a_large_archive_is_not_read(
    exported: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, digest = exported
    monkeypatch.setattr(kernel_archive, "MAX_BYTES", 10)
    with pytest.raises(DataError, match="more than the 10 bytes"):
        import_kernels(path, digest)


def test_an_archive_that_unpacks_to_much_is_refused(
    exported: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = exported
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"scan-{0:016x}{SUFFIX}", bytes(100_000))
    monkeypatch.setattr(kernel_archive, "MAX_BYTES", 50_000)
    assert path.stat().st_size < kernel_archive.MAX_BYTES
    with pytest.raises(DataError, match="unpacks to more than 50,000 bytes"):
        import_kernels(path, digest_of(path))


def test_a_damaged_archive_is_refused_with_a_reason(exported: tuple[Path, str]) -> None:
    path, _ = exported
    whole = path.read_bytes()
    refused = 0
    for place in range(len(whole)):
        for flipped in (0x15, 0x80):
            damaged = bytes([whole[place] ^ flipped])
            path.write_bytes(whole[:place] + damaged + whole[place + 1 :])
            try:
                import_kernels(path, digest_of(path))
            except FuseloomError:
                refused += 1
    assert refused > len(whole), "some bytes, such as times, say nothing of the contents"


def test_kernels_of_other_sources_are_left_out(exported: tuple[Path, str]) -> None:
    path, _ = exported
    old = f"scan-{0:016x}{SUFFIX}"
    made = import_kernels(path, rewritten(path, lambda files: files.update({old: b"old"})))
    assert (made.installed, made.outdated) == (NAMES, ("scan",))
    assert not (cache.directory() / old).exists()


def test_nothing_is_exported_of_an_empty_cache(exported: tuple[Path, str]) -> None:
    with pytest.raises(FuseloomError, match="no kernel is compiled yet"):
        export_kernels(exported[0])


def test_the_command_exports_and_imports(
    tmp_path: Path,
    exported: tuple[Path, str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path, digest = exported
    import_kernels(path, digest)
    monkeypatch.setattr("fuseloom.dataflow.sim.compiled.warmup.warmup", lambda progress: None)
    again = tmp_path / "again.zip"
    lines = output(capsys, "warmup", "--export", str(again)).splitlines()
    assert lines[-1] == f"and in {again}, SHA-256 {digest_of(again)}"
    monkeypatch.setenv(cache.ENVIRONMENT, str(tmp_path / "third"))
    options = ("--import", str(again), "--sha256", digest_of(again))
    assert output(capsys, "warmup", *options) == f"2 kernels in {cache.directory()}\n"
    archive = json.loads(output(capsys, "warmup", *options, "--json"))["archive"]
    assert archive == {
        "file": str(again), "sha256": digest_of(again), "installed": [*NAMES], "outdated": [],
    }  # fmt: skip


@pytest.mark.parametrize(
    "options",
    [
        ("--import", "a.zip"),
        ("--sha256", "0" * 64),
        ("--import", "a.zip", "--sha256", "0" * 64, "--export", "b.zip"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    options: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    from fuseloom.cli import main

    assert main(["warmup", *options]) == 2
    assert "error:" in capsys.readouterr().err
