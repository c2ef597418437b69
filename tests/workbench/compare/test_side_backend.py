"""The page backend of the left design: the parts it has alone, and requests that only look."""

from __future__ import annotations

import json

from fuseloom_workbench.base.page_backend import LocalBackend
from fuseloom_workbench.base.parts import PARTS
from fuseloom_workbench.compare.side_backend import SideBackend
from fuseloom_workbench.state.session import Session


def test_parts_of_the_left_design_are_those_it_has_alone():
    session = Session("gcn", "karate")
    backend = LocalBackend(session)
    left = SideBackend(backend)
    left.want("table", "timeline", "selection")
    assert left.parts == {}, "there is nothing on the left"
    backend.ask("compare", "preset full")
    other = Session("gcn", "karate")
    other.preset("full")
    for name in ("table", "timeline", "selection"):
        assert left.part(name) == json.loads(json.dumps(PARTS[name](other))), name
    left.ask("select_cell", "A", "k")
    assert left.part("selection")["cell"] == ["A", "k"]
    assert backend.part("selection") is None or session.cell == ("", "")
    left.ask("undo")
    assert session.travels == (False, False)
