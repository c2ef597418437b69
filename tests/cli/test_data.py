"""``fuseloom data``: what there is, what is known of it, and what cannot be reached."""

from __future__ import annotations

import json

import pytest

from fuseloom.cli import main
from fuseloom.models import DATASETS
from fuseloom.models.datasets import VARIABLE, fetching
from fuseloom.models.datasets.sources import SOURCES
from tests.frontends.files import Citation


@pytest.fixture(autouse=True)
def _no_folder(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)


def test_every_data_set_is_listed(capsys, tmp_path, monkeypatch):
    assert main(["data", "list"]) == 0
    text = capsys.readouterr().out
    assert all(f"\n{name} " in text for name in DATASETS)
    assert "not there: a stand-in is made at random" in text
    Citation().write(tmp_path, "cora")
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert main(["data", "list", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    rows = {row["name"]: row for row in made["sets"]}
    assert made["folder"] == rows["cora"]["place"] == str(tmp_path)
    assert rows["dblp"]["place"] is rows["karate"]["page"] is None
    assert rows["collab"]["licence"] == "ODC-BY"


def test_files_that_are_not_the_known_ones(capsys, tmp_path):
    Citation().write(tmp_path, "cora")
    words = ["data", "verify", "--data-dir", str(tmp_path)]
    assert main(words) == 1
    out = capsys.readouterr().out
    assert "2,708" in out
    assert "facts differ" in out
    assert main([*words, "--json"]) == 1
    made = json.loads(capsys.readouterr().out)
    assert {row["what"] for row in made["facts"] if row["ok"]} <= {"classes"}


def test_without_a_network_it_says_what_to_put_where(capsys, tmp_path, monkeypatch):
    def nobody(address, timeout):
        raise OSError("no network")

    monkeypatch.setattr(fetching, "urlopen", nobody)
    assert main(["data", "fetch", "dblp", "--data-dir", str(tmp_path)]) == 2
    told = capsys.readouterr().err
    assert str(tmp_path / "dblp.npz") in told
    assert SOURCES["dblp"].files["dblp.npz"] in told


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("verify",), "no folder of data is named"),
        (("fetch", "cora"), "no folder of data is named"),
        (("fetch", "coraa", "--data-dir", "."), "did you mean 'cora'"),
        (("verify", "--data-dir", "{empty}"), "files of no data set"),
        (("verify", "cora", "--data-dir", "{empty}"), "has no files of cora"),
        (("fetch",), "NAME"),
    ],
)
def test_bad_input_is_one_message(capsys, tmp_path, words, message):
    given = [word.format(empty=tmp_path) for word in words]
    assert main(["data", *given]) == 2
    assert message in capsys.readouterr().err


def test_files_that_two_data_sets_share_are_read_once(capsys, tmp_path, monkeypatch):
    asked = []

    def facts(name, folder):
        asked.append(name)
        return iter(())

    monkeypatch.setattr("fuseloom.cli.data.compare_facts", facts)
    monkeypatch.setattr("fuseloom.cli.data.place_of", lambda name, folder: tmp_path)
    assert main(["data", "verify", "--data-dir", str(tmp_path)]) == 0
    assert asked == [name for name in SOURCES if name != "mag_all"]
    assert main(["data", "verify", "mag_all", "--data-dir", str(tmp_path)]) == 0
    assert asked[-1] == "mag_all"
