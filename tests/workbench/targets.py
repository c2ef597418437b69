"""The targets of tests' child processes: answer, sleep, fail, end."""

from __future__ import annotations

import os
import time

from fuseloom.errors import SimulationError


def echo(request, send):
    print("noise on the standard output")
    send(("heard", request))


def sleep(request, send):
    send(("progress", 0.5, "half way"))
    time.sleep(60)


def die(request, send):
    raise MemoryError("no space left")


def vanish(request, send):
    os._exit(3)


def refuse(request, send):
    send(("refused", str(SimulationError("tokens ran out", hint="run less"))))
