"""The process of Triton: modules of kernels from files."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fuseloom.stitch.gpu.triton_child import SOURCE, load_kernels


def test_kernels_are_imported_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / SOURCE
    path.write_text("LAUNCHES = {'a': 1}\n", "utf-8")
    monkeypatch.delitem(sys.modules, "fused_kernels", raising=False)
    assert load_kernels(path).LAUNCHES == {"a": 1}
    monkeypatch.delitem(sys.modules, "fused_kernels")
