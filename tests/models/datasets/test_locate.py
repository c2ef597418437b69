"""The location of the files of real data sets."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from fuseloom.errors import DataError
from fuseloom.models.datasets import load_graph
from tests.frontends.files import Citation
from tests.frontends.files.test_citation import citation_file
from tests.frontends.files.test_ogb import ogb_folder


def test_where_real_files_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "Cora" / "raw").mkdir(parents=True)
    Citation().write(tmp_path / "Cora" / "raw", "cora")
    (tmp_path / "dblp" / "raw").mkdir(parents=True)
    citation_file(tmp_path).rename(tmp_path / "dblp" / "raw" / "dblp.npz")
    ogb_folder(tmp_path).rename(tmp_path / "ogbl_collab")
    monkeypatch.setenv("FUSELOOM_DATA_DIR", str(tmp_path))
    found = {name: load_graph(name) for name in ("cora", "dblp", "collab", "cora_ml")}
    assert {n: g.standin for n, g in found.items()} == {
        "cora": False, "dblp": False, "collab": False, "cora_ml": True
    }  # fmt: skip
    assert found["collab"].label == "Collab"
    assert found["collab"].adjacency[2, 1] == found["collab"].adjacency[1, 2] == 1
    assert found["collab"].classes == 2
    with pytest.raises(DataError, match="no folder"):
        load_graph("cora", tmp_path / "nowhere")
    with pytest.raises(DataError, match="no graph is called 'corra'"):
        load_graph("corra")


def test_both_forms_of_mag_are_in_its_folder(tmp_path: Path) -> None:
    raw = tmp_path / "mag" / "raw"
    texts = {
        "relations/paper___cites___paper/edge.csv.gz": "0,1\n2,0\n",
        "node-feat/paper/node-feat.csv.gz": "1,2\n3,4\n5,6\n",
    }
    for name, text in texts.items():
        (raw / name).parent.mkdir(parents=True)
        (raw / name).write_bytes(gzip.compress(text.encode()))
    papers, every = (load_graph(name, tmp_path) for name in ("mag", "mag_all"))
    assert (papers.nodes, papers.classes, papers.standin) == (3, 349, False)
    assert every.nodes == 3 + 1_203_354
    assert every.edges == papers.edges == 2
    np.testing.assert_array_equal(every.features[:3], papers.features)
    assert not every.features[3:].any()
    assert every.label == "MAG, nodes of all types"
