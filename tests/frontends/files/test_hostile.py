"""Files made to do harm: pickles that call, headers that lie, archives that burst."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from engine.errors import FuseloomError
from engine.frontends.files import read_graph, read_tensor
from tests.frontends.files import Citation, damaged, matrix, pieces, repack
from tests.frontends.files.harm import little_memory
from tests.frontends.files.test_citation import citation_file
from tests.frontends.files.test_ogb import ogb_folder

CASES = 240


def good_files(folder: Path) -> dict[str, Path]:
    scipy.io.mmwrite(folder / "a.mtx", matrix(1))
    (folder / "t.tns").write_text("1 2 1 0.5\n2 2 3 -1\n4 1 1 2e3\n")
    scipy.sparse.save_npz(folder / "s.npz", matrix(2), compressed=False)
    (folder / "e.csv").write_text("from,to,w\n0,1,2\n1,3,0.5\n4,0,1\n")
    (folder / "e.tsv.gz").write_bytes(gzip.compress(b"0\t1\n1\t3\n4\t0\n"))
    return {name: folder / name for name in ("a.mtx", "t.tns", "s.npz", "e.csv", "e.tsv.gz")}


def checked(read: Callable[[], Any]) -> bool:
    """Whether a damaged file was read; anything but a result or our own error fails."""
    try:
        result = read()
    except FuseloomError:
        return False
    if hasattr(result, "coords"):
        assert np.isfinite(result.values).all()
        assert (result.coords >= 0).all()
        assert (result.coords < np.array(result.shape)).all()
    else:
        assert np.isfinite(result.adjacency.data).all()
        assert result.adjacency.has_sorted_indices
    return True


@pytest.mark.parametrize("name", ["a.mtx", "t.tns", "s.npz", "e.csv", "e.tsv.gz"])
def test_damaged_tensors(tmp_path: Path, name: str) -> None:
    path = good_files(tmp_path)[name]
    whole = path.read_bytes()
    inner = dict(pieces(path))
    read = 0
    with little_memory():
        for seed in range(CASES):
            if inner and seed % 2:
                part = sorted(inner)[seed // 2 % len(inner)]
                path.write_bytes(whole)
                repack(path, part, damaged(inner[part], seed // 2))
            else:
                path.write_bytes(damaged(whole, seed))
            read += checked(lambda: read_tensor(path))
    assert 0 <= read < CASES


@pytest.mark.parametrize("part", ["allx", "tx", "ally", "ty", "graph", "test.index"])
def test_damaged_planetoid(tmp_path: Path, part: str) -> None:
    Citation().write(tmp_path)
    path = tmp_path / f"ind.tiny.{part}"
    whole = path.read_bytes()
    with little_memory():
        for seed in range(CASES):
            path.write_bytes(damaged(whole, seed))
            checked(lambda: read_graph(tmp_path))


def test_damaged_citation_full(tmp_path: Path) -> None:
    path = citation_file(tmp_path)
    whole, inner = path.read_bytes(), dict(pieces(path))
    with little_memory():
        for seed in range(CASES):
            part = sorted(inner)[seed % len(inner)]
            path.write_bytes(whole)
            repack(path, part, damaged(inner[part], seed))
            checked(lambda: read_graph(path))


@pytest.mark.parametrize("part", ["edge.csv.gz", "num-node-list.csv.gz", "node-feat.csv.gz"])
def test_damaged_ogb(tmp_path: Path, part: str) -> None:
    folder = ogb_folder(tmp_path)
    path = folder / "raw" / part
    whole, inner = path.read_bytes(), dict(pieces(path))["gz"]
    with little_memory():
        for seed in range(CASES):
            path.write_bytes(whole)
            if seed % 2:
                repack(path, "gz", damaged(inner, seed // 2))
            else:
                path.write_bytes(damaged(whole, seed // 2))
            checked(lambda: read_graph(folder))


def test_damage_is_damage() -> None:
    whole = zlib.compress(b"0,1\n" * 50)
    assert sum(damaged(whole, seed) != whole for seed in range(CASES)) > CASES * 0.95
