"""The consequences of the order of contractions and loops."""

from __future__ import annotations

import json

from fuseloom.contraction.shipped import shipped
from fuseloom.contraction.solution import Solution

PAPER = Solution(
    shipped("running example"),
    ("X1", "X2", "R"),
    {"X1": tuple("rjpqi"), "X2": tuple("rjqki"), "R": tuple("rjki")},
)


def test_layouts_and_workspaces_of_the_papers_figure_5() -> None:
    assert PAPER.modes["A"] == (1, 2, 0)  # A[p,q,i]
    assert PAPER.fused == {"X1": 2, "X2": 2}
    assert PAPER.orders == {"X1": 2, "X2": 2}
    assert PAPER.workspaces == {"X1": 5 * 7, "X2": 5 * 7}


def test_a_loop_that_what_stands_between_lacks_is_not_fused() -> None:
    loops = {"X1": tuple("jrpqi"), "X2": tuple("rjqki"), "R": tuple("rjki")}
    other = Solution(PAPER.tree, PAPER.sequence, loops)
    assert other.fused == {"X1": 0, "X2": 2}
    assert other.orders["X1"] == 4


def test_plain_data_and_text() -> None:
    told = json.loads(json.dumps(PAPER.to_dict()))
    assert told["loops"]["R"] == ["r", "j", "k", "i"]
    assert told["intermediates"]["X1"] == {"order": 2, "elements": 35}
    assert str(PAPER).splitlines()[0].startswith("for r,j,p,q,i: X1[")
