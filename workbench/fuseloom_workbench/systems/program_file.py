"""Files with programs that the page of all systems opens: by the explorer's rules for files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuseloom.errors import DataError, FuseloomError, ProgramError
from fuseloom_workbench.input import arriving
from fuseloom_workbench.input.graphs import read_text
from fuseloom_workbench.input.kinds import TEXT_BYTES, FileKind
from fuseloom_workbench.systems.asked import LONGEST

LONGEST_MESSAGE = 500
TAKES = "program text (.loom)"
"""The kinds of files that the page opens, in words."""


@dataclass
class ProgramFile:
    """The file that comes from a page, and the text of the one that came last.

    Attributes
    ----------
    number : int
        Counts the files that were opened.
    text : str
        The program of the last one.

    Examples
    --------
    >>> from base64 import b64encode
    >>> file, text = ProgramFile(), b"A: 4 dense\\nB[i] = relu(A[i])"
    >>> file.begin(1, "relu.loom", len(text))
    >>> file.part(1, 0, b64encode(text).decode())
    >>> file.number, file.text == text.decode(), file.received["kind"]
    (1, True, 'program text')
    """

    number: int = 0
    text: str = field(default="", repr=False)
    most_file: int = TEXT_BYTES
    arriving: arriving.Arriving | None = None
    received: dict[str, Any] = field(default_factory=dict)
    message: str = ""
    place: tuple[int, int] = (0, 0)

    def begin(self, number: int, name: str, size: int) -> None:
        """A page wants to send a file."""
        arriving.begin(self, number, name, size)

    def part(self, number: int, at: int, text: str) -> None:
        """Some bytes of it, in base64; with the last ones it is opened."""
        arriving.part(self, number, at, text, _take)

    def cancel(self) -> None:
        """The page does not want it any more, or is gone."""
        arriving.cancel(self)

    def refuse(self, reason: FuseloomError, topic: str) -> bool:
        """Keep the reason."""
        self.message = str(reason)[:LONGEST_MESSAGE]
        return False

    def view(self) -> dict[str, Any]:
        """The file as the page shows it."""
        return {
            "received": self.received,
            "most": self.most_file,
            "takes": TAKES,
            "inputs": [],
            "bound": [],
        }


def _take(file: ProgramFile, path: Path, kind: FileKind, name: str) -> dict[str, Any]:
    if kind is not FileKind.PROGRAM:
        raise DataError(
            f"{kind.value}, and this page opens program text",
            hint="the explorer opens data and graphs, and fuseloom compare FILE MLIR",
        )
    text = read_text(path)
    if len(text) > LONGEST:
        raise ProgramError(
            f"the program has {len(text):,} characters, and a page takes {LONGEST:,}",
            hint="fuseloom compare FILE takes more",
        )
    file.number, file.text = file.number + 1, text
    return {"message": "its text is the program now, on random data"}
