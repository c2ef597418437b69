"""Style, types and layers hold everywhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def run(*command: str) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def tool(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


@pytest.mark.parametrize("arguments", [("check",), ("format", "--check")], ids=" ".join)
def test_style(arguments: tuple[str, ...]) -> None:
    run(sys.executable, "-m", "ruff", *arguments, ".")


@pytest.mark.deep  # a minute without mypy's cache
def test_types() -> None:
    run(sys.executable, "-m", "mypy")


def test_layers() -> None:
    run(tool("lint-imports"))


def test_the_readme_prints_both_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"<!-- (\w+) command -->\n```sh\n(.+?)\n```", text, re.DOTALL)
    commands = dict(blocks)
    assert commands["serve"].endswith("fuseloom serve")
    assert "pytest" in commands["test"]
    assert all(command.startswith("python3 -m venv") for command in commands.values())


def test_no_user_text_is_executed() -> None:
    """No eval, exec or unpickling anywhere in what a user's text or files reach.

    Machine code is unpickled from files that are told from all others by their hash, and drawings
    from a pipe to this program's own child.
    """
    ours = {
        "engine/fuseloom/dataflow/sim/compiled/cache.py",
        "workbench/fuseloom_workbench/service/later.py",
    }
    banned = re.compile(r"(?<![\w.])(eval|exec|pickle\.loads?|marshal\.loads?)\(")
    for folder in ("engine", "workbench", "apps"):
        for path in (ROOT / folder).rglob("*.py"):
            if path.relative_to(ROOT).as_posix() in ours:
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                assert not banned.search(line), f"{path.relative_to(ROOT)}:{number}: {line}"
