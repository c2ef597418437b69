"""The holder of a run: a process, distinguished from later ones with its number.

A lease needs no heartbeat: it ends with its process, whenever that is noticed.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from fuseloom.errors import RecordError
from fuseloom.results.declarations import Count, Record, read
from fuseloom.results.document import from_text, to_text

PROC = Path("/proc")


@dataclass(frozen=True)
class Holder(Record):
    """A process.

    Attributes
    ----------
    host, boot, space : str
        Machine, which of its starts, and the name space of process numbers there; empty where
        the system has none to tell.
    pid : int
        Its number.
    started : str
        When it was started, as the system tells it.
    """

    host: str
    boot: str
    space: str
    pid: Count
    started: str

    @classmethod
    def here(cls) -> Holder:
        """This process."""
        return _of(os.getpid())

    @property
    def gone(self) -> bool:
        """True if it has certainly ended; of processes elsewhere nothing is certain."""
        mine = Holder.here()
        if self.host != mine.host:
            return False
        if self.boot != mine.boot:
            return True  # the machine was started anew since
        if self.space != mine.space:
            return False
        return started(self.pid) != self.started

    def to_text(self) -> str:
        """JSON that :meth:`from_text` reads back."""
        return to_text(self.to_dict())

    @classmethod
    def from_text(cls, text: str) -> Holder:
        """Read what :meth:`to_text` wrote, or raise :class:`RecordError`."""
        return read(cls, from_text(text), "lease")

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


def holder_of(text: str | None) -> Holder | None:
    """The holder that is written there; None where none is, or none that can be read."""
    if text is None:
        return None
    with contextlib.suppress(RecordError):
        return Holder.from_text(text)
    return None


def started(pid: int) -> str | None:
    """When a process was started, as the system tells it; None if it has ended."""
    if (PROC / "self" / "stat").exists():
        try:
            told = (PROC / str(pid) / "stat").read_text(encoding="ascii", errors="replace")
        except OSError:
            return None
        # the name may hold blanks and brackets; state is field 3, start time field 22
        fields = told.rpartition(")")[2].split()
        return None if fields[0] in ("Z", "X") else fields[19]
    try:
        done = subprocess.run(
            ["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
        )
    except OSError:
        return _only_whether(pid)
    return done.stdout.strip() or None


def _only_whether(pid: int) -> str | None:
    """Empty text for a process that runs, where nothing tells since when."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except OSError:
        return ""
    return ""


@lru_cache(maxsize=1)
def _of(pid: int) -> Holder:
    """This process, whose number it is (a fork has another)."""
    boot = space = ""
    with contextlib.suppress(OSError):
        boot = (PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        space = os.readlink(PROC / "self/ns/pid")
    return Holder(socket.gethostname(), boot, space, pid, started(pid) or "")
