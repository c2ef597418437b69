"""Answers to questions that change nothing of the design, and the sizes of what is taken."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import param

from fuseloom.errors import ProgramError
from fuseloom.wording import counted

if TYPE_CHECKING:
    from fuseloom_workbench.state.design import Design


def digest(problem: str) -> str:
    """A short name of program, data and machine, or of a configuration."""
    return sha256(problem.encode()).hexdigest()[:24]


class Answered(param.Parameterized):
    """The part of a session that holds what was answered last."""

    verdict = param.Dict({}, doc="Why a schedule is not the best: fate, sentence and numbers.")
    checked = param.Dict({}, doc="What is wrong with a text that is being written, and where.")
    received = param.Dict({}, doc="The file that came last: how much of it, what became of it.")
    mapped = param.Parameter(None, doc="The built design whose pairs of moves are mapped.")
    most_text = param.Integer(100_000, doc="Characters of a program or schedule.")
    most_statements = param.Integer(250, doc="Statements of an edited program.")
    most_nodes = param.Integer(1 << 31, doc="Nodes of a graph that is drawn.")
    most_file = param.Integer(64 << 20, doc="Bytes of a file from the page.")
    arriving = param.Parameter(None, doc="The file on its way, of :mod:`fuseloom_workbench.input`.")
    graph_text = param.Parameter((), doc="A graph that waits for its operands.")

    def bounded(self, text: str) -> None:
        """Refuse a text that is too long."""
        if len(text) > self.most_text:
            raise ProgramError(
                f"a text of {counted(len(text), 'character')}",
                hint=f"at most {self.most_text:,} here",
            )

    def check_size(self, design: Design) -> None:
        """Refuse programs that are too long to be drawn."""
        if design.text is None and not design.options:
            return
        self.bounded(design.text or "")
        program = design.source.model.program
        if len(program.statements) > self.most_statements:
            raise ProgramError(
                f"a program of {counted(len(program.statements), 'statement')}",
                hint=f"at most {self.most_statements:,} here; the command line takes longer ones",
            )
