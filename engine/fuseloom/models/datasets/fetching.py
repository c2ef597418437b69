"""Files of the evaluation's graphs: downloaded within limits, and compared with what is known."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path, PurePosixPath
from typing import IO, TypeAlias
from urllib.request import urlopen

from fuseloom.atomic_files import replacing
from fuseloom.errors import DataError
from fuseloom.models.datasets.facts import GRAPHS
from fuseloom.models.datasets.locate import LAYOUTS
from fuseloom.models.datasets.sources import SOURCES, DatasetSource
from fuseloom.program.formats import suggestion
from fuseloom.wording import counted

Progress: TypeAlias = Callable[[str], None]
PATIENCE = 30.0
"""Seconds without an answer after which a server counts as out of reach."""
MOST_BYTES = 2 << 30
"""Bytes of a file that is downloaded."""
MOST_UNPACKED = 8 << 30
"""Bytes of what an archive holds."""
MOST_MEMBERS = 1_000
_BLOCK = 1 << 20


@dataclass(frozen=True)
class ComparedFact:
    """A number or checksum of a data set beside the known one.

    Attributes
    ----------
    what : str
    found, known : str
    """

    what: str
    found: str
    known: str

    @property
    def ok(self) -> bool:
        """True if they are equal."""
        return self.found == self.known


def source_of(name: str) -> DatasetSource:
    """Return where the files of a graph come from.

    Raises
    ------
    DataError
        If no graph with files has that name.
    """
    if name not in SOURCES:
        raise DataError(f"no data set with files is called {name!r}",
                        hint=suggestion(name, [*SOURCES]))  # fmt: skip
    return SOURCES[name]


def place_of(name: str, folder: str | Path) -> Path | None:
    """Return where a graph's files are in a folder; None if they are not there."""
    source_of(name)
    return LAYOUTS[name].find(Path(folder))


def compare_facts(name: str, folder: str | Path) -> Iterator[ComparedFact]:
    """Compare a graph's files with the checksums and statistics that are known.

    Raises
    ------
    DataError
        If the files are not there, with where to put them; or they are damaged.
    """
    source, place = source_of(name), place_of(name, folder)
    if place is None:
        raise DataError(f"{folder} has no files of {name}", hint=by_hand(source, folder))
    for path, known in source.sha256.items():
        file = next(
            (x for x in (Path(folder) / path, place / Path(path).name) if x.is_file()), None
        )
        found = "no such file" if file is None else _checksum(file)
        yield ComparedFact(f"SHA-256 of {Path(path).name}", found, known)
    facts, graph = GRAPHS[name], LAYOUTS[name].read(place)
    columns = 0 if graph.features is None else graph.features.shape[1]
    pairs = {
        "nodes": (graph.nodes, facts.nodes - facts.others),
        "edges": (graph.adjacency.nnz, facts.edges),
        "features": (columns, facts.features),
    }
    if graph.classes:
        pairs["classes"] = graph.classes, facts.classes
    for what, (got, wanted) in pairs.items():
        yield ComparedFact(what, f"{got:,}", f"{wanted:,}")


def by_hand(source: DatasetSource, folder: str | Path) -> str:
    """Return what to download and where to put it, in words."""
    (path, address), *others = source.files.items()
    target = Path(folder) / path
    where = f"save it as {target}"
    if source.archive:
        where = f"unpack it in {folder}"
    elif others:
        where = f"save them in {target.parent}"
    more = f" and {counted(len(others), 'more file')} from there" if others else ""
    return f"download {address}{more}, and {where}; described at {source.page}"


def fetch(
    name: str,
    folder: str | Path,
    *,
    progress: Progress = lambda _: None,
) -> list[Path]:
    """Download the files of a graph that are not there; each appears whole or not at all.

    Parameters
    ----------
    folder : path
        The folder of data; it is made if it is not there.
    progress : callable
        Told each file; what it raises ends the work.

    Returns
    -------
    list of path
        The files that were written.

    Raises
    ------
    DataError
        If a server cannot be reached, with what to put where by hand; or a file is too large, ends
        early, is no such archive, or has another checksum than the known one.
    """
    source, root = source_of(name), Path(folder)
    if source.archive and place_of(name, root) is not None:
        return []
    written = []
    for path, address in source.files.items():
        target = root / path
        known = source.sha256.get(path)
        if target.is_file() and (known is None or _checksum(target) == known):
            continue
        progress(f"{address} → {target}")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.archive:
                written += _unpacked(address, target.with_suffix(""), by_hand(source, root))
            else:
                _download(address, target, known, by_hand(source, root))
                written.append(target)
        except OSError as problem:
            raise DataError(
                f"{target} cannot be written: {problem.strerror or problem}",
                hint="name a folder that may be written to by --data-dir",
            ) from None
    return written


def _download(address: str, target: Path, known: str | None, hint: str) -> None:
    digest = hashlib.sha256()
    with replacing(target) as file:
        for block in _blocks(address, hint):
            digest.update(block)
            file.write(block)
        if known is not None and digest.hexdigest() != known:
            raise DataError(
                f"{address} has the SHA-256 {digest.hexdigest()}, and {known} was expected",
                hint="it is another version, or damaged on the way; nothing was kept",
            )


def _blocks(address: str, hint: str) -> Iterator[bytes]:
    """Yield the answer of an address in blocks."""
    size = 0
    try:
        with urlopen(address, timeout=PATIENCE) as answer:
            if not answer.url.startswith("https://"):
                raise DataError(f"{address} leads to {answer.url}, no https address", hint=hint)
            whole = answer.headers.get("Content-Length")
            while block := answer.read(_BLOCK):
                size += len(block)
                if size > MOST_BYTES:
                    raise DataError(
                        f"{address} has more than {counted(MOST_BYTES, 'byte')}", hint=hint
                    )
                yield block
    except (OSError, HTTPException) as problem:
        reason = getattr(problem, "reason", problem)
        raise DataError(f"{address} cannot be reached: {reason}", hint=hint) from None
    if whole is not None and size != int(whole):
        raise DataError(f"{address} ended after {counted(size, 'byte')} of {whole}", hint=hint)


def _unpacked(address: str, target: Path, hint: str) -> list[Path]:
    """Download an archive, and put what it holds in a folder."""
    with tempfile.TemporaryFile() as file:
        for block in _blocks(address, hint):
            file.write(block)
        file.seek(0)
        try:
            with zipfile.ZipFile(file) as archive:
                return _members(archive, address, target)
        except zipfile.BadZipFile:
            raise DataError(f"{address} is no ZIP archive", hint=hint) from None


def _members(archive: zipfile.ZipFile, address: str, target: Path) -> list[Path]:
    """Write the files of an archive; its own top folder becomes the target.

    They are written beside it first, so that the folder appears whole or not at all.
    """
    members = [one for one in archive.infolist() if not one.is_dir()]
    paths = [PurePosixPath(one.filename) for one in members]
    bad = next((x for x in paths if x.is_absolute() or ".." in x.parts or "\\" in str(x)), None)
    size = sum(one.file_size for one in members)
    if bad is not None or len(members) > MOST_MEMBERS or size > MOST_UNPACKED:
        what = f"{counted(len(members), 'file')}, {counted(size, 'byte')} unpacked"
        raise DataError(
            f"{address} holds {what if bad is None else bad}", hint="nothing of it was kept"
        )
    tops = {x.parts[0] for x in paths}
    cut = 1 if len(tops) == 1 and all(len(x.parts) > 1 for x in paths) else 0
    if target.is_dir() and any(target.iterdir()):
        raise DataError(
            f"{target} holds other files", hint="move them, or unpack the archive by hand"
        )
    written = []
    beside = Path(tempfile.mkdtemp(prefix=".fuseloom-", dir=target.parent))
    try:
        for one, path in zip(members, paths, strict=True):
            inside = PurePosixPath(*path.parts[cut:])
            new = beside / inside
            new.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(one) as packed, new.open("wb") as file:
                _copy(packed, file, one.file_size, address)
            written.append(target / inside)
        beside.replace(target)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise
    return written


def _copy(packed: IO[bytes], file: IO[bytes], size: int, address: str) -> None:
    """Copy a member, no more than it says that it has."""
    copied = 0
    while block := packed.read(_BLOCK):
        copied += len(block)
        if copied > size:
            raise DataError(f"{address} holds more than it says", hint="nothing of it was kept")
        file.write(block)


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
