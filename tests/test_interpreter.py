"""Python processes that Fuseloom starts: its own sources, nothing of the current folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import fuseloom
from fuseloom import interpreter

WHERE = "import fuseloom, json; print(fuseloom.__file__, json.__file__, sep='\\n')"


def test_a_process_has_this_fuseloom_and_nothing_of_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("fuseloom", "json"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('hostile')")
    monkeypatch.delenv("PYTHONPATH", raising=False)
    done = subprocess.run(
        interpreter.command("-c", WHERE), cwd=tmp_path, env=interpreter.environment(),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    ours, theirs = map(Path, done.stdout.splitlines())
    assert ours == Path(fuseloom.__file__)
    assert not theirs.is_relative_to(tmp_path)


def test_further_packages_are_those_of_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "sources" / "helper"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(package.parent))
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    helper = __import__("helper")
    path = interpreter.environment(helper)["PYTHONPATH"].split(":")
    assert path == [str(Path(fuseloom.__file__).parents[1]), str(package.parent), "elsewhere"]
    assert interpreter.command()[0] == sys.executable
