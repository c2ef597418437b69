"""Sources of the files of the evaluation's graphs: addresses, licences, checksums.

Addresses are those that PyTorch Geometric and the Open Graph Benchmark download from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from types import MappingProxyType

NOT_STATED = "not stated"
PLANETOID = "https://github.com/kimiyoung/planetoid/raw/master/data"
CITATIONS = "https://github.com/abojchevski/graph2gauss/raw/master/data"
OGB = "https://snap.stanford.edu/ogb/data"


@dataclass(frozen=True)
class DatasetSource:
    """The files of a graph.

    Attributes
    ----------
    page : str
        A page for people that describes the data.
    licence : str
        Under which they are published; ``not stated`` where their page names none.
    files : mapping of str to str
        Addresses by paths below the folder of data.
    sha256 : mapping of str to str
        Checksums by the same paths, of files that were there when this was written.
    archive : bool
        Whether they are ZIP archives, which are unpacked beside themselves.
    """

    page: str
    licence: str
    files: Mapping[str, str]
    sha256: Mapping[str, str] = field(default_factory=dict)
    archive: bool = False


def _planetoid(name: str, sums: Mapping[str, str]) -> DatasetSource:
    """Files of one of Planetoid's graphs, with checksums by their endings."""
    names = {part: f"planetoid/ind.{name}.{part}" for part in sums}
    return DatasetSource(
        "https://github.com/kimiyoung/planetoid",
        NOT_STATED,
        {path: f"{PLANETOID}/{PurePosixPath(path).name}" for path in names.values()},
        {names[part]: checksum for part, checksum in sums.items()},
    )


def _citation(name: str) -> DatasetSource:
    page = "https://github.com/abojchevski/graph2gauss"
    return DatasetSource(page, NOT_STATED, {f"{name}.npz": f"{CITATIONS}/{name}.npz"})


def _ogb(task: str, name: str, page: str) -> DatasetSource:
    address = f"{OGB}/{task}/{name}.zip"
    return DatasetSource(page, "ODC-BY", {f"{name}.zip": address}, archive=True)


_MAG = _ogb("nodeproppred", "mag", "https://ogb.stanford.edu/docs/nodeprop/#ogbn-mag")

SOURCES: Mapping[str, DatasetSource] = MappingProxyType(
    {
        "cora": _planetoid(
            "cora",
            {
                "x": "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab",
                "tx": "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a",
                "allx": "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
                "y": "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1",
                "ty": "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad",
                "ally": "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71",
                "graph": "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
                "test.index": "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
            },
        ),
        "cora_ml": _citation("cora_ml"),
        "dblp": _citation("dblp"),
        "collab": _ogb(
            "linkproppred", "collab", "https://ogb.stanford.edu/docs/linkprop/#ogbl-collab"
        ),
        "mag": _MAG,
        "mag_all": _MAG,
    }
)
"""By the names of :data:`~fuseloom.models.datasets.facts.GRAPHS`."""
