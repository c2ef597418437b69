"""The kinds of files, by their first bytes, and by name where these do not suffice."""

from __future__ import annotations

from enum import Enum

from fuseloom.errors import DataError

MIB = 1 << 20
TEXT_BYTES = MIB
HEAD = 4096
"""Bytes that are looked at."""


class FileKind(Enum):
    """Kinds of files that the workbench takes."""

    MATRIX_MARKET = "Matrix Market"
    FROSTT = "FROSTT tensor"
    EDGES = "list of edges"
    ARCHIVE = "archive with a table (.tar)"
    NPZ = "NumPy archive (.npz)"
    NPY = "NumPy array (.npy)"
    MODEL = "model (.fuseloom)"
    PARQUET = "list of edges (Parquet)"
    MLIR = "MLIR"
    SAM = "SAM graph (DOT)"
    COMAL = "Comal graph"
    JSON = "JSON"
    PROGRAM = "program text"

    @property
    def is_text(self) -> bool:
        """True if it is read as a whole, so that it must be short."""
        return self in (FileKind.MLIR, FileKind.SAM, FileKind.JSON, FileKind.PROGRAM)


KNOWN = (
    "Matrix Market, FROSTT .tns, lists of edges, Parquet, .npz, .npy, MLIR, SAM graphs "
    "(DOT), program text, models (.fuseloom), saved sessions"
)
_SUFFIXES = {
    "mtx": FileKind.MATRIX_MARKET, "tns": FileKind.FROSTT, "npz": FileKind.NPZ, "npy": FileKind.NPY,
    "csv": FileKind.EDGES, "tsv": FileKind.EDGES, "edges": FileKind.EDGES, "el": FileKind.EDGES,
    "edgelist": FileKind.EDGES,
    "fuseloom": FileKind.MODEL,
    "tar": FileKind.ARCHIVE, "tgz": FileKind.ARCHIVE, "tbz2": FileKind.ARCHIVE,
    "parquet": FileKind.PARQUET, "mlir": FileKind.MLIR, "gv": FileKind.SAM, "dot": FileKind.SAM,
    "json": FileKind.JSON, "loom": FileKind.PROGRAM, "bin": FileKind.COMAL, "pb": FileKind.COMAL,
}  # fmt: skip
_PACKED = (FileKind.MATRIX_MARKET, FileKind.FROSTT, FileKind.EDGES, FileKind.ARCHIVE, FileKind.NPY)
_PACKERS = ("gz", "bz2", "zst", "zstd")
_PACKED_HEADS = (b"\x1f\x8b", b"BZh", b"\x28\xb5\x2f\xfd")
_PICKLES = ("pkl", "pickle", "pt", "pth", "joblib")
_WRITERS = {FileKind.NPZ: "numpy.savez", FileKind.NPY: "numpy.save",
            FileKind.PARQUET: "pandas.DataFrame.to_parquet",
            FileKind.MODEL: "imported.save"}  # fmt: skip
_ENDINGS = {FileKind.MATRIX_MARKET: ".mtx", FileKind.FROSTT: ".tns", FileKind.EDGES: ".edges",
            FileKind.ARCHIVE: ".tar", FileKind.NPZ: ".npz", FileKind.NPY: ".npy",
            FileKind.PARQUET: ".parquet"}  # fmt: skip


def suffix_of(name: str) -> str:
    """The end of a name, without how it is packed: ``mtx`` of ``a.mtx.gz``."""
    parts = name.lower().rsplit("/", 1)[-1].rsplit("\\", 1)[-1].split(".")
    if parts[-1] in _PACKERS:
        parts.pop()
    if parts[0] == "out" and parts[-1] not in _SUFFIXES:
        return "edges"  # as KONECT names them
    return parts[-1] if len(parts) > 1 else ""


def kind_of(name: str, head: bytes) -> FileKind:
    """Return the kind of a file with this name that begins with these bytes.

    Raises
    ------
    DataError
        If it is nothing that the workbench reads.
    """
    suffix = suffix_of(name)
    by_name = _SUFFIXES.get(suffix)
    if suffix in _PICKLES or (head[:1] == b"\x80" and head[1:2] in b"\x02\x03\x04\x05"):
        raise DataError("a pickle, which is never read: it could run any program",
                        hint="write the arrays with numpy.savez")  # fmt: skip
    if not head:
        raise DataError("an empty file", hint=f"known: {KNOWN}")
    if head.startswith(_PACKED_HEADS):
        if by_name is None and suffix == "txt":
            return FileKind.EDGES
        if by_name not in _PACKED:
            raise DataError("a packed file of an unknown kind",
                            hint="unpack it; .mtx, .tns, .csv, .txt, .npy and .tar may stay "
                            "packed, as .mtx.gz")  # fmt: skip
        return by_name
    if head.startswith(b"PK"):
        return FileKind.MODEL if by_name is FileKind.MODEL else FileKind.NPZ
    if head.startswith(b"\x93NUMPY"):
        return FileKind.NPY
    if head.startswith(b"PAR1"):
        return FileKind.PARQUET
    if head[:14].lower() == b"%%matrixmarket":
        return FileKind.MATRIX_MARKET
    if by_name in _WRITERS:
        by = _WRITERS[by_name]
        raise DataError(f"this is no {by_name.value}, whatever its name says",
                        hint=f"write it with {by}, or give it its own name")  # fmt: skip
    if by_name is not None:
        return by_name
    return _by_text(head)


def _by_text(head: bytes) -> FileKind:
    """Return the kind of a text whose name has no known ending."""
    if b"\0" in head:
        raise DataError("a file of an unknown kind", hint=f"known: {KNOWN}")
    start = head.lstrip()
    if start.startswith((b"digraph", b"strict digraph")):
        return FileKind.SAM
    if start.startswith(b"{"):
        return FileKind.JSON
    if b"func.func" in head or start.startswith((b"module", b"#map", b"#sparse")):
        return FileKind.MLIR
    return FileKind.PROGRAM


def ending(kind: FileKind, head: bytes) -> str:
    """The end of a name by which the readers know such a file."""
    return _ENDINGS.get(kind, ".txt") + (".gz" if head.startswith(_PACKED_HEADS) else "")
