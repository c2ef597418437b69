"""Files from a page: what harm they mean, the answer names file and rule, and nothing changes."""

from __future__ import annotations

import bz2
import tracemalloc

import numpy as np
import pytest

from fuseloom_workbench.state import commands, files
from fuseloom_workbench.state.session import Session
from tests.workbench.input.files import array, hostile, market, send

HOSTILE = hostile()


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    made = Session("gcn", "karate")
    made.param.update(most_file=48 << 20)
    return made


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(files.VARIABLE, str(tmp_path / "uploads"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("what", HOSTILE)
def test_what_means_harm_is_refused_in_a_sentence(session, folder, what):
    name, content, word = HOSTILE[what]
    before = session.built
    tracemalloc.start()
    told = send(session, name, content)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert told["state"] == "refused", told
    assert word in told["message"]
    assert told["message"] == session.message
    assert (session.ok, session.topic) == (False, "input")
    assert session.message.isprintable()
    assert len(session.message) <= 500
    assert str(folder) not in session.message, "no path of this machine"
    assert "the engine failed" not in session.message
    assert session.built is before
    assert peak < (96 << 20) + 8 * len(content)
    assert not (folder / "canary").exists()
    held = list((folder / "uploads").glob("*")) if (folder / "uploads").exists() else []
    assert not held, "nothing is left on the disk"


def test_sizes_and_parts_must_be_those_announced(session):
    told = send(session, "a.mtx", b"", size=session.most_file + 1)
    assert "at most 48 MiB" in told["message"]
    assert "in parts" not in told["message"]
    told = send(session, "a.mtx", b"abcdef", size=3)
    assert "do not make the file" in told["message"]
    commands.carry_out(session, "upload_begin", [2, "a.mtx", 100])
    commands.carry_out(session, "upload_part", [2, 50, "AAAA"])
    assert session.received["state"] == "refused"
    commands.carry_out(session, "upload_part", [2, 0, "AAAA"])
    assert "part of no file" in session.message
    commands.carry_out(session, "upload_begin", [3, "a.mtx", 100])
    commands.carry_out(session, "upload_part", [3, 0, "no base64 ?"])
    assert "base64" in session.message
    commands.carry_out(session, "upload_begin", [4, "a.mtx", 100])
    commands.carry_out(session, "upload_cancel", [])
    assert session.received == {}
    assert session.arriving is None
    before = session.answers
    for odd in ([1, 0, 7], [1, -1, "AAAA"], [1, 0, "A" * (4 << 20)]):
        commands.carry_out(session, "upload_part", odd)
    assert session.answers == before, "what is no request is not answered"


def test_after_all_that_a_file_is_still_taken(session):
    matrix = np.zeros((16, 4), np.float32)
    matrix[5, 3] = 2
    assert send(session, "mine.mtx", market(matrix))["state"] == "done"
    assert session.ok
    np.testing.assert_array_equal(session.built.data["W2"].to_dense(), matrix)
    assert send(session, "mine.npy", array(matrix * 3))["state"] == "done"
    assert session.built.data["W2"].to_dense()[5, 3] == 6


def test_what_became_of_a_file_is_said(session):
    edges = "% bip weighted\n" + "".join(f"{k % 16 + 1} {k % 4 + 1} 2\n" for k in range(17))
    told = send(session, "out.mine", edges.encode())
    assert told["state"] == "done", told
    assert "bipartite: 16 rows, 4 columns; 1 edge repeats" in told["message"]
    assert session.built.data["W2"].to_dense()[0, 0] == 2
    told = send(session, "mine.mtx.bz2", bz2.compress(market(np.full((16, 4), 0.1))))
    assert "64 of 64 values are rounded to float32" in told["message"]
