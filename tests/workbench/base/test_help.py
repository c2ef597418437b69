"""The glossary is whole, used, true to its sources, and sent once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fuseloom_workbench.base.component import SessionComponent
from fuseloom_workbench.base.glossary import ROWS
from fuseloom_workbench.base.help import QUANTITIES, Quantity, marked, texts
from fuseloom_workbench.costs.costs_panel import CostsPanel
from fuseloom_workbench.costs.export import comparison_html
from fuseloom_workbench.running.run_panel import RunPanel
from fuseloom_workbench.shell.top_bar import TopBar
from fuseloom_workbench.state.session import Session

from ..outcomes import outcome

ROOT = Path(__file__).parent.parent.parent.parent
PAPERS = Path("/work/shared/papers")
FILES = [
    path
    for kind in ("*.js", "*.py")
    for path in sorted((ROOT / "workbench").rglob(kind))
    if path.name != "glossary.py"
]
TEXTS = [path.read_text("utf-8") for path in FILES]
_LITERAL = re.compile(r"['\"]([a-z_]+\.[a-z_]+)['\"]")
_MARK = re.compile(
    r"(?:data-help'?[:,]|\bhelp:|dataset\.help =|marked\() *(?:[\w.!&| ]+\? )?['\"]([\w.]+)['\"]"
)
MARKED = {key for text in TEXTS for key in _MARK.findall(text)}
USED = MARKED | {key for text in TEXTS for key in _LITERAL.findall(text)}
EVERY = list(QUANTITIES.values())


@pytest.mark.parametrize("one", EVERY, ids=lambda one: one.key)
def test_an_entry_is_whole(one: Quantity) -> None:
    assert re.fullmatch(r"[a-z_]+(\.[a-z_]+)?", one.key)
    assert all((one.name, one.unit, one.sentence, one.formula, one.source))
    assert one.name[0].isupper()
    assert one.sentence.endswith(".")
    assert not one.formula.endswith(".")
    assert len(one.sentence) + len(one.formula) < 400, "a card is read at a glance"


def test_names_and_keys_are_told_apart() -> None:
    assert len({one.name for one in EVERY}) == len(EVERY)
    assert len(ROWS) == len(EVERY)


@pytest.mark.parametrize("one", EVERY, ids=lambda one: one.key)
def test_an_entry_is_used(one: Quantity) -> None:
    assert one.key in USED, "nothing shows it"


def test_whatever_is_asked_about_is_in_the_glossary() -> None:
    """The keys behind ``data-help`` or ``help:``, and all that look like one, have an entry."""
    first = {key.partition(".")[0] for key in QUANTITIES if "." in key}
    asked = MARKED | {key for key in USED if key.partition(".")[0] in first}
    assert len(asked) > 40
    assert asked <= QUANTITIES.keys()


@pytest.mark.parametrize("one", EVERY, ids=lambda one: one.key)
def test_its_sources_are_there(one: Quantity) -> None:
    for source in one.sources:
        if source.startswith("FuseFlow "):
            assert re.fullmatch(r"FuseFlow \u00a7\d(\.\d)?", source)
            continue
        file, _, heading = source.partition(" § ")
        places = [root / file for root in (ROOT, ROOT / "engine", ROOT / "workbench")]
        assert any(place.is_file() for place in places), file
        if file.startswith("docs/"):
            assert heading, "a document is named with its section"
            assert f"# {heading}\n" in (ROOT / file).read_text("utf-8"), source


def test_sections_of_the_paper_are_there() -> None:
    found = [p for p in PAPERS.glob("*.txt") if "# FuseFlow:" in p.read_text("utf-8")[:200]]
    if not found:
        pytest.skip(f"the paper is not in {PAPERS}")
    text = found[0].read_text("utf-8")
    sections = set(re.findall(r"^#+ (\d(?:\.\d)?) ", text, re.MULTILINE))
    named = {s.partition("§")[2] for one in EVERY for s in one.sources if s.startswith("FuseFlow")}
    assert len(named) > 4
    assert named <= sections


def test_a_mark_names_a_quantity() -> None:
    assert marked("flops") == "data-help='flops'"
    with pytest.raises(KeyError):
        marked("warp")


class Heard(RunPanel):
    """A component that keeps what it sends."""

    def __init__(self, *arguments: object) -> None:
        self.sent: list[dict] = []
        super().__init__(*arguments)

    def _send_msg(self, data: dict) -> None:
        self.sent.append(data)


def test_a_page_asks_for_the_texts_and_gets_them_once() -> None:
    panel = Heard(Session("spmv"))
    assert not panel.sent
    panel.receive({"kind": "help"})
    assert panel.sent == [{"kind": "help", "texts": texts()}]
    panel.session.undo()
    assert len(panel.sent) == 1
    for component in (RunPanel, CostsPanel, TopBar):
        assert issubclass(component, SessionComponent)
        assert "function helpBackend()" in component._esm
        assert EVERY[0].sentence not in component._esm, "texts come once, not with each script"


def test_a_saved_page_has_them_too() -> None:
    session = Session("gcn", "karate")
    session.finish(session.built, outcome(14_000, session=session))
    page = comparison_html(session)
    assert page.count(EVERY[0].sentence) == 1
