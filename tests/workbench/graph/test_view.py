"""A drawing as plain data."""

from __future__ import annotations

import json

from fuseloom_workbench.graph import layout, view


def test_everything_drawn_has_its_place(session):
    session.fold({"k:T2": True})
    picture = view.GraphPicture(layout.draw(view.dot(session), "places"))
    made = view.view(session, picture)
    assert set(made["boxes"]) == {"k:T2"}
    box = made["boxes"]["k:T2"]
    drawn = set(made["nodes"]) - set(box["members"])
    assert set(made["places"]) == drawn | {"k:T2"}
    assert {made["nodes"][key]["box"] for key in box["members"]} == {"k:T2"}
    assert all(line["path"].startswith("M") for line in made["lines"])
    assert sum(len(x["of"]) for x in made["lines"]) + box["inside"] == len(
        session.current.graph.streams
    )
    wide, tall = made["size"]
    for x, y, w, h in made["places"].values():
        assert x - w / 2 >= 0
        assert x + w / 2 <= wide
        assert y - h / 2 >= 0
        assert y + h / 2 <= tall
    assert len({node["same"] for node in made["nodes"].values()}) == len(made["nodes"])
    json.dumps(made)


def test_a_drawing_that_failed_or_was_cancelled_says_so(session):
    assert view.view(session, view.GraphPicture(problem="too large"))["size"] is None
    wanted = view.wanted(session)
    assert (wanted["nodes"], wanted["stopped"]) == (38, False)
    session.stop_drawing(wanted["key"])
    assert view.stopped(session)
    session.draw_again(wanted["key"])
    assert not view.stopped(session)
