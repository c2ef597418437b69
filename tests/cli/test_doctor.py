"""``fuseloom doctor``: what works, what is missing, and the exit code."""

from __future__ import annotations

import json
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from fuseloom import __version__
from fuseloom.cli import doctor, main
from tests.cli.commands import output

ROOT = Path(__file__).parent.parent.parent


def report(capsys: pytest.CaptureFixture[str], code: int = 0) -> dict[str, dict]:
    told = json.loads(output(capsys, "doctor", "--json", code=code))
    assert told["ok"] is (code == 0)
    return {f"{check['group']}: {check['name']}": check for check in told["checks"]}


def test_everything_compulsory_works_here(capsys: pytest.CaptureFixture[str]) -> None:
    checks = report(capsys)
    assert checks["Python: Fuseloom"]["version"] == __version__
    assert checks["libraries: numpy"]["version"] == metadata.version("numpy")
    assert checks["libraries: numba compiles"]["state"] == "ok"
    assert checks["libraries: pygraphviz lays out"]["state"] == "ok"
    assert "files: kernel cache" in checks
    assert {"C compiler: gcc", "C compiler: clang", "Graphviz: dot", "fonts: fonts"} <= {*checks}
    for check in checks.values():
        assert check["state"] == "ok" or not check["required"]


def test_the_table_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    lines = output(capsys, "doctor").splitlines()
    assert lines[-1] == "everything that is compulsory works"
    assert any(line.split()[1:3] == ["numpy", metadata.version("numpy")] for line in lines)


REQUIREMENTS = [
    "numpy>=2.0", "absent-library>=1", 'absent-here>=1; sys_platform == "emscripten"',
    'absent-extra>=2; extra == "colour"', 'numpy>=1; extra == "light"',
]  # fmt: skip


def test_a_missing_library_is_an_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata, "requires", lambda name: REQUIREMENTS)
    checks = report(capsys, code=1)
    missing = checks["libraries: absent-library"]
    assert (missing["state"], missing["required"]) == ("missing", True)
    assert missing["hint"] == "pip install --upgrade 'absent-library>=1'"
    assert "libraries: absent-here" not in checks
    assert main(["doctor"]) == 1
    assert "something compulsory does not work" in capsys.readouterr().out


def test_extras_are_those_of_the_project_with_the_command_that_installs_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = list(project["dependencies"])
    for extra, needs in project["optional-dependencies"].items():
        for need in needs:
            name, _, marker = need.partition(";")
            both = f"({marker.strip()}) and extra == '{extra}'" if marker else f"extra == '{extra}'"
            lines.append(f"{name.strip()}; {both}")
    lines.append("absent-library>=3; extra == 'torch'")
    extras = list(project["optional-dependencies"])

    class Metadata:
        def get_all(self, field: str) -> list[str]:
            assert field == "Provides-Extra"
            return extras

    monkeypatch.setattr(metadata, "requires", lambda name: lines)
    monkeypatch.setattr(metadata, "metadata", lambda name: Metadata())
    checks = report(capsys)
    assert {f"extras: {extra}" for extra in extras} <= {*checks}
    torch = checks["extras: torch"]
    assert (torch["state"], torch["required"]) == ("missing", False)
    assert "absent-library" in torch["detail"]
    assert torch["hint"] == "pip install 'fuseloom[torch]'"


def test_what_does_not_work_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken() -> None:
        raise OSError("libcdt.so: cannot open shared object file")

    monkeypatch.setattr(doctor, "_lays_out", broken)
    monkeypatch.setattr(doctor, "FONT_FOLDERS", (str(tmp_path),))
    monkeypatch.setenv("PATH", str(tmp_path))
    bad = tmp_path / "gcc"
    bad.write_text("#!/bin/sh\nexit 3\n")
    bad.chmod(0o755)
    monkeypatch.setenv("FUSELOOM_RUNS", "/proc/nowhere/runs.sqlite")
    checks = report(capsys, code=1)
    assert "libcdt.so" in checks["libraries: pygraphviz lays out"]["detail"]
    assert checks["fonts: fonts"]["state"] == "missing"
    assert checks["C compiler: gcc"]["detail"].endswith("exit code 3")
    assert checks["C compiler: clang"]["state"] == "missing"
    assert checks["browser: headless browser"]["state"] == "missing"


def test_a_place_that_cannot_be_written_to(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)
    finding = doctor._folder("run store", tmp_path / "runs.sqlite", "FUSELOOM_RUNS", None)
    assert finding.state == "broken"
    assert finding.hint == "name another place by $FUSELOOM_RUNS"
