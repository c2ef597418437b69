"""Running every preset, one after the other, as a visitor would press them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fuseloom_workbench.base.page_backend import PageBackend

PARTS = ("rail", "run", "trail", "status", "costs_look")
"""The compared parts."""


class PresetRuns:
    """Runs of all presets that have none; afterwards the design of before is shown again.

    What is expected to take long is left out, as Run would ask first.  It ends with the first run
    that fails or is cancelled, and when somebody goes to another problem.

    Parameters
    ----------
    backend : PageBackend
        Whose presets, and whose simulator.
    tell : callable
        Takes a sentence whenever there is something new to say.
    """

    def __init__(self, backend: PageBackend, tell: Callable[[str], None]) -> None:
        self._backend = backend
        self._tell = tell
        self._left: list[str] = []
        self._skipped: list[str] = []
        self._name = ""  # the preset that was asked for, or runs
        self._total = 0
        self._running = False
        self._before: dict[str, Any] | None = None  # the last answer before it was asked for
        self._problem = ""
        self._start = 0
        backend.want(*PARTS)
        backend.param.watch(lambda *_: self._redrawn(), "version")
        backend.runner.param.watch(lambda *_: self._ran(), "running")

    def start(self) -> None:
        """Begin; nothing happens while something runs."""
        rail, trail = self._backend.part("rail"), self._backend.part("trail")
        if self._name or self._backend.runner.running or rail is None or trail is None:
            return
        if not rail["presets"]:
            self._tell("This program has no presets: press Run.")
            return
        self._left = [p["name"] for p in rail["presets"] if p["estimated"]]
        self._skipped, self._total = [], len(self._left)
        self._problem, self._start = self._shown("costs_look", "problem"), trail["at"]
        self._next()

    def _shown(self, part: str, name: str) -> Any:
        return (self._backend.part(part) or {}).get(name)

    def _next(self) -> None:
        if not self._left:
            long = f"; {', '.join(self._skipped)} would take long: Run asks first"
            self._end(f"Every preset was run{long if self._skipped else ''}.")
            return
        self._name = self._left.pop(0)
        self._running = False
        self._before = self._backend.part("status")
        self._tell(f"Running preset {self._total - len(self._left)} of {self._total}: {self._name}")
        self._backend.ask("preset", self._name)

    def _redrawn(self) -> None:
        if not self._name or self._running:
            return
        if self._shown("costs_look", "problem") != self._problem:
            self._end("Running the presets has ended: another problem is shown.", back=False)
            return
        status = self._backend.part("status")
        if status is None or status == self._before:
            return
        chosen = next((p["name"] for p in self._shown("rail", "presets") if p["chosen"]), "")
        if not status["ok"] or chosen != self._name:
            self._end(f"Running the presets has ended before {self._name}.", back=False)
        elif self._shown("run", "question"):
            self._skipped.append(self._name)
            self._next()
        else:
            self._running = True
            self._backend.run()

    def _ran(self) -> None:
        runner = self._backend.runner
        if not self._name or not self._running or runner.running:
            return
        if runner.failed or runner.status == "cancelled":
            self._end(f"Running the presets has ended at {self._name}.", back=False)
        else:
            self._next()

    def _end(self, said: str, back: bool = True) -> None:
        self._name = ""
        by = self._start - self._shown("trail", "at")
        if back and by < 0:
            self._backend.ask("travel", by)
        self._tell(said)
