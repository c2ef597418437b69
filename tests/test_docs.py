"""What the documentation shows really works."""

from __future__ import annotations

import re
from pathlib import Path

import networkx as nx
import numpy as np

import engine as fl
from engine.cli import main

ROOT = Path(__file__).parent.parent


def blocks(name: str, language: str = "") -> list[str]:
    text = (ROOT / name).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.+?)^```$", text, re.DOTALL | re.MULTILINE)


def test_the_language_reference() -> None:
    program_text, schedule_text = blocks("docs/language.md")
    program = fl.parse(program_text)
    assert program.name == "gcn_layer"
    schedule = fl.Schedule.parse(schedule_text)
    (region,) = fl.compile(program, schedule).regions
    assert region.order == ("i", "k", "p")


def test_the_readme_prints_what_the_commands_print(capsys, monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    console = "\n".join(blocks("README.md", "console"))
    shown = re.split(r"^\$ fuseloom ", console, flags=re.MULTILINE)[1:]
    assert len(shown) == 5
    for text in shown:
        command, _, expected = text.partition("\n")
        assert main(command.split()) == 0
        printed = capsys.readouterr().out
        figures = [re.sub(r"\d\.\de-\d\d|\d\.\d\d s", "#", t.strip()) for t in (printed, expected)]
        assert figures[0] == figures[1]


def test_the_readme_in_python() -> None:
    (code,) = blocks("README.md", "python")
    program = fl.parse(re.search(r'"""\n(.+?)"""', code, re.DOTALL)[1])
    compiled = fl.compile(program, re.search(r'program, "([^"]+)"', code)[1])
    adjacency = nx.to_scipy_sparse_array(nx.karate_club_graph(), weight=None)
    data = {"A": adjacency, "X": np.random.default_rng(0).normal(size=(34, 16))}
    run = fl.simulate(compiled, data)
    assert run.check().ok
    assert fl.estimate(compiled, data).cycles > 0
    assert fl.to_dot(compiled.regions[0].graph).source
    assert str(run.trace[0])
