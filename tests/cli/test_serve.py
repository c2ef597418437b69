"""``fuseloom serve`` becomes the server."""

from __future__ import annotations

import os
import sys

import pytest

from fuseloom import interpreter
from fuseloom.cli import main

HERE = ["--address", "127.0.0.1"]


@pytest.mark.parametrize("port", ["0", "65536", "70000", "-1", "http", "5006.0", "٣", "9" * 5000])
def test_a_port_that_there_is_not(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", f"--port={port}"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "--port" in line
    assert "from 1 to 65535" in line


@pytest.mark.parametrize(
    ("options", "given"),
    [
        ((), HERE),
        (("--no-browser",), [*HERE, "--no-browser"]),
        (("net.fuseloom",), [*HERE, "--", "net.fuseloom"]),
        (("--pages", "networks, explorer"), [*HERE, "--pages", "networks,explorer"]),
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

    def execve(path: str, arguments: list[str], environment: dict[str, str]) -> None:
        assert environment == interpreter.environment()
        became.append([path, *arguments])
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "execve", execve)
    assert main(["serve", "--port", "5010", *options]) == 130
    server = ["-m", "fuseloom_workbench.serving", "--port", "5010"]
    assert became == [[sys.executable, sys.executable, "-P", *server, *given]]


def test_a_page_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--pages", "explorer,costs"]) == 2
    assert (
        "'costs' is no page; there are explorer, figures, networks, patterns, calls, kernels"
        in capsys.readouterr().err
    )
