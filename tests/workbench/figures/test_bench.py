"""The worker of a page of figures."""

from __future__ import annotations

import queue

import pytest

from fuseloom.experiments.configuration import Configuration
from fuseloom.experiments.recipe import AccountingMode, ExperimentSize
from fuseloom.experiments.registry import RECIPES
from fuseloom_workbench.figures.bench import FigureBench, News
from tests.waiting import PATIENCE

WAIT = 120
SMALL = Configuration("nested", "ikjl", (("density", 0.5),), "full")
WRONG = Configuration("nested", "ikjl", (), "full", "order T..D: i,k,l,j")


@pytest.fixture
def told(tmp_path):
    """A bench, and its news in line."""
    line: queue.SimpleQueue[News] = queue.SimpleQueue()
    bench = FigureBench(line.put, tmp_path / "runs.sqlite")
    yield bench, line
    bench.close()
    bench.thread.join(timeout=PATIENCE)
    assert not bench.thread.is_alive()


def until_done(line) -> list[News]:
    """Return the news until a request has been carried out."""
    found = []
    while (news := line.get(timeout=WAIT)) != News():
        found.append(news)
    return found


@pytest.mark.deep  # takes seconds
def test_what_is_there_is_shown_and_what_is_not_is_done(told) -> None:
    bench, line = told
    asked = RECIPES["18"], ExperimentSize.SMOKE, AccountingMode.PAPER
    bench.show(*asked)
    (news,) = until_done(line)
    assert news.figure is not None
    assert not [*news.figure.results.items()]
    bench.estimate(*asked)
    *_, news = until_done(line)
    assert all(result.estimated for _, result in news.figure.results.items())
    bench.simulate(*asked)
    *moves, news = until_done(line)
    assert all(not result.estimated for _, result in news.figure.results.items())
    assert any(move.share is not None for move in moves)


@pytest.mark.deep  # takes seconds
def test_one_configuration(told) -> None:
    bench, line = told
    bench.one(SMALL.estimated())
    (configuration, result) = next(n.made for n in until_done(line) if n.made)
    assert configuration == SMALL.estimated()
    assert result.estimated
    bench.one(SMALL)
    (_, result) = next(n.made for n in until_done(line) if n.made)
    assert "matches" in result.check
    bench.one(WRONG)
    assert any(n.wrong and "must stay outside" in n.text for n in until_done(line))


@pytest.mark.deep  # takes seconds
def test_of_several_estimates_in_line_the_last_counts(told) -> None:
    bench, line = told
    given = [Configuration("nested", "ikjl", (("density", x / 10),), "full") for x in range(1, 6)]
    for configuration in given:
        bench.one(configuration.estimated())
    made = [news.made for _ in given for news in until_done(line) if news.made]
    assert made[-1][0] == given[-1].estimated()
    assert len(made) < len(given)


def test_a_store_that_cannot_be_used_is_told(tmp_path) -> None:
    path = tmp_path / "runs.sqlite"
    path.write_bytes(b"no store" * 1000)
    line: queue.SimpleQueue[News] = queue.SimpleQueue()
    bench = FigureBench(line.put, path)
    news = line.get(timeout=WAIT)
    assert news.wrong
    bench.close()
