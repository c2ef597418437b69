"""The form of a network: what it is, how it is contracted, and what its nests must be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent


class QuestionForm(SessionComponent):
    """Einsum string, sizes, tree, data, bounds with their verdicts, pins.

    Examples
    --------
    >>> from fuseloom_workbench.networks.backend import NetworkDesk
    >>> backend = NetworkDesk()
    >>> form = QuestionForm(backend)
    >>> form.handle({"kind": "change", "changes": {"density": 2}})
    >>> form.status["message"]
    'a density is above 0 and at most 1. Write e.g. 0.1.'
    >>> backend.close()
    """

    _esm = script("networks/question_form")
    _stylesheets = [style("networks/question_form")]
    part = "question"
    topics = ("network",)

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "change", "changes": dict(changes)}:
                self.backend.ask("change", changes)
            case {"kind": "shipped", "name": str(name)}:
                self.backend.ask("shipped", name)
            case {"kind": "undo" | "pareto" as what}:
                self.backend.ask(what)
            case {"kind": "cancel"}:
                self.backend.cancel()
