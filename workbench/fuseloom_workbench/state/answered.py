"""Answers to questions that change nothing of the design, as plain data."""

from __future__ import annotations

from hashlib import sha256

import param


def digest(problem: str) -> str:
    """A short name of program, data and machine, or of a configuration."""
    return sha256(problem.encode()).hexdigest()[:24]


class Answered(param.Parameterized):
    """The part of a session that holds what was answered last."""

    verdict = param.Dict({}, doc="Why a schedule is not the best: fate, sentence and numbers.")
    checked = param.Dict({}, doc="What is wrong with a text that is being written, and where.")
    received = param.Dict({}, doc="The file that came last: how much of it, what became of it.")
    most_file = param.Integer(64 << 20, doc="Bytes of a file from the page.")
    arriving = param.Parameter(None, doc="The file on its way, of :mod:`fuseloom_workbench.input`.")
    graph_text = param.Parameter((), doc="A graph that waits for its operands.")
