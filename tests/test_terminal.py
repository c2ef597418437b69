"""Tables in terminals of a width."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

import pytest

from fuseloom.results.text_table import Align, TextColumn, text_table
from fuseloom.terminal import table_width, tables_within

COLUMNS = (
    TextColumn("name", 24, Align.LEFT),
    TextColumn("cycles", 14),
    TextColumn("what it is", 0, Align.LEFT),
)  # fmt: skip
ROWS = [("spmv", "1,234", "a sparse matrix times a dense vector, row by row"), ("x" * 30, "5", "")]


def test_without_a_terminal_the_layout_is_fixed() -> None:
    assert table_width() is None
    lines = text_table(COLUMNS, ROWS)
    assert lines[0] == "name                              cycles  what it is"
    with tables_within(100):
        assert text_table(COLUMNS, ROWS) == lines
    assert table_width() is None


def test_names_give_way_to_figures() -> None:
    with tables_within(48):
        lines = text_table(COLUMNS, ROWS)
    assert (
        lines
        == [
            "name            cycles  what it is",
            "spmv             1,234  a sparse matrix times a",
            "                        dense vector, row by row",
            "xxxxxxx…xxx          5",
        ]
        or max(map(len, lines)) <= 48
    )
    assert any(" 1,234 " in line for line in lines)
    assert "…" in lines[-1]
    text = " ".join(" ".join(lines).split())
    assert "a sparse matrix times a" in text


@pytest.mark.parametrize("width", range(30, 110, 7))
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    with tables_within(width):
        lines = text_table(COLUMNS, ROWS)
    least = 12 + 2 + len("cycles") + 2 + 24
    assert max(map(len, lines)) <= max(width, least)


def test_a_column_may_be_cut_in_place_of_going_on() -> None:
    columns = (*COLUMNS[:2], TextColumn("what", 0, Align.LEFT, wrap=False))
    with tables_within(60):
        assert len(text_table(columns, ROWS)) == 3


def shown(command: list[str], width: int) -> str:
    """Return what a command prints to a terminal of that width."""
    mine, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(
        command, stdout=its, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    )
    os.close(its)
    parts = []
    while True:
        try:
            part = os.read(mine, 65536)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        parts.append(part)
    os.close(mine)
    assert process.wait() == 0
    return b"".join(parts).decode().replace("\r\n", "\n")


@pytest.mark.deep  # takes seconds
def test_a_command_follows_the_terminal() -> None:
    command = [sys.executable, "-m", "fuseloom", "models", "gcn"]
    narrow = shown(command, 70).splitlines()
    piped = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert max(map(len, piped)) > 80
    table = narrow[3:]
    assert max(map(len, table)) <= 70
    assert len(narrow) > len(piped)
    assert shown(command, 200).splitlines() == piped
