"""Compiled kernels as one file, for clusters and images of machines that are alike.

The file is a zip archive of the cache's files and a description of what they depend on.  Machine
code can do anything once it runs, so an archive is read only if it is the very one that the user
means, by its SHA-256.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from fuseloom.atomic_files import replacing
from fuseloom.dataflow.sim.compiled.cache import UnkeptError, conditions, directory
from fuseloom.dataflow.sim.compiled.code_files import LARGEST, SUFFIX, CodeFile, own_folder
from fuseloom.dataflow.sim.compiled.kernels import KERNELS
from fuseloom.errors import DataError

VERSION = 1
MAX_BYTES = 2**30
"""Bytes of an archive, at most, packed or unpacked."""
UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, UnicodeDecodeError),
    *(NotImplementedError, RuntimeError),
)
"""The errors of zipfile: of files that are no archive, damaged, or cut off, with names that are no
text, compressed by a method that it does not know, and encrypted."""
_DESCRIPTION = "kernels.json"
_LARGEST_DESCRIPTION = 2**16
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class ImportedKernels:
    """The kernels of an archive.

    Attributes
    ----------
    installed : tuple of str
        Names of those that are in the cache now.
    outdated : tuple of str
        Names of files of other sources, which are left out.
    """

    installed: tuple[str, ...]
    outdated: tuple[str, ...]


def export_kernels(path: Path) -> str:
    """Write the compiled kernels of this version to an archive; its SHA-256.

    Raises
    ------
    UnkeptError
        If none is compiled.
    DataError
        If the archive cannot be written.
    """
    files = [CodeFile(directory(), kernel.file_name) for kernel in KERNELS.values()]
    bodies = {file.path.name: file.path.read_bytes() for file in files if file.sound}
    if not bodies:
        raise UnkeptError("no kernel is compiled yet", hint="fuseloom warmup compiles them all")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        head = {"version": VERSION, "made_with": conditions()}
        archive.writestr(_DESCRIPTION, json.dumps(head, indent=1))
        for name, body in bodies.items():
            archive.writestr(name, body)
    try:
        with replacing(path) as file:
            file.write(packed.getvalue())
    except OSError as problem:
        raise DataError(f"cannot write {path}: {problem.strerror}") from None
    return hashlib.sha256(packed.getvalue()).hexdigest()


def import_kernels(path: Path, sha256: str) -> ImportedKernels:
    """Put the kernels of an archive into the cache; those that are there are replaced.

    Parameters
    ----------
    sha256 : str
        64 hexadecimal digits, which :func:`export_kernels` gave.

    Raises
    ------
    DataError
        If the file is not the one with that digest, no archive of kernels, or made with other
        versions or for another processor.
    UnkeptError
        If the cache cannot be written to.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(_meant(path, sha256))) as archive:
            _check_description(archive, path)
            bodies = _bodies(archive, path)
    except UNREADABLE as problem:
        raise DataError(f"{path} is no archive of kernels ({problem})") from None
    expected = {f"{kernel.file_name}{SUFFIX}": name for name, kernel in KERNELS.items()}
    installed = []
    try:
        folder = own_folder(directory())
        for name, body in bodies.items():
            if name in expected:
                CodeFile(folder, name.removesuffix(SUFFIX)).take(body)
                installed.append(expected[name])
    except OSError as problem:
        raise UnkeptError(f"the kernels cannot be kept: {problem.strerror}") from None
    outdated = sorted(name.partition("-")[0] for name in bodies.keys() - expected.keys())
    return ImportedKernels(tuple(sorted(installed)), tuple(outdated))


def _meant(path: Path, sha256: str) -> bytes:
    """Return the contents of a file if they have this digest."""
    if not _DIGEST.fullmatch(sha256.lower()):
        raise DataError(
            f"{sha256!r} is no SHA-256 of 64 hexadecimal digits",
            hint="--export prints the one of its archive",
        )
    try:
        with path.open("rb") as file:
            contents = file.read(MAX_BYTES + 1)
    except OSError as problem:
        raise DataError(f"cannot read {path}: {problem.strerror}") from None
    if len(contents) > MAX_BYTES:
        raise DataError(f"{path} has more than the {MAX_BYTES:,} bytes of the largest archive")
    found = hashlib.sha256(contents).hexdigest()
    if found != sha256.lower():
        raise DataError(
            f"{path} is not the archive that is meant: its SHA-256 is {found}",
            hint="machine code can do anything: import only an archive whose digest you know",
        )
    return contents


def _check_description(archive: zipfile.ZipFile, path: Path) -> None:
    try:
        entry = archive.getinfo(_DESCRIPTION)
        if entry.file_size > _LARGEST_DESCRIPTION:
            raise ValueError("its description is too long")
        head = json.loads(archive.read(entry))
        version, made_with = head["version"], dict(head["made_with"])
    except (KeyError, ValueError, TypeError) as problem:
        raise DataError(f"{path} is no archive of kernels ({problem})") from None
    if version != VERSION:
        raise DataError(f"{path} is an archive of version {version}, this is version {VERSION}")
    differing = [name for name, value in conditions().items() if made_with.get(name) != value]
    if differing:
        raise DataError(
            f"the kernels of {path} were compiled with another {', '.join(differing)}",
            hint="export them on a machine like this one, or let fuseloom warmup compile them",
        )


def _bodies(archive: zipfile.ZipFile, path: Path) -> dict[str, bytes]:
    """Return the files of kernels in an archive, by name."""
    entries = [entry for entry in archive.infolist() if entry.filename != _DESCRIPTION]
    if len(entries) > len(KERNELS):
        raise DataError(f"{path} has more files than there are kernels")
    for entry in entries:
        if entry.file_size > LARGEST or "/" in entry.filename or "\\" in entry.filename:
            raise DataError(f"{path} holds {entry.filename!r}, which is no kernel")
    if sum(entry.file_size for entry in entries) > MAX_BYTES:
        raise DataError(f"{path} unpacks to more than {MAX_BYTES:,} bytes")
    return {entry.filename: archive.read(entry) for entry in entries}
