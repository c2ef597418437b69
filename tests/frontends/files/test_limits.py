"""Headers that lie and archives that burst, under a limit of memory."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
from pathlib import Path

import pytest
import scipy.io
import scipy.sparse

from fuseloom.errors import DataError
from fuseloom.frontends.files import read_tensor
from tests.frontends.files import matrix, repack
from tests.frontends.files.harm import little_memory


def npy(shape: tuple[int, ...], content: bytes, dtype: str = "<f8") -> bytes:
    header = str({"descr": dtype, "fortran_order": False, "shape": shape}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + content


@pytest.mark.parametrize(
    "data",
    [
        npy((10**15,), b"x" * 80),
        npy((2**62, 2**62), b""),
        npy((-1,), b""),
        npy((3,), b"x" * 8),
        npy((1,), b"x" * 8, "|O"),
        npy((1,), b"x" * 8, "[('a', '<f8')]"),
        b"\x93NUMPY\x03\x00",
        b"\x93NUMPY\x09\x00",
        b"",
        b"cos\nsystem\n.",
    ],
    ids=range(10),
)
def test_headers_of_arrays_that_lie(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.npz"
    scipy.sparse.save_npz(path, matrix(1))
    repack(path, "data.npy", data)
    with little_memory(), pytest.raises(DataError):
        read_tensor(path)


def test_bombs(tmp_path: Path) -> None:
    zeros = gzip.compress(bytes(50 * 2**20))
    lines = gzip.compress(b"\n" * (20 * 2**20))
    rows = gzip.compress(b"1 1 1\n" * (4 * 2**20))
    for name, content in [("z.tns", zeros), ("l.tns", lines), ("r.csv.gz", rows)]:
        assert len(content) < 2**20
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DataError, match=r"a line of more than|unpacks to more than"):
            read_tensor(tmp_path / name)
    with zipfile.ZipFile(tmp_path / "z.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.npy", npy((25 * 2**20,), b""))
        archive.writestr("format.npy", bytes(64 * 2**20))
    with little_memory(), pytest.raises(DataError):
        read_tensor(tmp_path / "z.npz")


def test_a_member_larger_than_it_says(tmp_path: Path) -> None:
    """The archive's own figure bounds what is read, whatever its content unpacks to."""
    path = tmp_path / "a.npz"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("format.npy", npy((2**22,), bytes(2**25)))
    content = buffer.getvalue()
    size = len(npy((2**22,), bytes(2**25)))
    path.write_bytes(content.replace(struct.pack("<I", size), struct.pack("<I", 200)))
    with little_memory(), pytest.raises(DataError):
        read_tensor(path)
