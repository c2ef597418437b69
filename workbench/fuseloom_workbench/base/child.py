"""A Python process of its own that takes one kind of request and answers over a pipe.

It starts from nothing but the name of a function, so it never imports the server's main script
(as ``multiprocessing`` does), and its death leaves an error text instead of a broken pool.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pickle
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from enum import Enum
from typing import Any, BinaryIO

import fuseloom_workbench
from fuseloom import interpreter

Send = Callable[[Any], None]

_BOOT = "import sys; from fuseloom_workbench.base.child import serve; serve(sys.argv[1])"
GRACE = 0.1
"""Seconds a process may take to end when asked, before it is killed."""


class ChildError(RuntimeError):
    """The process ended without an answer; the text says what it last wrote."""


class Child:
    """A running process that serves ``module:function``.

    The module's ``prepare()``, if it has one, is called first, then ``function(request, send)``
    for each request; what it gives to ``send`` arrives here in order.  Answers are plain data
    and travel as JSON, so tuples arrive as lists; requests may also hold objects of this project
    and arrays.
    """

    def __init__(self, target: str) -> None:
        self.target = target
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the process)
        self._process = subprocess.Popen(
            interpreter.command("-c", _BOOT, target),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=interpreter.environment(fuseloom_workbench),
        )

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def send(self, request: Any) -> None:
        """Put a request into the pipe.

        Raises
        ------
        ChildError
            If the process is gone.
        """
        try:
            pickle.dump(request, _pipe(self._process.stdin))
            _pipe(self._process.stdin).flush()
        except (BrokenPipeError, OSError, ValueError):
            raise ChildError(self._last_line()) from None

    def receive(self) -> Any:
        """Wait for the next answer.

        Raises
        ------
        ChildError
            If the process ends first.
        """
        try:
            return json.loads(_pipe(self._process.stdout).readline())
        except (OSError, ValueError):  # an empty line is no JSON: the pipe was closed
            raise ChildError(self._last_line()) from None

    def end(self) -> None:
        """End the process; harmless when it has ended."""
        if self.alive:
            self._process.terminate()
            try:
                self._process.wait(GRACE)
            except subprocess.TimeoutExpired:
                self._process.kill()
        # a process that was just killed is collected beside, so that nobody waits for it
        threading.Thread(target=self._collect, daemon=True).start()

    def _collect(self) -> None:
        self._process.wait()
        with contextlib.suppress(OSError):
            _pipe(self._process.stdin).close()

    def _last_line(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE)
        with contextlib.suppress(OSError, ValueError):
            self._errors.seek(0)
            lines = self._errors.read().decode(errors="replace").strip().splitlines()
            if lines:
                return lines[-1]
        code = self._process.poll()
        return "it was ended" if code is None or code < 0 else f"it ended with code {code}"


def _pipe(stream: Any) -> BinaryIO:
    assert stream is not None
    return stream


class Requests(pickle.Unpickler):
    """Reads requests, and makes nothing but data: no other module's functions are found."""

    packages = frozenset({"fuseloom", "fuseloom_workbench", "numpy", "scipy", "networkx"})
    builtins = frozenset({"set", "frozenset", "slice", "range", "complex", "bytearray"})

    def find_class(self, module: str, name: str) -> Any:
        if module.partition(".")[0] in self.packages or (
            module == "builtins" and name in self.builtins
        ):
            return super().find_class(module, name)
        if (module, name) == ("builtins", "getattr"):
            return _member  # how some versions of Python write the member of an enum
        raise pickle.UnpicklingError(f"a request holds a {module}.{name}")


def _member(kind: Any, name: str) -> Enum:
    """The member of an enum; nothing else has attributes here."""
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind[name]
    raise pickle.UnpicklingError(f"a request asks for {name} of something that is no enum")


def serve(target: str) -> None:
    """Answer requests until the pipe closes; runs inside the process."""
    # what libraries print must not land between the answers
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    module, _, function = target.partition(":")
    loaded = importlib.import_module(module)
    work = getattr(loaded, function)
    getattr(loaded, "prepare", lambda: None)()

    def send(answer: Any) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    while True:
        try:
            request = Requests(sys.stdin.buffer).load()
        except EOFError:
            return
        work(request, send)
