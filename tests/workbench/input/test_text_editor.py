"""Editors of programs and schedules."""

from __future__ import annotations

from fuseloom_workbench.input.text_editor import TextEditor


def test_editors_apply_and_answer_in_place(session):
    program, schedule = TextEditor(session), TextEditor(session, what="schedule")
    schedule.handle({"kind": "apply", "text": "fuse T1..Y"})
    assert schedule.answer["ok"]
    assert session.built.preset_name == "full"
    text = program.view["text"].replace("T2[i,n] = T1", "T2[i,n] = T9")
    program.handle({"kind": "apply", "text": text})
    assert not program.answer["ok"]
    assert text.splitlines()[program.answer["line"] - 1].startswith("T2")
