"""Pages are made in turn, and what is equal for all of them is found once."""

from __future__ import annotations

import asyncio
import gc
import time

import pytest
from bokeh.document import Document
from bokeh.embed.bundle import Bundle
from bokeh.models import Div
from bokeh.resources import Resources
from bokeh.settings import settings

from fuseloom_workbench.serving import opening
from tests.waiting import until_async


def test_pages_are_made_one_after_another_and_others_are_served_between(monkeypatch):
    monkeypatch.setattr(opening, "PAUSE", 0.05)
    events = []

    async def scenario():
        pages = opening.InTurn()

        async def page(number):
            await pages.on_session_created(None)
            events.append(number)
            time.sleep(0.01)  # what blocks while a page is made
            pages.modify_document(Document())

        async def other():
            for _ in range(30):
                events.append("served")
                await asyncio.sleep(0.01)

        await asyncio.gather(other(), *(page(k) for k in range(4)))

    asyncio.run(scenario())
    assert [e for e in events if e != "served"] == [0, 1, 2, 3]
    for k in range(3):
        assert "served" in events[events.index(k) : events.index(k + 1)]


def test_resources_are_found_once_and_nobody_can_spoil_them():
    asked = []

    def find(roots, resources, **more):
        asked.append(more)
        return Bundle(js_files=["a.js"], js_raw=[])

    found = opening.remembering(find)
    resources = Resources(mode="cdn")
    first = found([Div()], resources)
    first.js_raw.append("of the first page")
    second = found([Div()], resources)
    assert second.js_raw == []
    assert second.js_files == ["a.js"]
    assert len(asked) == 1
    found([Div()], resources, notebook=True)
    found([], resources)
    assert len(asked) == 3


@pytest.mark.deep  # takes seconds
def test_a_rehearsal_makes_a_page_and_leaves_nothing_to_collect():
    before = settings.perform_document_validation()
    try:
        opening.rehearse()
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
        settings.perform_document_validation = before


def test_what_closed_pages_held_is_given_back_once_for_all_that_close_together(monkeypatch):
    monkeypatch.setattr(opening, "TIDY", 0.02)
    collected = []
    monkeypatch.setattr(opening.gc, "collect", lambda: collected.append("all"))

    async def scenario():
        pages = opening.InTurn()
        for _ in range(3):
            await pages.on_session_destroyed(None)
        assert not collected
        await until_async(lambda: collected, "what the pages held is given back")
        assert len(collected) == 1
        await pages.on_session_destroyed(None)
        await until_async(lambda: len(collected) > 1, "what the page held is given back")

    asyncio.run(scenario())
    assert len(collected) == 2
