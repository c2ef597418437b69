"""The server's memory comes from the C library; what it starts is as usual."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from fuseloom_workbench.serving import allocator

SCRIPT = """
import os, sys
from fuseloom_workbench.serving.allocator import use_library
print(sys.argv[1:], os.environ.get("PYTHONMALLOC"), sys.getallocatedblocks() == 0, flush=True)
use_library()
print("goes on", sys.argv[1:], os.environ.get("PYTHONMALLOC"), sys.getallocatedblocks() == 0)
"""

glibc = pytest.mark.skipif(allocator.malloc_trim() is None, reason="needs malloc_trim")


def lines(**more: str) -> list[str]:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONMALLOC"} | more
    command = [sys.executable, "-c", SCRIPT, "--port", "5"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@glibc
def test_it_starts_anew_once_and_children_do_not_inherit_it() -> None:
    arguments = "['--port', '5']"
    assert lines() == [
        f"{arguments} None False",
        f"{arguments} malloc True",
        f"goes on {arguments} None True",
    ]


def test_what_the_user_has_chosen_stays() -> None:
    first, then = lines(PYTHONMALLOC="pymalloc")
    assert first == "['--port', '5'] pymalloc False"
    assert then == "goes on ['--port', '5'] pymalloc False"


def test_without_such_a_library_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONMALLOC", raising=False)
    monkeypatch.setattr(allocator, "malloc_trim", lambda: None)
    allocator.use_library()
    allocator.give_back()
    assert "PYTHONMALLOC" not in os.environ
