"""The formats of the program's tensors: a menu per level, and the order of the modes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent
from fuseloom_workbench.state.commands import known


class FormatsPanel(SessionComponent):
    """A form of formats; what the engine refuses is answered beside the tensor.

    Examples
    --------
    >>> panel = FormatsPanel()
    >>> request = {"levels": ["dense", "compressed"], "order": [0, 1]}
    >>> panel.handle({"kind": "format", "tensor": "A", **request})
    >>> panel.session.built.program.tensor("A").format.levels[0].value
    'dense'
    """

    _esm = script("input/formats_panel")
    _stylesheets = [style("input/formats_panel")]
    topics = ("input",)
    part = "formats"

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "format", "tensor": tensor, "levels": levels, "order": order}:
                if known("set_format", [tensor, levels, order]):
                    self.backend.ask("set_format", tensor, levels, order)
