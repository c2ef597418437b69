"""Files with programs on the page of all systems: what is no such file changes nothing."""

from __future__ import annotations

from base64 import b64encode

import pytest

from fuseloom_workbench.state import files
from fuseloom_workbench.systems.asked import LONGEST, SystemsQuestion
from fuseloom_workbench.systems.backend import SystemsBackend
from fuseloom_workbench.systems.panels import ProgramFilePanel
from fuseloom_workbench.systems.program_file import ProgramFile

PROGRAM = b"A: 6x4 csr\nx: 4 dense\ny[i] = A[i,j] * x[j]\n"
MARKET = b"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(files.VARIABLE, str(tmp_path / "uploads"))
    return tmp_path


def send(file: ProgramFile, name: str, content: bytes, parts: int = 1) -> dict:
    """Send a file in so many parts; what is said of it."""
    file.begin(1, name, len(content))
    each = -(-len(content) // parts)
    for at in range(0, len(content), each):
        file.part(1, at, b64encode(content[at : at + each]).decode())
    return file.received


@pytest.mark.parametrize("parts", [1, 3])
def test_a_program_is_opened(folder, parts):
    file = ProgramFile()
    assert send(file, "mine.loom", PROGRAM, parts)["state"] == "done"
    assert (file.number, file.text) == (1, PROGRAM.decode())
    assert send(file, "mine.txt", b"\xef\xbb\xbf" + PROGRAM)["kind"] == "program text"
    assert (file.number, file.text) == (2, PROGRAM.decode())
    assert not list((folder / "uploads").glob("*")), "nothing is left on the disk"


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.mtx", MARKET, "the explorer"),
        ("a.mlir", b"module {}", "fuseloom compare FILE MLIR"),
        ("a.npz", b"PK\x03\x04" + bytes(50), "opens program text"),
        ("a.pkl", b"\x80\x04.", "a pickle, which is never read"),
        ("a.loom", b"A: 4 dense \xff\xfe", "no UTF-8 text"),
        ("a.loom", b"#" * (LONGEST + 1), "20,001 characters"),
        ("a.loom", b"#" * (1 << 20) + b"#", "at most 1 MiB"),
        ("a.loom", b"", "an empty file"),
    ],
)
def test_what_is_no_program_is_refused(folder, name, content, says):
    file = ProgramFile()
    send(file, "first.loom", PROGRAM)
    file.begin(2, name, len(content))
    if file.received["state"] == "coming":
        file.part(2, 0, b64encode(content).decode())
    assert file.received["state"] == "refused"
    assert says in file.received["message"]
    assert file.received["message"].startswith(f"{name}: ")
    assert str(folder) not in file.received["message"]
    assert (file.number, file.text) == (1, PROGRAM.decode())
    assert not list((folder / "uploads").glob("*"))


def test_one_that_is_given_up_leaves_nothing(folder):
    backend = SystemsBackend(SystemsQuestion("mttkrp"))
    panel = ProgramFilePanel(backend)
    panel.handle({"kind": "begin", "number": 4, "name": "mine.loom", "size": 100})
    panel.handle({"kind": "part", "number": 4, "at": 0, "data": "QQ=="})
    assert panel.view["received"]["got"] == 1
    panel.handle({"kind": "cancel"})
    assert panel.view["received"] == {}
    panel.handle({"kind": "begin", "number": 5, "name": "mine.loom", "size": len(PROGRAM)})
    data = b64encode(PROGRAM).decode()
    for odd in ({"number": "x"}, {"at": -1}, {"data": 7}):
        panel.handle({"kind": "part", "number": 5, "at": 0, "data": data, **odd})
    assert panel.view["received"]["got"] == 0
    panel.handle({"kind": "part", "number": 5, "at": 0, "data": data})
    assert backend.part("systems_form")["opened"] == {"number": 1, "text": PROGRAM.decode()}
    panel.handle({"kind": "begin", "number": 6, "name": "mine.loom", "size": 100})
    backend.wait()
    backend.close()
    assert not list((folder / "uploads").glob("*"))
