"""A model in one file: its program and data, schedules, and where its kernels come from.

The file, ``model.fuseloom``, is a zip archive of ``model.json`` (:class:`ArchiveHead`),
``program.loom`` (the program's text) and ``data.npz`` (the inputs as they are stored, level by
level).  Nothing in it is pickled, and its sizes are checked before anything is unpacked.
"""

from __future__ import annotations

import atexit
import json
import subprocess
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import IO, Literal
from zlib import error as zlib_error

from fuseloom import interpreter
from fuseloom.arguments import check_arguments
from fuseloom.atomic_files import replacing
from fuseloom.errors import DataError, RecordError
from fuseloom.program import Program, StoredTensor, parse, regular_files
from fuseloom.program.limits import FREE_ARRAYS, MAX_RATIO, MAX_STORED_BYTES, MAX_TEXT_CHARS
from fuseloom.program.printer import print_program
from fuseloom.program.tensor_files import read_tensors, write_tensors
from fuseloom.results.declarations import Record, read
from fuseloom.wording import counted, described

SUFFIX = ".fuseloom"
VERSION: Literal[1] = 1
MOST_TEXT = 4 * MAX_TEXT_CHARS
"""Bytes of a text in an archive."""
_HEAD, _PROGRAM, _DATA = "model.json", "program.loom", "data.npz"


@dataclass(frozen=True)
class ArchivedKernel(Record):
    """Statements that belong together.

    Attributes
    ----------
    name : str
        The operation or module that they are of.
    statements : tuple of str
        What they assign, in program order.
    place : str
        File and line of the model's source; empty where it is not known.
    """

    name: str
    statements: tuple[str, ...]
    place: str = ""


@dataclass(frozen=True)
class ArchiveHead(Record):
    """All of an archive but its program and data.

    Attributes
    ----------
    version : int
        Of the format.
    kernels : tuple of ArchivedKernel
        In program order.
    presets : mapping of str to str
        Schedules by name, from least to most fused.
    notes : tuple of str
        What an import did; a sentence each.
    """

    version: Literal[1]
    kernels: tuple[ArchivedKernel, ...]
    presets: dict[str, str]
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class ModelArchive:
    """A program with its data, schedules and kernels.

    Attributes
    ----------
    data : mapping of str to StoredTensor
        Every input of the program.
    """

    program: Program
    data: Mapping[str, StoredTensor] = field(repr=False)
    presets: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    kernels: tuple[ArchivedKernel, ...] = ()
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return described(
            self,
            f"{self.program.name}: {counted(len(self.program.statements), 'statement')}, "
            f"{counted(len(self.data), 'tensor')}, presets {', '.join(self.presets) or 'none'}",
        )

    def save(self, path: str | Path) -> None:
        """Write the archive, whole or not at all.

        Raises
        ------
        DataError
            If it cannot be written, or the program is longer than is read back.
        """
        text = print_program(self.program)
        if len(text) > MAX_TEXT_CHARS:
            raise DataError(
                f"the program has {counted(len(text), 'character')}, an archive holds "
                f"{MAX_TEXT_CHARS:,}",
                hint="save parts of the model",
            )
        head = ArchiveHead(VERSION, self.kernels, dict(self.presets), self.notes)
        try:
            with (
                tempfile.TemporaryDirectory() as folder,
                replacing(Path(path)) as file,
                zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
            ):
                data = Path(folder) / _DATA
                write_tensors(data, self.data)
                archive.writestr(_HEAD, json.dumps(head.to_dict(), indent=1, ensure_ascii=False))
                archive.writestr(_PROGRAM, text)
                archive.write(data, _DATA)
        except OSError as problem:
            raise DataError(f"cannot write {path}: {problem.strerror}") from None

    def open(self, port: int = 5006, browser: bool = True) -> subprocess.Popen[bytes]:
        """Open the model in the workbench: of the server at that port, or of a new one.

        Parameters
        ----------
        port : int
            Of this machine.
        browser : bool
            Whether a browser is opened, too.

        Returns
        -------
        subprocess.Popen
            The process of ``fuseloom serve``, which ends with this one, or by ``terminate()``;
            where there was a server it has ended soon.  ``wait()`` keeps a script from ending.

        Raises
        ------
        DataError
            If the model cannot be saved.
        """
        folder = tempfile.TemporaryDirectory()
        path = Path(folder.name) / f"{self.program.name}{SUFFIX}"
        self.save(path)
        options = ["--port", str(port), *([] if browser else ["--no-browser"])]
        command = interpreter.command("-m", "fuseloom", "serve", str(path), *options)
        server = subprocess.Popen(command, env=interpreter.environment())

        def end() -> None:
            server.terminate()
            server.wait()
            folder.cleanup()

        atexit.register(end)
        return server


@check_arguments
def read_model(path: str | Path) -> ModelArchive:
    """Read a model that :meth:`ModelArchive.save` wrote.

    Raises
    ------
    DataError
        If the file is no such archive, or unpacks to more than the limit.
    RecordError
        If its description is damaged, or of another version.
    ProgramError
        If its program is none.

    Examples
    --------
    >>> import tempfile, fuseloom as fl
    >>> model, data = fl.load("spmv")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ModelArchive(model.program, data).save(Path(folder) / "spmv.fuseloom")
    ...     again = read_model(Path(folder) / "spmv.fuseloom")
    >>> again.program == model.program
    True
    """
    try:
        with (
            regular_files.opened(path) as file,
            zipfile.ZipFile(file) as archive,
            tempfile.TemporaryDirectory() as folder,
        ):
            _check(archive, path)
            head = _head(_text(archive, _HEAD, path), path)
            program = parse(_text(archive, _PROGRAM, path), source=f"{path}: {_PROGRAM}")
            _check_kernels(head.kernels, program, path)
            data = Path(folder) / _DATA
            with archive.open(_DATA) as packed, data.open("wb") as unpacked:
                _copy(packed, unpacked, archive.getinfo(_DATA).file_size)
            tensors = read_tensors(data, program)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, zlib_error,
            ValueError) as problem:  # fmt: skip
        raise DataError(
            f"cannot read the model {path}: {problem}",
            hint="an archive of one is written by imported.save(file)",
        ) from None
    presets = MappingProxyType(dict(head.presets))
    return ModelArchive(program, MappingProxyType(tensors), presets, head.kernels, head.notes)


def _check(archive: zipfile.ZipFile, path: str | Path) -> None:
    """That the archive holds what it must, and no more than the limit."""
    names = [entry.filename for entry in archive.infolist()]
    if sorted(names) != sorted((_HEAD, _PROGRAM, _DATA)):
        raise DataError(
            f"{path} is no model: it holds {', '.join(names[:4]) or 'nothing'}",
            hint=f"an archive of a model holds {_HEAD}, {_PROGRAM} and {_DATA}",
        )
    for entry in archive.infolist():
        text = entry.filename != _DATA
        packed = max(FREE_ARRAYS, MAX_RATIO * entry.compress_size)
        most = MOST_TEXT if text else min(MAX_STORED_BYTES, packed)
        if entry.file_size > most:
            raise DataError(
                f"{path}: {entry.filename} unpacks to {counted(entry.file_size, 'byte')}, the "
                f"limit is {most:,} bytes",
                hint="save a smaller model",
            )


def _text(archive: zipfile.ZipFile, name: str, path: str | Path) -> str:
    with archive.open(name) as file:
        content = file.read(MOST_TEXT + 1)
    if len(content) > MOST_TEXT:
        raise DataError(f"{path}: {name} is longer than its archive says")
    return content.decode("utf-8")


def _head(text: str, path: str | Path) -> ArchiveHead:
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        raise RecordError(f"{path}: {_HEAD} is no JSON") from None
    version = given.get("version") if isinstance(given, dict) else None
    if isinstance(version, int) and version > VERSION:
        raise RecordError(
            f"{path} has version {version} of the format, this Fuseloom reads {VERSION}",
            hint="install a newer Fuseloom",
        )
    return read(ArchiveHead, given, f"{path}: {_HEAD}")


def _check_kernels(kernels: Iterable[ArchivedKernel], program: Program, path: str | Path) -> None:
    """That no kernel has a statement that the program lacks, or that another one has."""
    left = {s.out.tensor for s in program.statements}
    for kernel in kernels:
        for name in kernel.statements:
            if name not in left:
                raise RecordError(
                    f"{path}: kernel {kernel.name[:60]} has a statement {name[:60]}, which the "
                    "program has not, or another kernel has"
                )
            left.remove(name)


def _copy(packed: IO[bytes], unpacked: IO[bytes], size: int) -> None:
    """Copy so many bytes, and no more whatever comes."""
    while size > 0 and (part := packed.read(min(size, 1 << 20))):
        unpacked.write(part)
        size -= len(part)
