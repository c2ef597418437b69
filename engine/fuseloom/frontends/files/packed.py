"""Files as they are published: plain, packed by gzip, bzip2 or zstd, or in a tar archive.

What a file is shows in its first bytes, whatever its name says.
"""

from __future__ import annotations

import bz2
import gzip
import importlib
import lzma
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any, cast

from fuseloom.errors import DataError
from fuseloom.frontends.files.limits import FREE_UNPACKING, MAX_FILE_BYTES, MAX_MEMBERS
from fuseloom.program import regular_files
from fuseloom.program.limits import MAX_RATIO
from fuseloom.wording import counted

ENDINGS = (".gz", ".bz2", ".zst", ".zstd", ".tgz", ".tbz2", ".tar")
"""Ends of names that say how a file is packed, not what it holds."""
TABLES = (".mtx", ".tns", ".csv", ".tsv", ".txt", ".edges", ".el", ".edgelist")
"""Ends of names of texts that are read."""
GZIP, BZIP2, ZSTD, XZ = b"\x1f\x8b", b"BZh", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\x00"
PART = 2**22
"""Bytes that are read at once: memory is taken for what is there, not for what is asked for."""
STEP = 2**10
"""Packed bytes that zstd unpacks at once, to 32 MiB at most."""
TAR = 512
"""Bytes of a header in a tar archive; ``ustar`` stands at 257."""
_DAMAGE: tuple[type[BaseException], ...] = (
    OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, tarfile.TarError, OverflowError,
)  # fmt: skip


class Content:
    """Bytes of a file, unpacked; no more of them can be read than are allowed.

    Attributes
    ----------
    path : Path
    name : str
        Of what was packed: ``a.mtx`` of ``a.mtx.gz``, the member of an archive.
    plain : bool
        Whether it is the file as it lies on the disk.
    """

    def __init__(
        self, path: Path, file: IO[bytes], allowed: int, name: str, *, plain: bool = False
    ) -> None:
        self.path = path
        self.name = name
        self.plain = plain
        self._file = file
        self._allowed = allowed
        self._total = 0
        self._kept = b""

    def read(self, size: int) -> bytes:
        """The next bytes, fewer than asked for only at the end.

        Raises
        ------
        DataError
            If the file unpacks to too much.
        """
        parts, wanted = [self._kept[:size]], size - len(self._kept[:size])
        self._kept = self._kept[size:]
        while wanted > 0 and (part := self._file.read(min(wanted, PART))):
            parts.append(part)
            wanted -= len(part)
            self._total += len(part)
            if self._total > self._allowed:
                raise DataError(
                    f"{self.path} unpacks to more than {counted(self._allowed, 'byte')}",
                    hint=f"a packed file may hold {MAX_RATIO} times its size; unpack it",
                )
        return b"".join(parts)

    def start(self, size: int) -> bytes:
        """The next bytes, which stay to be read."""
        held = self.read(size)
        self._kept = held + self._kept
        return held


def size_of(path: Path) -> int:
    """Bytes of a file.

    Raises
    ------
    DataError
        If there is no such file, or it is too large.
    """
    try:
        if not regular_files.is_file(path):
            regular_files.opened(path).close()  # says what is wrong with it
        size = path.stat().st_size
    except (OSError, ValueError) as problem:
        raise DataError(f"cannot read {path}: {problem}", hint="check its name") from None
    if size > MAX_FILE_BYTES:
        raise DataError(
            f"{path} has {counted(size, 'byte')}, the limit is {MAX_FILE_BYTES:,}", hint="split it"
        )
    return size


@contextmanager
def unpacked(path: Path) -> Iterator[Content]:
    """Open the contents of a file: itself, its unpacked form, or the one table of a tar archive.

    Raises
    ------
    DataError
        If it cannot be read, is packed in another way, unpacks to too much, or is an archive
        that does not show which of its files is meant.
    """
    with reading(path), ExitStack() as opened:
        content = _unpacked(path, opened)
        if _is_tar(content):
            member = _chosen(content)
            content = _unpacked(path, opened)  # once more from its start
            archive = opened.enter_context(_archive(content))
            found = next(m for m in archive if m.name == member)
            file = archive.extractfile(found)
            assert file is not None  # a regular file, as _chosen saw
            content = Content(path, file, MAX_FILE_BYTES, member.rsplit("/", 1)[-1])
        yield content


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Say of damage what it is.

    Raises
    ------
    DataError
        In place of what the unpackers raise.
    """
    try:
        yield
    except Exception as problem:
        if not isinstance(problem, _damage()):
            raise
        what = problem.strerror if isinstance(problem, OSError) and problem.strerror else problem
        raise DataError(
            f"cannot read {path}: {str(what)[:200]}", hint="the file may be cut short or damaged"
        ) from None


def content_name(path: Path) -> str:
    """A file's name without what says how it is packed: ``a.mtx`` of ``a.mtx.gz``."""
    name = path.name
    while name.lower().endswith(ENDINGS):
        name = name.rpartition(".")[0]
    return name


def _unpacked(path: Path, opened: ExitStack) -> Content:
    packed = size_of(path)
    plain = opened.enter_context(regular_files.opened(path))
    start = plain.read(len(XZ))
    plain.seek(0)
    name = content_name(path)
    allowed = min(MAX_FILE_BYTES, max(FREE_UNPACKING, MAX_RATIO * packed))
    if start.startswith(GZIP):
        file = opened.enter_context(gzip.GzipFile(fileobj=plain, mode="rb"))
        return Content(path, cast(IO[bytes], file), allowed, name)
    if start.startswith(BZIP2) and start[3:4] in b"123456789" and len(start) > 3:
        return Content(path, opened.enter_context(bz2.BZ2File(plain)), allowed, name)
    if start.startswith(ZSTD):
        return Content(path, opened.enter_context(_zstd(path)[0](plain)), allowed, name)
    if start == XZ:
        raise DataError(
            f"{path} is packed by xz, which is not read", hint="unpack it with xz -d, or use gzip"
        )
    return Content(path, plain, MAX_FILE_BYTES, name, plain=True)


def _zstd(path: Path) -> tuple[Callable[[IO[bytes]], Any], type[BaseException]]:
    """Return the function that opens a zstd file, and the exception that it raises."""
    try:
        library: Any = importlib.import_module("compression.zstd")
    except ImportError:
        pass
    else:
        return library.open, library.ZstdError
    try:
        library = importlib.import_module("zstandard")
    except ImportError:
        raise DataError(
            f"{path} is packed by zstd, which needs the package zstandard",
            hint="pip install 'fuseloom[zstd]', or unpack it with zstd -d",
        ) from None
    return lambda plain: nullcontext(_ZstdFrames(library, plain)), library.ZstdError


class _ZstdFrames:
    """Frames of zstd by the package zstandard, whose own reader does not tell a cut file."""

    def __init__(self, library: Any, plain: IO[bytes]) -> None:
        self._library = library
        self._plain = plain
        self._frame: Any = None
        self._rest = self._out = b""

    def read(self, size: int) -> bytes:
        """At most so many bytes; none at the end."""
        while not self._out:
            packed = self._rest or self._plain.read(STEP)
            self._rest = b""
            if not packed:
                if self._frame is not None:
                    raise EOFError("the file ends within a frame of zstd")
                return b""
            if self._frame is None:
                window = self._library.ZstdDecompressor(max_window_size=2**27)
                self._frame = window.decompressobj()
            self._out = self._frame.decompress(packed)
            if self._frame.eof:
                self._rest, self._frame = self._frame.unused_data, None
        found, self._out = self._out[:size], self._out[size:]
        return found


def _damage() -> tuple[type[BaseException], ...]:
    try:
        return (*_DAMAGE, _zstd(Path())[1])
    except DataError:
        return _DAMAGE


# Archives ------------------------------------------------------------------------------------


def _is_tar(content: Content) -> bool:
    head = content.start(TAR)
    return len(head) == TAR and head[257:262] == b"ustar"


def _archive(content: Content) -> tarfile.TarFile:
    return tarfile.open(fileobj=cast(IO[bytes], content), mode="r|", errorlevel=0)


def _chosen(content: Content) -> str:
    """The member that is meant: ``out.*`` (KONECT), the only table, or the one of its folder."""
    names: list[str] = []
    with _archive(content) as archive:
        for count, member in enumerate(archive):
            if count == MAX_MEMBERS:
                raise DataError(
                    f"{content.path} holds more than {MAX_MEMBERS:,} files",
                    hint="unpack it, and name one of its files",
                )
            base = member.name.rsplit("/", 1)[-1]
            known = base.lower().endswith(TABLES) or base.startswith("out.")
            odd = base.lower().startswith(("readme", "meta.", "._"))
            if member.isreg() and not member.issparse() and known and not odd:
                names.append(member.name)
    konect = [name for name in names if name.rsplit("/", 1)[-1].startswith("out.")]
    own = [name for name in names if _stem(name) in name.split("/")[:-1]]
    for few in (konect, names, own):
        if len(few) == 1:
            return few[0]
    several = f"several tables: {', '.join(sorted(names)[:6])}"
    raise DataError(
        f"{content.path} is an archive of {several if names else 'no table that is known'}",
        hint="unpack it, and name one of its files",
    )


def _stem(name: str) -> str:
    return name.rsplit("/", 1)[-1].rpartition(".")[0]
