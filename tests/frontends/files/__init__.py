"""Readers of files: helpers that write good files, and damage them."""

from __future__ import annotations

import gzip
import importlib
import os
import pickle
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from fuseloom.frontends.files import CoordinateTensor

REAL = next(
    (
        folder
        for folder in (
            Path(os.environ.get("FUSELOOM_DATA_DIR", "nowhere")),
            Path(__file__).resolve().parents[4] / "shared" / "data",
        )
        if folder.is_dir()
    ),
    None,
)
"""Folder with real data sets, where there is one: beside the checkout, or as the variable says."""


def matrix(seed: int = 0, shape: tuple[int, int] = (9, 7), density: float = 0.3) -> Any:
    """A random sparse matrix whose values read back exactly."""
    rng = np.random.default_rng(seed)
    places = rng.random(shape) < density
    return scipy.sparse.csr_array(np.where(places, rng.integers(-8, 9, shape) / 4, 0.0))


def dense(tensor: CoordinateTensor) -> npt.NDArray[np.float64]:
    """The elements of a tensor as an array."""
    made = np.zeros(tensor.shape)
    made[tuple(tensor.coords.T)] = tensor.values
    return made


class Citation:
    """A small graph in Planetoid's files, with what it should read as.

    The last two nodes are tested, in reverse order; node ``first`` lacks a neighbour list.
    """

    first, tested, features, classes = 6, 3, 5, 3

    def __init__(self, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        nodes = self.first + self.tested
        self.table = (rng.random((nodes, self.features)) < 0.4).astype(np.float32)
        self.labels = rng.integers(0, self.classes, nodes)
        pattern = rng.random((nodes, nodes)) < 0.25
        self.graph = {k: np.flatnonzero(pattern[k]).tolist() for k in range(nodes)}
        self.adjacency = ((pattern | pattern.T) & ~np.eye(nodes, dtype=bool)).astype(np.float32)
        self.order = rng.permutation(np.arange(self.first, nodes))

    def parts(self) -> dict[str, Any]:
        one_hot = np.eye(self.classes, dtype=np.int32)[self.labels]
        csr = scipy.sparse.csr_matrix
        return {
            "allx": csr(self.table[: self.first]),
            "tx": csr(self.table[self.order]),
            "ally": one_hot[: self.first],
            "ty": one_hot[self.order],
            "graph": self.graph,
        }

    def write(self, folder: Path, name: str = "tiny", protocol: int = 2) -> Path:
        for part, value in self.parts().items():
            (folder / f"ind.{name}.{part}").write_bytes(pickle.dumps(value, protocol))
        index = folder / f"ind.{name}.test.index"
        index.write_text("".join(f"{k}\n" for k in self.order))
        return folder


def damaged(content: bytes, seed: int) -> bytes:
    """A file cut short, with flipped bits, or with a piece repeated or missing."""
    rng = np.random.default_rng(seed)
    size = len(content)
    at = int(rng.integers(0, size))
    match seed % 4:
        case 0:
            return content[:at]
        case 1:
            flipped = bytearray(content)
            for place in rng.integers(0, size, rng.integers(1, 4)):
                flipped[place] ^= 1 << int(rng.integers(0, 8))
            return bytes(flipped)
        case 2:
            end = min(size, at + int(rng.integers(1, 30)))
            return content[:end] + content[at:]
        case _:
            return content[:at] + rng.bytes(int(rng.integers(1, 9))) + content[at + 1 :]


def pieces(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the parts of a packed file, for damage that its checksum would hide."""
    if path.suffix == ".gz":
        yield "gz", gzip.decompress(path.read_bytes())
    elif path.suffix == ".npz":
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                yield name, archive.read(name)


def repack(path: Path, changed: str, content: bytes) -> None:
    """The file with one of its pieces replaced, and a checksum that fits."""
    if changed == "gz":
        path.write_bytes(gzip.compress(content))
        return
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, old in members.items():
            archive.writestr(name, content if name == changed else old)


def zstd(content: bytes) -> bytes:
    """Content packed by Zstandard, with Python's own module or the package."""
    try:
        module = importlib.import_module("compression.zstd")
    except ImportError:
        module = importlib.import_module("zstandard")
    packed: bytes = module.compress(content)
    return packed
