"""The log: one line per event, for people or programs."""

from __future__ import annotations

import json
import logging
import sys

from fuseloom_workbench.service.journal import Json, Text, log, note


def records(caplog):
    with caplog.at_level(logging.INFO, logger="fuseloom"):
        note("page_opened", page=3, text='a "quoted"\nline')
        try:
            raise ValueError("bad")
        except ValueError:
            log.error("fault", exc_info=sys.exc_info())
    return caplog.records


def test_each_event_is_a_json_object_on_a_line(caplog):
    lines = [Json().format(record) for record in records(caplog)]
    assert all("\n" not in line for line in lines)
    first, second = map(json.loads, lines)
    assert (first["event"], first["page"], first["level"]) == ("page_opened", 3, "info")
    assert "ValueError: bad" in second["traceback"]


def test_people_read_names_and_values(caplog):
    assert "page_opened page=3" in Text().format(records(caplog)[0])
