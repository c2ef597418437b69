"""``fuseloom serve`` becomes the server."""

from __future__ import annotations

import os
import sys

import pytest

from fuseloom.cli import main

HERE = ["--address", "127.0.0.1"]


@pytest.mark.parametrize(
    ("options", "given"),
    [
        ((), HERE),
        (("--no-browser",), [*HERE, "--no-browser"]),
        (
            ("--address", "0.0.0.0", "--allow-origin", "a:1", "--allow-origin", "b:2"),
            ["--address", "0.0.0.0", "--allow-origin", "a:1", "--allow-origin", "b:2"],
        ),
        (
            ("--log-json", "--open-to-network", "--token-file", "t", "--max-run-time", "5"),
            [*HERE, "--token-file", "t", "--open-to-network", "--log-json", "--max-run-time", "5"],
        ),
    ],
)
def test_serve(options: tuple[str, ...], given: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    became: list[list[str]] = []

    def execv(path: str, arguments: list[str]) -> None:
        became.append([path, *arguments])
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "execv", execv)
    assert main(["serve", "--port", "5010", *options]) == 130
    server = ["-m", "fuseloom_workbench.serving", "--port", "5010"]
    assert became == [[sys.executable, sys.executable, *server, *given]]
