"""The panels of the page of all systems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent
from fuseloom_workbench.input.panels import UploadPanel


class SystemsPanel(SessionComponent):
    """A panel whose requests are those of the page's backend, by their kind."""

    __abstract = True

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "change", "changes": dict(changes)}:
                self.backend.ask("change", changes, request.get("draft"))
            case {"kind": "compare", "changes": dict(changes)}:
                self.backend.ask("compare", changes, request.get("again") is True)
            case {"kind": "write", "number": int(number), "text": str(text)}:
                self.backend.ask("write", number, text)
            case {"kind": "undo"}:
                self.backend.ask("undo")
            case {"kind": "cancel"}:
                self.backend.cancel()


class ComparedProgramForm(SystemsPanel):
    """The program, its text, the seed of its data, and the buttons that begin and end a comparison.

    Examples
    --------
    >>> from fuseloom_workbench.systems.backend import SystemsBackend
    >>> backend = SystemsBackend()
    >>> form = ComparedProgramForm(backend)
    >>> form.handle({"kind": "change", "changes": {"seed": -1}})
    >>> form.status["message"]
    "a seed is an integer from 0 to 2,147,483,647, not '-1'. Write e.g. 0."
    >>> backend.close()
    """

    _esm = script("base/marked_text", "systems/program_form")
    _stylesheets = [style("base/form", "input/text_editor", "systems/program_form")]
    part = "systems_form"
    topics = ("systems",)


class ProgramFilePanel(UploadPanel):
    """A place to drop a file with a program, and what became of it.

    Examples
    --------
    >>> from fuseloom_workbench.systems.backend import SystemsBackend
    >>> backend = SystemsBackend()
    >>> panel = ProgramFilePanel(backend)
    >>> panel.handle({"kind": "begin", "number": 1, "name": "a.loom", "size": 2**30})
    >>> panel.view["received"]["message"][:24]
    'a.loom: 1,024.0 MiB (hin'
    >>> backend.close()
    """

    part = "program_file"
    topics = ("program_file",)


class ComparisonTable(SystemsPanel):
    """A row for each system and scheme; one with the reason where a system does not apply.

    Examples
    --------
    >>> from fuseloom_workbench.systems.backend import SystemsBackend
    >>> backend = SystemsBackend()
    >>> [one["title"] for one in ComparisonTable(backend).view["systems"]]
    ['Dataflow', 'Contraction', 'Access', 'Calls', 'Stitch']
    >>> backend.close()
    """

    _esm = script("base/units", "base/scales", "systems/figures", "systems/comparison_table")
    _stylesheets = [style("systems/comparison_table")]
    part = "compared"


class ComparisonBars(SystemsPanel):
    """Kernels, bytes between kernels and arithmetic as bars, system by system.

    Examples
    --------
    >>> from fuseloom_workbench.systems.backend import SystemsBackend
    >>> backend = SystemsBackend()
    >>> ComparisonBars(backend).view["busy"]["text"]
    'reading'
    >>> backend.close()
    """

    _esm = script("base/units", "base/scales", "systems/figures", "systems/comparison_bars")
    _stylesheets = [style("systems/comparison_bars")]
    part = "compared"


class ComparedCommands(SystemsPanel):
    """The command of each system's rows, and its page where that can take the program.

    Examples
    --------
    >>> from fuseloom_workbench.systems.backend import SystemsBackend
    >>> backend = SystemsBackend()
    >>> backend.wait()
    >>> ComparedCommands(backend).view["command"]
    'fuseloom compare gcn_layer --seed 0'
    >>> backend.close()
    """

    _esm = script("systems/compared_commands")
    _stylesheets = [style("systems/compared_commands")]
    part = "compared"
