"""Packed files and archives, told by their first bytes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest

from fuseloom.errors import DataError
from fuseloom.frontends.files import packed, read_graph, read_tensor
from tests.frontends.files import dense, zstd

MATRIX = b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 3\n"
EDGES = b"% asym unweighted\n1 2\n"
EXPECTED = [[0, 3], [0, 0]]


def archive(path: Path, files: dict[str, bytes], mode: str = "w:bz2") -> Path:
    with tarfile.open(path, mode) as made:  # type: ignore[call-overload]
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            made.addfile(member, io.BytesIO(content))
    return path


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
@pytest.mark.parametrize("name", ["a.mtx.gz", "a.mtx.bz2", "a.mtx", "a.mtx.zst", "a"])
def test_packing_shows_in_the_content(tmp_path: Path, pack: object, name: str) -> None:
    (tmp_path / name).write_bytes(pack(MATRIX))  # type: ignore[operator]
    np.testing.assert_array_equal(dense(read_tensor(tmp_path / name)), EXPECTED)


def test_zstd(tmp_path: Path) -> None:
    (tmp_path / "a.mtx.zst").write_bytes(zstd(MATRIX))
    np.testing.assert_array_equal(dense(read_tensor(tmp_path / "a.mtx.zst")), EXPECTED)
    (tmp_path / "bomb.tns").write_bytes(zstd(bytes(50 * 2**20)))
    with pytest.raises(DataError, match=r"a line of more than|unpacks to more than"):
        read_tensor(tmp_path / "bomb.tns")
    edges = b"".join(b"%d %d\n" % (k * k % 97, k) for k in range(500))
    (tmp_path / "e.txt.zst").write_bytes(zstd(edges) + zstd(b"0 500\n"))
    assert read_tensor(tmp_path / "e.txt.zst").nnz == 501
    (tmp_path / "e.txt.zst").write_bytes(zstd(edges)[:-40])
    with pytest.raises(DataError, match=r"cannot read .*cut short"):
        read_tensor(tmp_path / "e.txt.zst")


def test_what_cannot_be_unpacked_names_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("compression.zstd", "zstandard"):
        monkeypatch.setitem(sys.modules, module, None)
    (tmp_path / "a.mtx.zst").write_bytes(packed.ZSTD + b"rest")
    with pytest.raises(
        DataError, match=r"needs the package zstandard .*pip install 'fuseloom\[zstd\]'"
    ):
        read_tensor(tmp_path / "a.mtx.zst")
    (tmp_path / "a.mtx.xz").write_bytes(lzma.compress(MATRIX))
    with pytest.raises(DataError, match=r"packed by xz.*xz -d"):
        read_tensor(tmp_path / "a.mtx.xz")
    for pack in (gzip.compress, bz2.compress):
        (tmp_path / "cut.mtx").write_bytes(pack(MATRIX)[:-9])
        with pytest.raises(DataError, match=r"cannot read .*cut short"):
            read_tensor(tmp_path / "cut.mtx")


def test_archives_as_konect_and_suitesparse_publish_them(tmp_path: Path) -> None:
    konect = {"k/README.k": b"1 2", "k/out.k": EDGES, "k/meta.k": b"name: k"}
    tensor = read_tensor(archive(tmp_path / "download.tsv.k.tar.bz2", konect))
    np.testing.assert_array_equal(dense(tensor), [[0, 1], [0, 0]])
    matrices = {"bar/bar_b.mtx": MATRIX.replace(b"3", b"9"), "bar/bar.mtx": MATRIX}
    path = archive(tmp_path / "bar.tar.gz", matrices, "w:gz")
    np.testing.assert_array_equal(dense(read_tensor(path)), EXPECTED)
    assert read_graph(path).edges == 1


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a/x.mtx": MATRIX, "a/y.mtx": MATRIX}, r"several tables: a/x.mtx, a/y.mtx"),
        ({"a/x.bin": MATRIX, "README.txt": b"1 2"}, "no table that is known"),
        ({"a.mtx": MATRIX[:-3]}, "has 0 elements|fields, expected 3"),
    ],
)
def test_archives_that_are_not_clear(tmp_path: Path, files: dict[str, bytes], message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_tensor(archive(tmp_path / "a.tar", files, "w:"))


def test_archives_of_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "MAX_MEMBERS", 3)
    path = archive(tmp_path / "a.tar", {f"{k}.mtx": MATRIX for k in range(5)}, "w:")
    with pytest.raises(DataError, match="more than 3 files"):
        read_tensor(path)


def test_a_link_in_an_archive_is_not_followed(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w:") as made:
        member = tarfile.TarInfo("a.mtx")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/hostname"
        made.addfile(member)
    with pytest.raises(DataError, match="no table that is known"):
        read_tensor(tmp_path / "a.tar")
