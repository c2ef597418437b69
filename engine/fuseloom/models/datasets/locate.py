"""The location of a graph's files in a folder of data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from fuseloom.frontends.files import GraphData, read_citation, read_ogb, read_planetoid
from fuseloom.program import regular_files


@dataclass(frozen=True)
class DatasetFiles:
    """Paths below the folder of data, the first that exists counts, and how to read it.

    Attributes
    ----------
    places : tuple of str
        Files, or folders that hold ``marker``.
    """

    places: tuple[str, ...]
    read: Callable[[Path], GraphData]
    marker: str = ""

    def find(self, folder: Path) -> Path | None:
        """The place that is there; None if none is."""
        found = (folder / place for place in self.places)
        return next((path for path in found if regular_files.exists(path / self.marker)), None)


def _citation(name: str, title: str) -> DatasetFiles:
    file = f"{name}.npz"
    places = (file, *(f"{n}/{part}{file}" for n in (name, title) for part in ("", "raw/")))
    return DatasetFiles(places, lambda path: read_citation(path, title))


_MAG = DatasetFiles(
    ("ogbn_mag", "mag", "ogbn-mag"),
    lambda path: read_ogb(path, "MAG"),
    "raw/relations/paper___cites___paper/edge.csv.gz",
)

LAYOUTS: Mapping[str, DatasetFiles] = MappingProxyType(
    {
        "cora": DatasetFiles(
            (".", "planetoid", "cora", "cora/raw", "Cora", "Cora/raw"),
            lambda path: read_planetoid(path, "cora"),
            "ind.cora.graph",
        ),
        "cora_ml": _citation("cora_ml", "Cora_ML"),
        "dblp": _citation("dblp", "DBLP"),
        "collab": DatasetFiles(
            ("ogbl_collab", "collab", "ogbl-collab"),
            lambda path: read_ogb(path, "Collab", symmetric=True),
            "raw/edge.csv.gz",
        ),
        "mag": _MAG,
        "mag_all": _MAG,
    }
)
"""As the archives unpack, and as PyTorch Geometric and OGB keep them."""
