"""The panels of a design's input: formats, sizes, files, machine."""

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


class SizesPanel(SessionComponent):
    """A form of the model's numbers; what the engine refuses is answered here.

    Examples
    --------
    >>> panel = SizesPanel()
    >>> panel.handle({"kind": "use", "values": {"hidden": "8"}})
    >>> panel.session.design.options
    (('hidden', 8),)
    """

    _esm = script("input/sizes_panel")
    _stylesheets = [style("input/sizes_panel")]
    topics = ("sizes",)
    part = "sizes"

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "use", "values": dict(values)}:
                self.backend.ask("set_options", values)
            case {"kind": "own"}:
                self.backend.ask("set_options", {})


class UploadPanel(SessionComponent):
    """A place to drop a file, what became of it, and which inputs come from files."""

    _esm = script("input/upload_panel")
    _stylesheets = [style("input/upload_panel")]
    topics = ("input",)
    part = "upload"

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "begin", "number": number, "name": name, "size": size}:
                self._ask("upload_begin", number, name, size)
            case {"kind": "part", "number": number, "at": at, "data": data}:
                self._ask("upload_part", number, at, data)
            case {"kind": "cancel"}:
                self._ask("upload_cancel")
            case {"kind": "bind", "tensor": tensor, "key": key, "label": label}:
                self._ask("bind", tensor, key, label)
            case {"kind": "unbind", "tensor": tensor}:
                self._ask("unbind", tensor)

    def _ask(self, name: str, *arguments: Any) -> None:
        if known(name, arguments):
            self.backend.ask(name, *arguments)


class MachinePanel(SessionComponent):
    """The choice of a machine; what the engine refuses is answered here.

    Examples
    --------
    >>> panel = MachinePanel()
    >>> panel.handle({"kind": "preset", "name": "hbm2"})
    >>> panel.session.machine.name
    'hbm2'
    """

    _esm = script("input/machine_panel")
    _stylesheets = [style("input/machine_panel")]
    topics = ("machine",)
    part = "machine"

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "preset", "name": str(name)}:
                self.backend.ask("set_machine", name)
            case {"kind": "capacity", "tokens": str(text)}:
                self.backend.ask("set_capacity", text)
            case {"kind": "field", "path": str(path), "text": str(text)}:
                if known("set_machine_field", [path, text]):
                    self.backend.ask("set_machine_field", path, text)
            case {"kind": "apply", "text": str(text)}:
                self.backend.ask("set_machine", text)
