"""``fuseloom estimate``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.commands import output, tensors


def test_estimate(program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = tensors(tmp_path, A=np.eye(4), x=np.ones(4))
    lines = output(capsys, "estimate", program, "--tensors", given).splitlines()
    assert [line.split()[0] for line in lines] == ["region", "y", "z", "total"]
    shown = json.loads(output(capsys, "estimate", program, "--tensors", given, "--json"))
    assert shown["statistics"] is None
    assert shown["flops"] == 4 + 4 + 4  # products, sums, relus
    assert [region["name"] for region in shown["regions"]] == ["y", "z"]
