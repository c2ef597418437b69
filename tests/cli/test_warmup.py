"""``fuseloom warmup``: progress for people, one object for programs."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from fuseloom.dataflow.sim.compiled import cache
from tests.cli.commands import output


def compiled(progress: Callable[[str, int, int, float], None]) -> None:
    progress("scan", 1, 2, 0.5)
    progress("repeat", 2, 2, 1.25)


def test_warmup(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuseloom.dataflow.sim.compiled.warmup.warmup", compiled)
    assert output(capsys, "warmup").splitlines() == [
        "[1/2] scan (0.5 s)",
        "[2/2] repeat (1.2 s)",
        f"kernels are in {cache.directory()}",
    ]
    made = json.loads(output(capsys, "warmup", "--json"))
    assert made["directory"] == str(cache.directory())
    assert made["seconds"] >= 0
