"""Every configuration run so far, as a table to go back from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.assets import script, style
from workbench.component import SessionComponent


class RunsTable(SessionComponent):
    """Runs with cycles, speed-up, work and check; a click goes back to a configuration."""

    _esm = script("runs_table")
    _stylesheets = [style("runs_table")]
    part = "runs"

    def handle(self, request: Mapping[str, Any]) -> None:
        number = request.get("number")
        if request["kind"] == "recall" and isinstance(number, int):
            self.desk.ask("recall", number)
