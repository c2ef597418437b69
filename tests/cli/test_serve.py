"""``fuseloom serve`` becomes the server."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from engine.cli import main

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("options", "shown"), [((), ["--show"]), (("--no-browser",), [])])
def test_serve(options: tuple[str, ...], shown: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[list[str]] = []

    def execv(program: str, arguments: list[str]) -> None:
        begun.append([program, *arguments])
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "execv", execv)
    assert main(["serve", "--port", "5010", *options]) == 130
    app = str(ROOT / "apps" / "explorer.py")
    panel = ["-m", "panel", "serve", app, "--port", "5010", "--num-threads", "4", *shown]
    assert begun == [[sys.executable, sys.executable, *panel]]
