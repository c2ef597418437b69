"""The cache of machine code: it holds what is right, and makes again what is damaged."""

from __future__ import annotations

import ast
import errno
import importlib
import inspect
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fuseloom.dataflow.sim.compiled import cache, kernel_sources, kernels
from fuseloom.dataflow.sim.compiled.code_files import SUFFIX, CodeFile

COVERED = set(kernel_sources.texts())


def constants_from_elsewhere(source: str) -> list[str]:
    """The constants that a file takes from modules which the key does not cover.

    It may import a constant, or a module whose attribute it is.
    """
    tree = ast.parse(source)
    known: dict[str, tuple[str, object]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("fuseloom"):
            origin = importlib.import_module(str(node.module))
            for alias in node.names:
                value = getattr(origin, alias.name, None)
                known[alias.asname or alias.name] = str(node.module), value

    def meaning(node: ast.AST) -> tuple[str, object]:
        """Where something is from, and what it is."""
        if isinstance(node, ast.Name):
            return known.get(node.id, ("", None))
        if isinstance(node, ast.Attribute):
            origin = meaning(node.value)[1]
            if inspect.ismodule(origin):
                return origin.__name__, getattr(origin, node.attr, None)
        return "", None

    assert not any(isinstance(n, ast.Import) and "fuseloom" in ast.unparse(n) for n in tree.body)
    return [
        ast.unparse(node)
        for node in ast.walk(tree)
        for origin, value in [meaning(node)]
        if isinstance(value, int | float | tuple) and origin not in COVERED
    ]


@pytest.mark.parametrize("path", kernel_sources.sources(), ids=lambda path: path.name)
def test_no_number_in_machine_code_comes_from_elsewhere(path: Path) -> None:
    """Constants are frozen into kernels, so they live in files that the key covers."""
    assert not constants_from_elsewhere(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from fuseloom.dataflow.sim.observe import ROOM\nx = ROOM", ["ROOM"]),
        ("from fuseloom.dataflow.sim import observe\nx = observe.ROOM", ["observe.ROOM"]),
        ("from fuseloom.dataflow.sim import observe as o\nx = o.ROOM", ["o.ROOM"]),
        ("from fuseloom.dataflow.sim.compiled import waits\nx = waits.ROOM", []),
        ("from fuseloom.dataflow.sim.compiled.waits import ROOM\nx = ROOM", []),
    ],
)
def test_a_number_from_elsewhere_is_found(source: str, found: list[str]) -> None:
    assert constants_from_elsewhere(source) == found


def test_the_cache_knows_what_it_has(tmp_path: Path) -> None:
    """A fresh directory has nothing; a process that compiles one kernel leaves it there."""
    script = (
        "from fuseloom.dataflow.sim.compiled import warmup\n"
        "print(warmup.ready(['root']))\n"
        "warmup.KERNELS['root'].address\n"
        "print(warmup.ready(['root']), warmup.ready())\n"
    )
    for first in ("False", "True"):
        run = subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, cache.ENVIRONMENT: str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stdout.split() == [first, "True", "False"]


def test_old_caches_are_pruned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.ENVIRONMENT, str(tmp_path))
    for k in range(6):
        path = tmp_path / "kernels" / f"{k:020x}"
        path.mkdir(parents=True)
        os.utime(path, (k, k))
    kept = tmp_path / "kernels" / "something else"
    kept.mkdir()
    cache.prune()
    left = sorted(path.name for path in (tmp_path / "kernels").iterdir())
    assert left == [*(f"{k:020x}" for k in (3, 4, 5)), "something else"]


def test_old_files_of_a_kernel_are_pruned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The three newest beside the current one, which may be older than all of them."""
    monkeypatch.setenv(cache.ENVIRONMENT, str(tmp_path))
    folder = cache.directory()
    folder.mkdir(parents=True)
    names = [kernels.KERNELS["root"].file_name, *(f"root-{k:016x}" for k in range(1, 7))]
    for k, name in enumerate([*names, "scan-0000000000000001"]):
        (folder / f"{name}{SUFFIX}").touch()
        os.utime(folder / f"{name}{SUFFIX}", (k, k))
    cache.prune()
    left = {path.stem for path in folder.iterdir()}
    assert left == {names[0], *names[4:], "scan-0000000000000001"}


def test_kernels_are_kept_in_their_versions_directory_or_nowhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Any other folder could hold the code of an older version of a helper."""
    root = kernels.KERNELS["root"]
    (tmp_path / "file").write_text("no directory can be made below this")
    monkeypatch.setenv(cache.ENVIRONMENT, str(tmp_path / "file"))
    homeless = cache.CompiledKernel(root.name, root.function, root.slots, root.setup)
    assert not homeless.storable
    assert not homeless.ready
    monkeypatch.setenv(cache.ENVIRONMENT, str(tmp_path))
    assert cache.CompiledKernel(root.name, root.function, root.slots, root.setup).storable


def test_a_full_disk_costs_a_warning_and_no_more(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Neither here nor in the processes that compile beforehand can anything be kept."""
    monkeypatch.setenv(cache.ENVIRONMENT, str(tmp_path))
    monkeypatch.setattr(cache, "SAID", [])
    root = kernels.KERNELS["root"]
    kernel = cache.CompiledKernel(root.name, root.function, root.slots, root.setup)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(CodeFile, "save", full)
    assert kernel.storable
    assert not kernel.ready
    assert kernel.address
    assert kernel.ready
    assert not kernel.kept
    shown = capfd.readouterr().err
    assert shown.count("\n") == 1
    assert f"warning: cannot keep compiled kernels in {tmp_path / 'kernels'} (No space" in shown
    cache.say_unkept("again")
    assert capfd.readouterr().err == ""


def fresh(name: str) -> cache.CompiledKernel:
    """A kernel as another process finds it."""
    root = kernels.KERNELS[name]
    return cache.CompiledKernel(root.name, root.function, root.slots, root.setup)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:50])


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def swapped(path: Path) -> None:
    other = path.with_name(f"other{SUFFIX}")
    CodeFile(path.parent, "other").save(b"of something else")
    os.replace(other, path)


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def a_link(path: Path) -> None:
    there = path.with_name("elsewhere")
    path.rename(there)
    path.symlink_to(there)


def writable(path: Path) -> None:
    path.chmod(0o666)


@pytest.mark.parametrize("damage", [cut, flipped, emptied, swapped, a_pipe, a_link, writable])
def test_a_damaged_cache_is_made_again_once(
    damage: Callable[[Path], None],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(cache.ENVIRONMENT, str(tmp_path))
    monkeypatch.setattr(cache, "DAMAGED", [])
    assert fresh("root").address
    (kept,) = tmp_path.rglob(f"*{SUFFIX}")
    before = kept.read_bytes()
    damage(kept)
    capfd.readouterr()
    assert not fresh("root").ready
    again = fresh("root")
    assert again.address
    assert capfd.readouterr().err.count("is damaged; it is made anew") == 1
    assert not kept.is_symlink()
    assert len(kept.read_bytes()) == pytest.approx(len(before), rel=0.1)
    assert fresh("root").ready
    assert capfd.readouterr().err == ""


def test_code_that_pickles_a_command_does_not_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Command:
        def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
            return os.system, (f"touch {tmp_path / 'ran'}",)

    monkeypatch.setenv(cache.ENVIRONMENT, str(tmp_path))
    assert fresh("root").address
    (kept,) = tmp_path.rglob(f"*{SUFFIX}")
    kept.write_bytes(pickle.dumps(Command()))
    assert fresh("root").address
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("where", ["", "kernels"])
@pytest.mark.parametrize("mode", [0o777, 0o775])
def test_a_folder_that_others_may_write_to_is_not_used(
    where: str,
    mode: int,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(cache.ENVIRONMENT, str(tmp_path))
    monkeypatch.setattr(cache, "SAID", [])
    folder = cache.directory() if not where else cache.root_directory()
    folder.mkdir(parents=True)
    folder.chmod(mode)
    kernel = fresh("root")
    assert not kernel.storable
    assert kernel.address
    shown = capfd.readouterr().err
    assert f"{folder} may be written to by other users" in shown
    assert f"chmod go-w {folder}" in shown
    assert not list(tmp_path.rglob(f"*{SUFFIX}"))


def test_two_processes_that_compile_at_once_leave_a_sound_file(tmp_path: Path) -> None:
    script = (
        "from fuseloom.dataflow.sim.compiled import warmup\n"
        "warmup.KERNELS['root'].address\n"
        "print(warmup.KERNELS['root'].kept)\n"
    )
    environment = {**os.environ, cache.ENVIRONMENT: str(tmp_path)}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    assert [process.communicate()[0] for process in running] == ["True\n"] * 2
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1
