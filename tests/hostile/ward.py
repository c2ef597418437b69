"""The ward of hostile inputs: each runs in its own process, forked from a loaded one.

``python -m tests.hostile.ward`` reads command lines as JSON from its input, one list of words a
line, and prints what came of each as JSON, one object a line.
"""

from __future__ import annotations

import gc
import io
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).parents[2]
CPU_TIME = 10
"""Seconds of CPU time for an answer."""
MEMORY = 1 << 30
"""Bytes that a process may hold, all that was loaded before included."""
MESSAGE = 500
"""Characters of a message."""
PREFIX = "fuseloom: error: "
_ADDRESSES = 3 << 30
_PATIENCE = 60
_KEPT = 8_000


MOST_LINES = 4
"""Lines of a refusal: the error, and up to three notes on what was read before."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of one command line.

    Attributes
    ----------
    status : int
        Exit code, or minus the signal that ended it.
    seconds : float
        CPU time.
    memory : int
        Most bytes held at once.
    output, errors : str
        What it printed, the beginning.
    """

    status: int
    seconds: float
    memory: int
    output: str
    errors: str

    @property
    def message(self) -> str:
        """The error, where it was refused."""
        lines = [line for line in self.errors.splitlines() if line.startswith(PREFIX)]
        return lines[-1].removeprefix(PREFIX) if lines else ""

    @property
    def faults(self) -> list[str]:
        """The faults of the answer."""
        found = []
        if self.status not in (0, 1, 2):
            found.append(f"ended by {self.status}")
        if "Traceback" in self.errors or "Error:" in self.errors:
            found.append("traceback")
        if self.seconds > CPU_TIME:
            found.append(f"took {self.seconds:.1f} s")
        if self.memory > MEMORY:
            found.append(f"held {self.memory >> 20} MiB")
        if self.status == 2 and not 10 <= len(self.message) <= MESSAGE:
            found.append(f"a message of {len(self.message)} characters")
        if self.status == 2 and len(self.errors.splitlines()) > MOST_LINES:
            found.append(f"{len(self.errors.splitlines())} lines")
        if any(not (c.isprintable() or c in "\n") for c in self.errors):
            found.append("characters that do not print")
        return found


def run(command_lines: Iterable[list[str]], folder: Path) -> Iterator[Outcome]:
    """Run command lines one after another in a folder."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    with tempfile.TemporaryFile("w+") as given:
        given.writelines(json.dumps(words) + "\n" for words in command_lines)
        given.seek(0)
        ward = subprocess.Popen(
            [sys.executable, "-m", "tests.hostile.ward"],
            cwd=folder, env=environment, text=True, stdin=given, stdout=subprocess.PIPE,
        )  # fmt: skip
        with ward:
            assert ward.stdout is not None
            for line in ward.stdout:
                yield Outcome(**json.loads(line))


def _limited(words: list[str], out: int, err: int) -> NoReturn:
    """Be the process of one command line."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(out, 1)
    os.dup2(err, 2)
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_TIME + 5, CPU_TIME + 6))
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, _ADDRESSES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))
    signal.alarm(_PATIENCE)
    status = 70
    try:
        from fuseloom.cli import main

        status = main(words)
    except SystemExit as leaving:
        status = leaving.code if isinstance(leaving.code, int) else 71
    except BaseException:
        traceback.print_exc()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)


def _outcome(words: list[str]) -> Outcome:
    out, err = (os.memfd_create(name) for name in ("out", "err"))
    child = os.fork()
    if child == 0:
        _limited(words, out, err)
    _, status, used = os.wait4(child, 0)
    texts = []
    for number in (out, err):
        os.lseek(number, 0, os.SEEK_SET)
        with os.fdopen(number, "rb") as file:
            texts.append(file.read(_KEPT).decode("utf-8", "replace"))
    return Outcome(
        os.waitstatus_to_exitcode(status),
        used.ru_utime + used.ru_stime,
        used.ru_maxrss * 1024,
        texts[0],
        texts[1],
    )


WARMING = (
    ["compile", "--model", "spmv", "--json"],
    ["simulate", "--model", "spmv", "--json"],
    ["what-if", "--model", "spmv", "--json"],
    ["explore", "--model", "gcn", "--json"],
    ["estimate", "--model", "gcn", "--data", "cora_ml", "--preset", "partial", "--json"],
    ["compile", str(ROOT / "docs" / "examples" / "gcn.mlir"), "--json"],
    ["conform", str(ROOT / "tests" / "conformance" / "kernels.json"), "--json"],
)
"""Commands that load what commands need."""


def _ward() -> None:
    """Load what commands need, then serve."""
    from fuseloom.cli import main
    from fuseloom.dataflow.sim.compiled.warmup import warmup  # may compile, so not in a child

    warmup()
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        for words in WARMING:
            main(words)
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        print(json.dumps(asdict(_outcome(json.loads(line)))), flush=True)


if __name__ == "__main__":
    _ward()
