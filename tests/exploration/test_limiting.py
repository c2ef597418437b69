"""Limits of a process, each tried in one of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from fuseloom.exploration.limiting import limited
from tests.waiting import until

ROOT = Path(__file__).parents[2]
START = "import os, resource, signal, sys, time; from fuseloom.exploration import limiting\n"


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", START + code], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_mapping_a_file_needs_leave() -> None:
    done = run(
        "import mmap\n"
        "limiting.limit_memory(50 << 20)\n"
        "def big():\n"
        "    try: mmap.mmap(-1, 80 << 20); return True\n"
        "    except OSError: return False\n"
        "for size in (0, 80 << 20, -80 << 20):\n"
        "    limiting.allow_mapping(size); print(big())\n"
    )
    assert done.stdout == "False\nTrue\nFalse\n", done.stderr


def test_limits_hold_inside_only() -> None:
    done = run(
        "def now(): return [*map(resource.getrlimit, (resource.RLIMIT_AS, resource.RLIMIT_CPU))]\n"
        "before = now()\n"
        "with limiting.limited(memory=50 << 20):\n"
        "    bytearray(20 << 20)\n"
        "    try: bytearray(60 << 20)\n"
        "    except MemoryError: print('refused')\n"
        "bytearray(60 << 20)\n"
        "print(before == now())"
    )
    assert done.stdout == "refused\nTrue\n", done.stderr
    done = run("with limiting.limited(cpu=0.2):\n    while True: pass")
    assert done.returncode == -signal.SIGXCPU


def test_an_outer_limit_is_there_again() -> None:
    done = run(
        "limiting.limit_memory(100 << 20)\n"
        "with limiting.limited(cpu=5, memory=20 << 20): pass\n"
        "try: bytearray(200 << 20)\n"
        "except MemoryError: print('still refused')"
    )
    assert done.stdout == "still refused\n", done.stderr
    # a hard limit stays below what is asked for
    done = run(
        "resource.setrlimit(resource.RLIMIT_CPU, (5, 5))\n"
        "with limiting.limited(cpu=100): print(resource.getrlimit(resource.RLIMIT_CPU))"
    )
    assert done.stdout == "(5, 5)\n", done.stderr


def test_limits_end_with_an_error_too() -> None:
    with pytest.raises(ZeroDivisionError), limited(cpu=1000, memory=1 << 40):
        raise ZeroDivisionError


def test_a_process_ends_with_its_parent() -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", START + "mine = os.getpid(); child = os.fork()\n"
         "if child == 0: limiting.end_with(mine); time.sleep(60)\n"
         "print(child, flush=True); time.sleep(60)"],
        cwd=ROOT, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert psutil.pid_exists(child)
    parent.kill()
    parent.communicate()
    until(lambda: not psutil.pid_exists(child), "the child has ended")
    gone = run("limiting.end_with(1 if os.getppid() != 1 else 2); print('goes on')")
    assert (gone.returncode, gone.stdout) == (0, "")


def test_nothing_of_the_engine_is_loaded_for_it() -> None:
    done = run("print(sorted(m for m in sys.modules if m.startswith('fuseloom')))")
    assert done.stdout == "['fuseloom', 'fuseloom.exploration', 'fuseloom.exploration.limiting']\n"
