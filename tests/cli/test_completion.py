"""``fuseloom completion``: scripts that the shells themselves run."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from fuseloom.cli.completion import INSTALL, SHELLS, command_line
from fuseloom.cli.figures import IDS
from fuseloom.cli.main import command_parser, read_options
from fuseloom.cli.registry import COMMANDS
from fuseloom.experiments.registry import RECIPES
from fuseloom.models import MODELS
from tests.cli.commands import error, output

COMPLETE = """
source "$0"
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_fuseloom
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("completion")


def script(folder: Path, shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    path = folder / f"fuseloom.{shell}"
    if not path.is_file():
        path.write_text(output(capsys, "completion", shell))
    return str(path)


@pytest.mark.parametrize(
    ("words", "some", "none"),
    [
        (("fuseloom", ""), ["compile", "runs", "completion"], ["--version", "list"]),
        (("fuseloom", "co"), ["compile", "contract", "conform", "completion"], ["runs"]),
        (("fuseloom", "--v"), ["--version"], []),
        (("fuseloom", "simulate", "--mod"), ["--model"], ["--machine"]),
        (("fuseloom", "simulate", "--model", "g"), ["gcn", "graphsage", "gpt3"], ["spmv"]),
        (("fuseloom", "simulate", "--model", "=", "sp"), ["spmm", "spmv"], ["gcn"]),
        (("fuseloom", "simulate", "--preset", ""), ["unfused", "C+S", "global"], []),
        (("fuseloom", "simulate", "--engine", ""), ["auto", "compiled", "interpreter"], []),
        (("fuseloom", "simulate", "--machine", "h"), ["hbm2"], ["ddr4"]),
        (("fuseloom", "estimate", "--schedule", "a"), ["a.schedule"], ["b.loom"]),
        (("fuseloom", "estimate", ""), ["a.schedule", "b.loom"], ["compile"]),
        (("fuseloom", "runs", ""), ["list", "show", "export", "import", "gc"], ["compile"]),
        (("fuseloom", "runs", "list", "--fo"), ["--follow"], ["--force"]),
        (("fuseloom", "runs", "list", "--state", "d"), ["done"], ["failed"]),
        (("fuseloom", "machine", "com"), ["comal", "comal-hbm"], ["ideal"]),
        (("fuseloom", "models", ""), [*MODELS], []),
        (("fuseloom", "completion", ""), [*SHELLS], []),
        (("fuseloom", "serve", "--max-r"), ["--max-runs", "--max-run-memory"], []),
    ],
)
def test_bash_completes(
    words: tuple[str, ...],
    some: list[str],
    none: list[str],
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("a.schedule", "b.loom"):
        (tmp_path / name).touch()
    command = ["bash", "--norc", "-c", COMPLETE, script(folder, "bash", capsys), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stderr == ""
    offered = done.stdout.splitlines()
    assert {*some} <= {*offered}
    assert not {*none} & {*offered}
    assert len(offered) == len({*offered})


def test_fish_completes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = script(folder, "fish", capsys)
    if shutil.which("fish") is None:
        assert Path(path).read_text().startswith("# fish")
        return
    for words, expected in (
        ("fuseloom simu", {"simulate"}),
        ("fuseloom simulate --model sp", {"spmm", "spmv"}),
        ("fuseloom runs ", {"list", "show", "export", "import", "gc"}),
        ("fuseloom runs list --fol", {"--follow"}),
    ):
        command = ["fish", "--no-config", "-c", f"source {path}; complete -C '{words}'"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert {line.split("\t")[0] for line in done.stdout.splitlines()} == expected


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_can_read_its_script(
    shell: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = script(folder, shell, capsys)
    text = Path(path).read_text()
    for entry in COMMANDS:
        assert entry.name in text
    if shutil.which(shell):
        subprocess.run([shell, "-n", path], check=True)


@pytest.mark.deep  # takes seconds
def test_every_argument_is_in_every_script(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = command_line(command_parser(every=True))
    options = {o for line in whole.all() for a in line.options for o in a.options}
    assert len(options) > 80
    for shell in SHELLS:
        text = Path(script(folder, shell, capsys)).read_text()
        for option in options:
            spelt = option
            if shell == "fish":
                spelt = f"-l {option[2:]} " if option.startswith("--") else f"-s {option[1:]} "
            assert spelt in text, (shell, option)
    assert {"runs", "completion"} <= {line.path[0] for line in whole.all() if line.path}


def test_the_ids_of_figures_are_those_of_recipes() -> None:
    assert {*IDS} <= RECIPES.keys()
    assert RECIPES.keys() - {*IDS} <= {"ours"}


def test_the_examples_can_be_read() -> None:
    for line in INSTALL.splitlines()[1:]:
        words = line.split(">")[0].split()
        assert read_options(words[1:]).shell in SHELLS


def test_another_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert "invalid choice: 'tcsh'" in error(capsys, "completion", "tcsh")
