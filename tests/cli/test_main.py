"""The command line as a whole: how it fails, and how it is used."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuseloom import __version__
from fuseloom.cli import machine, main
from fuseloom.cli.registry import COMMANDS
from fuseloom.results.document import DocumentKind
from tests.cli.commands import file, tensors
from tests.schemas import check_document


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compile"], "name a program file or a model, one of them"),
        (["compile", "{program}", "--model", "gcn"], "name a program file or a model, one of them"),
        (["compile", "{folder}/none.loom"], "cannot read the program {folder}/none.loom: No such"),
        (["compile", "{folder}"], "cannot read the program {folder}: it is a folder"),
        (["compile", "{latin}"], "the program {latin} is not UTF-8 text"),
        (["compile", "{wrong}"], "{wrong}: line 2, column 8"),
        (["compile", "--model", "gnc"], "did you mean 'gcn'"),
        (["compile", "--model", "gcn", "--preset", "ful"], "no preset is called 'ful' (hint: did "
         "you mean 'full'? presets: unfused, C+S, partial, full)"),
        (["compile", "--model", "gcn", "--machine", "hmb2"], "did you mean 'hbm2'?"),
        (["compile", "{program}", "--preset", "full"], "no preset is called 'full' (hint: presets: "
         "none)"),
        (["compile", "--model", "gcn", "--preset", "full", "--schedule", "x"], "not both"),
        (["compile", "{program}", "--schedule", "{folder}/none"], "cannot read the schedule"),
        (["compile", "{program}", "--schedule", "{schedule}"], "{schedule}: line 1, column 11: "
         "cannot read the directive 'merge z'"),
        (["compile", "{program}", "--schedule", "{illegal}"], "i must stay outside j"),
        (["estimate", "--model", "spmv", "--data", "karate"], "does not fit model spmv"),
        (["estimate", "--model", "spmv", "--tensors", "{tensors}"], "goes with a program file"),
        (["estimate", "{program}", "--data", "karate"], "karate does not fit a program file"),
        (["estimate", "{program}", "--data", "random", "--tensors", "{tensors}"], "not both"),
        (["estimate", "{program}", "--tensors", "{tensors}"], "A"),
        (["estimate", "{program}", "--tensors", "{folder}/none.npz"], "No such file"),
        (["estimate", "{program}", "--tensors", "{program}"], "cannot read tensors from {program}"),
        (["estimate", "{program}", "--tensors", "{empty}"], "cannot read tensors from {empty}"),
        (["estimate", "{program}", "--tensors", "{torn}"], "cannot read tensors from {torn}"),
        (["estimate", "{program}", "--tensors", "{single}"], "one array without a name"),
        (["simulate", "{program}", "--machine", "abacus"], "abacus"),
        (["conform", "{program}"], "chain.loom"),
        (["conform", "{folder}/none.json"], "none.json"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_errors_are_one_line(
    arguments: list[str],
    message: str,
    as_json: bool,
    program: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    np.save(tmp_path / "single.npy", np.eye(4))
    files = {
        "program": program,
        "folder": str(tmp_path),
        "latin": file(tmp_path, "latin.loom", b"# na\xefve"),
        "wrong": file(tmp_path, "wrong.loom", "A: 4x4 csr\ny[i] = = A[i,j]"),
        "schedule": file(tmp_path, "a.sched", "fuse y..z; merge z".replace("; ", ";")),
        "illegal": file(tmp_path, "b.sched", "fuse y..z; order y..z: j,i"),
        "tensors": tensors(tmp_path, A=np.eye(3), x=np.ones(4)),
        "empty": file(tmp_path, "empty.npz", b""),
        "torn": file(tmp_path, "torn.npz", b"PK\x03\x04 and then nothing"),
        "single": str(tmp_path / "single.npy"),
    }
    given = [argument.format(**files) for argument in arguments]
    if as_json:
        given.append("--json")
    assert main(given) == 2
    shown = capsys.readouterr()
    (line,) = shown.err.splitlines()
    assert line.startswith("fuseloom: error: ")
    assert message.format(**files) in line
    if "--json" in given:
        told = json.loads(shown.out)
        assert set(told) == {"fuseloom", "version", "error", "place", "rule", "hint"}
        for part in (told["error"], told["hint"] or "", str((told["place"] or {}).get("line", ""))):
            assert part in line
    else:
        assert shown.out == ""


UNREADABLE = pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fuse"], "no command is called 'fuse'"),
        (["simluate"], "no command is called 'simluate'; did you mean simulate?"),
        (["compile", "--show", "ast"], "invalid choice: 'ast'"),
        (["compile", "--show", "tabel"], "; did you mean table?"),
        (["simulate", "--model", "spmv", "--capacity", "0"], "must be at least 1"),
        (["simulate", "--model", "spmv", "--seed", "-1"], "must not be negative"),
        (["simulate", "--model", "spmv", "--engine", "steam"], "invalid choice: 'steam'"),
        (["simulate", "--model", "spmv", "--token-limit", "0"], "must be at least 1"),
        (["simulate", "--memory-limit", "0"], "'0' is no size"),
        (["serve", "--nonsense"], "unrecognized arguments: --nonsense"),
        (["compile", "--model", "spmv", "--prest", "x"], "--prest; did you mean --preset?"),
        (["runs", "lst"], "; did you mean list?"),
        (["runs", "list", "--folow"], "unrecognized arguments: --folow; did you mean --follow?"),
    ],
)


@UNREADABLE
def test_usage(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert "--help" in line


@UNREADABLE
@pytest.mark.parametrize("spelling", ["--json", "--js"])
def test_a_command_line_that_cannot_be_read_is_told_in_json_too(
    arguments: list[str], message: str, spelling: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, spelling]) == 2
    shown = capsys.readouterr()
    assert shown.err.count("\n") == 1
    told = json.loads(shown.out)
    check_document(told, DocumentKind.ERROR)
    if spelling not in told["error"]:
        assert message in told["error"]
    assert told["rule"] == "usage"
    assert told["hint"].startswith("fuseloom")


@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_a_cancelled_command(
    as_json: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def cancel(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("fuseloom.cli.inputs.load_model", cancel)
    assert main(["compile", "--model", "gcn", *["--json"] * as_json]) == 130
    shown = capsys.readouterr()
    assert shown.err == "fuseloom: cancelled\n"
    if as_json:
        told = json.loads(shown.out)
        check_document(told, DocumentKind.ERROR)
        assert told["rule"] == "cancelled"


INTERRUPTED = """
import sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
from fuseloom.cli import main
from fuseloom.cli.registry import COMMANDS
sys.exit(main())
"""


@pytest.mark.parametrize("module", ["fuseloom.cli.main", "fuseloom.dataflow.compiler", "numpy"])
@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_a_command_cancelled_while_it_is_imported(module: str, as_json: bool) -> None:
    """As the installed script does it, with Ctrl-C at one of the imports."""
    command = [sys.executable, "-c", INTERRUPTED.format(module=module)]
    given = ["compile", "--model", "gcn", *["--json"] * as_json]
    done = subprocess.run([*command, *given], capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert done.stderr == "fuseloom: cancelled\n"
    if as_json:
        check_document(json.loads(done.stdout), DocumentKind.ERROR)
    else:
        assert done.stdout == ""


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"fuseloom {__version__}\n"


@pytest.mark.parametrize("command", [["machine", "hbm2"], ["machine", "hbm2", "--json"]])
def test_a_full_disk_is_one_line(command: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "fuseloom", *command],
            stdout=full, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "No space left on device" in line


def test_a_reader_that_has_enough_ends_a_command_quietly() -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "fuseloom", "machine", "hbm2"]
    with os.fdopen(write, "w") as closed:
        done = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (1, "")


def test_a_terminal_without_arrows_gets_escapes() -> None:
    command = [sys.executable, "-m", "fuseloom", "explore", "--model", "spmm"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0
    assert r"\u2192" in done.stdout


def test_too_little_memory_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: object) -> None:
        raise MemoryError

    monkeypatch.setattr("fuseloom.cli.machine.machine_of", fail)
    assert main(["machine"]) == 2
    assert capsys.readouterr().err.endswith("there is not enough memory for that\n")


def test_without_a_command_the_help_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    for entry in COMMANDS:
        assert entry.text in " ".join(shown.out.split())
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == shown.out


def test_json_without_a_command_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json"]) == 2
    assert "COMMAND" in json.loads(capsys.readouterr().out)["error"]


LOADED = """
import sys
from fuseloom.cli import main
from fuseloom.cli.registry import COMMANDS
try:
    main(sys.argv[1:])
except SystemExit:
    pass
names = {name.partition(".")[0] for name in sys.modules}
print(len(sys.modules), *sorted(names), file=sys.stderr)
"""
HEAVY = {
    "numpy", "scipy", "pandas", "networkx", "numba", "llvmlite", "rich", "lark", "psutil", "google",
    "platformdirs", "graphviz", "pygraphviz", "multiprocessing", "asyncio", "inspect", "panel",
}  # fmt: skip


@pytest.mark.parametrize(
    ("words", "libraries", "most"),
    [
        ("", set(), 130),
        ("--version", set(), 130),
        ("--help", set(), 130),
        ("simluate", set(), 130),
        ("serve --help", {"inspect"}, 150),
        ("machine hbm2", {"numpy", "scipy", "lark"}, 900),
        ("runs list", {"numpy", "scipy", "lark", "platformdirs"}, 900),
        ("models", {"numpy", "scipy", "lark"}, 700),
        ("simulate --help", {"numpy", "scipy", "lark"}, 850),
        ("compile --model spmv", {"numpy", "scipy", "lark", "networkx"}, 1300),
        ("estimate --model spmv", {"numpy", "scipy", "lark", "networkx"}, 1300),
        (
            "simulate --model spmv",
            {"numpy", "scipy", "lark", "networkx", "numba", "llvmlite", "rich"},
            1700,
        ),
    ],
)
def test_a_command_imports_what_it_needs(
    words: str, libraries: set[str], most: int, tmp_path: Path
) -> None:
    environment = {**os.environ, "FUSELOOM_RUNS": str(tmp_path / "runs.sqlite")}
    command = [sys.executable, "-c", LOADED, *words.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    number, *names = done.stderr.splitlines()[-1].split()
    allowed = libraries | (
        {"inspect", "multiprocessing", "asyncio", "platformdirs"} if libraries else set()
    )
    assert HEAVY & set(names) <= allowed
    assert int(number) <= most


def test_a_fault_is_reported_in_a_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FUSELOOM_REPORTS", str(tmp_path))

    def fault(*_: object, **__: object) -> None:
        raise KeyError("a fault")

    command = replace(machine.MACHINE, run=fault)
    monkeypatch.setattr(machine, "MACHINE", command)
    assert main(["machine", "hbm2", "--json"]) == 70
    printed = capsys.readouterr()
    (path,) = tmp_path.iterdir()
    assert f"report: {path}" in printed.err
    assert json.loads(printed.out)["rule"] == "internal"
    assert "a fault" in json.loads(path.read_text(encoding="utf-8"))["traceback"]


def test_an_order_that_fails_inside_is_told_and_another_one_taken(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from fuseloom.dataflow import compiler

    monkeypatch.setenv("FUSELOOM_REPORTS", str(tmp_path))
    whole, failed = compiler.build_table, []

    def faulty(region: Any, order: Any) -> Any:
        if not failed:
            failed.append(order)
            raise KeyError("a fault")
        return whole(region, order)

    monkeypatch.setattr(compiler, "build_table", faulty)
    assert main(["compile", "--model", "spmm"]) == 0
    (path,) = tmp_path.iterdir()
    printed = capsys.readouterr()
    assert printed.err.startswith("fuseloom: internal error: order ")
    assert f"report: {path}" in printed.err
    assert "nodes" in printed.out
