"""Sources of data sets: one for each graph with files, of addresses that are safe."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import pytest

from fuseloom.models.datasets.facts import GRAPHS
from fuseloom.models.datasets.locate import LAYOUTS
from fuseloom.models.datasets.sources import SOURCES


def test_every_graph_with_files_has_a_source() -> None:
    assert list(SOURCES) == list(GRAPHS) == list(LAYOUTS)


@pytest.mark.parametrize("name", SOURCES)
def test_addresses_are_safe_and_paths_are_those_that_are_looked_for(name: str) -> None:
    source = SOURCES[name]
    assert source.licence
    assert source.page.startswith("https://")
    assert source.sha256.keys() <= source.files.keys()
    assert all(re.fullmatch("[0-9a-f]{64}", checksum) for checksum in source.sha256.values())
    places = set(LAYOUTS[name].places)
    for path, address in source.files.items():
        assert address.startswith("https://")
        assert PurePosixPath(address).name == PurePosixPath(path).name
        assert ".." not in path
        found = PurePosixPath(path)
        folder = found.with_suffix("") if source.archive else found
        assert {str(folder), str(folder.parent)} & places
