"""The holder of a lease, and the check that it still exists."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from fuseloom.errors import RecordError
from fuseloom.exploration.store import lease
from fuseloom.exploration.store.lease import Holder, holder_of, started
from tests.waiting import until


def test_this_process_is_here() -> None:
    mine = Holder.here()
    assert mine.pid == os.getpid()
    assert not mine.gone
    assert Holder.from_text(mine.to_text()) == mine
    assert str(mine.pid) in str(mine)


def test_a_fork_is_another() -> None:
    child = os.fork()
    if not child:
        os._exit(0 if Holder.here().pid == os.getpid() else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_who_is_gone() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    since = started(process.pid)
    assert since
    other = replace(Holder.here(), pid=process.pid, started=since)
    assert not other.gone
    assert replace(other, started="1").gone  # the number has gone to a later process
    process.kill()
    until(lambda: other.gone, "the process is dead, though not collected yet")
    process.wait()
    assert other.gone
    assert started(process.pid) is None
    assert process.stdin is not None
    process.stdin.close()


def test_of_processes_elsewhere_nothing_is_known() -> None:
    dead = replace(Holder.here(), pid=2**22 + 1, started="1")
    assert dead.gone
    assert not replace(dead, host="elsewhere").gone
    assert not replace(dead, space="pid:[1]").gone
    assert replace(Holder.here(), boot="an earlier one").gone


def test_where_nothing_tells_start_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "PROC", lease.Path("/nowhere"))
    assert started(os.getpid())
    monkeypatch.setenv("PATH", "")
    assert started(os.getpid()) == ""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert started(process.pid) is None


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"host": 1}', "null", "\x00"])
def test_what_names_no_process(text: str) -> None:
    with pytest.raises(RecordError):
        Holder.from_text(text)
    assert holder_of(text) is None
    assert holder_of(None) is None
