"""Formats of tensors as menus: each change is an edit of the program with undo."""

from __future__ import annotations

from fuseloom_workbench.input.formats_panel import FormatsPanel
from fuseloom_workbench.state.session import Session


def test_a_menu_per_level_changes_the_program():
    session = Session("gcn", "karate")
    panel = FormatsPanel(session)
    row = next(t for t in panel.view["tensors"] if t["name"] == "A")
    assert (row["role"], row["shape"], len(row["levels"])) == ("input", "34×34", 2)
    before = session.design
    dense = session.built.data["A"].to_dense()
    ask = {"kind": "format", "tensor": "A", "levels": ["dense", "compressed"], "order": [1, 0]}
    panel.handle(ask)
    assert session.ok, session.message
    made = session.built.program.tensor("A").format
    assert ([f.value for f in made.levels], made.mode_order) == (["dense", "compressed"], (1, 0))
    assert (session.built.data["A"].to_dense() == dense).all()
    assert "A: 34x34 csc" in session.design.text
    session.undo()
    assert session.design == before
    for levels, order, said in (
        (["dense"], [0, 1], "2 modes"),
        (["dense", "dense"], [0, 0], "each mode once"),
        (["dense", "hashed"], [0, 1], "hashed"),
        (["singleton", "singleton"], [0, 1], ""),
    ):
        panel.handle({**ask, "levels": levels, "order": order})
        assert not session.ok
        assert said in panel.status["message"]
        assert session.design == before
    count = session.answers
    panel.handle({**ask, "levels": "dense"})
    assert session.answers == count, "what is no request is not answered"
