"""Why a design takes its cycles, in a sentence, and what would help: for the result bar."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent


class WhyBar(SessionComponent):
    """The answer, at most two changes with what they promise, and whether the last one held."""

    _esm = script("why/why_bar")
    _stylesheets = [style("why/why_bar")]
    part = "why"

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "apply", "text": str(text)}:
                self.backend.ask("apply_suggestion", text)
            case {"kind": "plain"}:
                self.backend.ask("set_machine", "default")
