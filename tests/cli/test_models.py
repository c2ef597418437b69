"""Models on the command line: the list of them, and what ``--with`` gives them."""

from __future__ import annotations

import json

import pytest

from fuseloom.models import MODELS, PARAMETERS
from tests.cli.commands import error, output

GPT3 = ("--model", "gpt3", "--preset", "partial", "--orders", "first")


def test_the_list_has_every_model_and_what_it_takes(capsys: pytest.CaptureFixture[str]) -> None:
    text = output(capsys, "models")
    for model in MODELS:
        assert f"{model}: " in text
    one = output(capsys, "models", "gpt3").splitlines()
    assert one[0].startswith("gpt3: ")
    assert one[0] in text
    names = [line.split()[0] for line in one[4:]]
    assert names == [parameter.name for parameter in PARAMETERS["gpt3"]]
    assert any(line.split()[:6] == ["sequence", "16", "1", "to", "16,384", "tokens"]
               for line in one)  # fmt: skip
    assert "did you mean 'gpt3'" in error(capsys, "models", "gtp3")


def test_options_reach_the_program_and_its_record(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ("--with", "sequence=32, block=8", "--with", "layers=1")
    shown = json.loads(output(capsys, "compile", *GPT3, *sizes, "--data", "bigbird", "--json"))
    indices = {i["name"]: i["size"] for r in shown["regions"] for i in r["region"]["indices"]}
    assert 32 in indices.values()
    assert len(shown["regions"]) == 3
    assert shown["data"]["options"]["sequence"] == 32
    without = json.loads(output(capsys, "compile", *GPT3, *sizes, "--json"))
    assert without["data"] is None
    assert [r["name"] for r in without["regions"]] == [r["name"] for r in shown["regions"]]


@pytest.mark.parametrize(
    ("model", "given", "message"),
    [
        ("gpt3", "sequence", "--with: 'sequence' is not NAME=VALUE (hint: fuseloom simulate"),
        ("gpt3", "sequence=", "'sequence=' is not NAME=VALUE"),
        ("gpt3", "", "'' is not NAME=VALUE"),
        ("gpt3", "block=4,block=4", "--with gives block twice"),
        ("gpt3", "sequence=1e3", "sequence of gpt3 is '1e3', not an integer (hint: 1 to 16"),
        ("gpt3", "sequence=-1", "sequence of gpt3 is -1, below 1"),
        ("gpt3", "squence=4", "did you mean 'sequence'"),
        ("gcn", "nodes=4,density=.5,sparsity=2", "sparsity of gcn is 2, above 1"),
        ("spmm", "rows=2147483647", "A has 17,179,869,176 elements, too many"),
    ],
)
def test_errors(model: str, given: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert message in error(capsys, "simulate", "--model", model, "--with", given)
