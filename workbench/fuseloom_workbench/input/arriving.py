"""A file on its way from a page: its bytes are kept on the disk, and read when all are there."""

from __future__ import annotations

import base64
import binascii
import contextlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from fuseloom.errors import DataError, FuseloomError
from fuseloom_workbench.input import taking
from fuseloom_workbench.input.kinds import HEAD, KNOWN, TEXT_BYTES, FileKind, ending, kind_of
from fuseloom_workbench.state import files

MIB = 1 << 20
LONGEST_NAME = 120
PART = 3 * MIB
"""Characters of one part."""
Take = Callable[[Any, Path, FileKind, str], dict[str, Any]]
"""Takes over a whole file of a receiver, by its kind and name; gives what there is to say of it."""


class Receiver(Protocol):
    """A receiver of files: a session, or a page that opens programs alone.

    Attributes
    ----------
    most_file : int
        Bytes of a file.
    arriving : Arriving, optional
        The file on its way.
    received : dict
        The file that came last, for the page.
    message : str
        Why something was refused.
    place : (int, int)
        Line and column of that in a text.
    """

    most_file: Any
    arriving: Any
    received: Any
    message: Any
    place: Any

    def refuse(self, reason: FuseloomError, topic: str) -> bool:
        """Answer with a reason; nothing changes."""


@dataclass
class Arriving:
    """A file on its way.

    Attributes
    ----------
    number : int
        Counts the files of a page.
    name : str
        For people only: no file is opened by it.
    size : int
        Bytes that were announced.
    """

    number: int
    name: str
    size: int
    path: Path
    got: int = 0
    head: bytes = field(default=b"", repr=False)

    def told(self, **more: Any) -> dict[str, Any]:
        """Plain data for the page."""
        about = {"number": self.number, "name": self.name, "size": self.size, "got": self.got}
        return {**about, "state": "coming", "message": "", **more}

    def drop(self) -> None:
        """Remove what has come."""
        with contextlib.suppress(OSError):
            self.path.unlink()


def shown_name(name: str) -> str:
    """The last part of a file's name, printable and short."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    clean = "".join(c if c.isprintable() else "�" for c in last).strip() or "file"
    return clean if len(clean) <= LONGEST_NAME else f"{clean[:60]}…{clean[-40:]}"


def begin(receiver: Receiver, number: int, name: str, size: int) -> None:
    """A page wants to send a file; refused before anything is allocated."""
    name = shown_name(name)
    _forget(receiver)
    try:
        if size < 1:
            raise DataError("an empty file", hint=f"known: {KNOWN}")
        if size > receiver.most_file:
            raise DataError(
                f"{size / MIB:,.1f} MiB",
                hint=f"at most {receiver.most_file / MIB:,.0f} MiB here; the command line takes "
                "larger files",
            )
        folder = files.folder()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(prefix="coming-", dir=folder, delete=False) as made:
                path = Path(made.name)
        except OSError as problem:
            raise DataError(f"there is no room for it: {problem.strerror}") from None
    except FuseloomError as reason:
        _refuse(receiver, Arriving(number, name, size, Path()), reason)
        return
    receiver.arriving = Arriving(number, name, size, path)
    receiver.received = receiver.arriving.told()


def part(receiver: Receiver, number: int, at: int, text: str, take: Take = taking.take) -> None:
    """Some bytes of it, in base64; with the last ones the file is taken over."""
    file = receiver.arriving
    if not isinstance(file, Arriving) or file.number != number:
        gone = Arriving(number, "file", 0, Path())
        _refuse(receiver, gone, DataError("a part of no file", hint="upload it again"))
        return
    try:
        content = base64.b64decode(text, validate=True)
        if at != file.got or not content or file.got + len(content) > file.size:
            raise DataError("its parts do not make the file announced", hint="upload it again")
        _write(file, content)
        if file.got == file.size:
            _take(receiver, file, take)
        else:
            receiver.received = file.told()
    except (binascii.Error, ValueError):
        _refuse(receiver, file, DataError("a part that is no base64", hint="upload it again"))
    except FuseloomError as reason:
        _refuse(receiver, file, reason)
    except MemoryError:
        reason = DataError("it needs more memory than a session may use here",
                           hint="a smaller file, or the command line")  # fmt: skip
        _refuse(receiver, file, reason)
    except Exception:  # a fault of ours: nothing is left of the file
        _forget(receiver)
        receiver.received = {}
        raise


def cancel(receiver: Receiver) -> None:
    """The page does not want it any more."""
    _forget(receiver)
    receiver.received = {}


def _write(file: Arriving, content: bytes) -> None:
    if file.got < HEAD:
        file.head = (file.head + content)[:HEAD]
        if len(file.head) == HEAD or file.got + len(content) == file.size:
            kind = kind_of(file.name, file.head)
            if kind.is_text and file.size > TEXT_BYTES:
                raise DataError(
                    f"{file.size / MIB:,.1f} MiB of {kind.value}", hint="texts have at most 1 MiB"
                )
    try:
        with file.path.open("ab") as held:
            held.write(content)
    except OSError as problem:
        raise DataError(f"it cannot be kept: {problem.strerror}") from None
    file.got += len(content)


def _take(receiver: Receiver, file: Arriving, take: Take) -> None:
    kind = kind_of(file.name, file.head)
    path = file.path.with_name(file.path.name + ending(kind, file.head))
    file.path.rename(path)
    file.path = path
    try:
        result = take(receiver, path, kind, file.name)
    except RecursionError:
        raise DataError("it is nested too deeply", hint="write it in parts") from None
    finally:
        receiver.arriving = None
        file.drop()
    receiver.received = file.told(**{"state": "done", "kind": kind.value, **result})


def _refuse(receiver: Receiver, file: Arriving, reason: FuseloomError) -> None:
    """Answer with a reason that names the file as the visitor does."""
    text = str(reason)
    if file.path.name:
        for known in (str(file.path), str(file.path.parent / file.path.stem)):
            text = text.replace(known, file.name)
    told = text if text.startswith(file.name) else f"{file.name}: {text}"
    shown = "".join(c if c.isprintable() else "�" for c in told.replace("\n", " "))
    _forget(receiver)
    receiver.refuse(FuseloomError(shown), "input")
    receiver.place = (reason.line or 0, (reason.column or 1) if reason.line else 0)
    receiver.received = file.told(state="refused", message=receiver.message)


def _forget(receiver: Receiver) -> None:
    file, receiver.arriving = receiver.arriving, None
    if isinstance(file, Arriving):
        file.drop()
