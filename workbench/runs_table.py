"""Every configuration run so far, here or by others, as a table to go back from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.assets import script, style
from workbench.component import SessionComponent


class RunsTable(SessionComponent):
    """Runs with cycles, speed-up, work and check; a click goes to a configuration."""

    _esm = script("runs_table")
    _stylesheets = [style("runs_table")]
    part = "runs"

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "recall", "number": int(number)}:
                self.desk.ask("recall", number)
            case {"kind": "take", "key": str(key)}:
                self.desk.ask("take_kept", key)
