"""The panels of the page of deep fusion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import param

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent


class KernelsPanel(SessionComponent):
    """A panel whose requests are those of the page's backend, by their kind."""

    __abstract = True

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "change", "changes": dict(changes)}:
                self.backend.ask("change", changes)
            case {"kind": "pick", "kernel": str(kernel), "schedule": schedule}:
                self.backend.ask("pick", kernel, schedule)
            case {"kind": "frame" | "kernel" | "operation" as what, "name": str(name)}:
                self.backend.ask(what, name)
            case {"kind": "refusal", "number": int(number)}:
                self.backend.ask("refusal", number)
            case {"kind": "write", "number": int(number), "text": str(text)}:
                self.backend.ask("write", number, text)
            case {"kind": "time" | "measure" | "undo" as what}:
                self.backend.ask(what)
            case {"kind": "cancel"}:
                self.backend.cancel()


class SelectingPanel(KernelsPanel):
    """A panel that also shows what is selected.

    That is a parameter of its own, so that a click does not send the drawing of a large module
    again.
    """

    selected = param.Dict({}, doc="The kernel, the operation, and the number of the refusal.")
    more = ("selected",)

    __abstract = True

    def changes(self) -> dict[str, Any]:
        changes = super().changes()
        selected = self.backend.part("selected")
        if selected is not None and selected != self.selected:
            changes["selected"] = selected
        return changes


class KernelsForm(KernelsPanel):
    """Module, products, layers with calls, frame.

    Examples
    --------
    >>> from fuseloom_workbench.kernels.backend import KernelsBackend
    >>> backend = KernelsBackend()
    >>> form = KernelsForm(backend)
    >>> form.handle({"kind": "change", "changes": {"shared_memory": 1}})
    >>> form.status["message"]
    'shared memory is an integer from 256 to 65,536 bytes, not 1'
    >>> backend.close()
    """

    _esm = script("kernels/kernels_form")
    _stylesheets = [style("base/form")]
    part = "fusing"
    topics = ("kernels",)


class ModuleText(KernelsPanel):
    """The HLO text of the module, read while it is written, or taken from a file.

    Examples
    --------
    >>> from fuseloom_workbench.kernels.backend import KernelsBackend
    >>> backend = KernelsBackend()
    >>> backend.wait()
    >>> ModuleText(backend).view["text"].split(",")[0]
    'HloModule jit_attention'
    >>> backend.close()
    """

    _esm = script("base/marked_text", "kernels/module_text")
    _stylesheets = [style("input/text_editor", "kernels/module_text")]
    part = "module_text"


class LayeredGraph(SelectingPanel):
    """Layers, kernels and operations, and what was not fused.

    Examples
    --------
    >>> from fuseloom_workbench.kernels.backend import KernelsBackend
    >>> backend = KernelsBackend()
    >>> backend.wait()
    >>> [kernel["count"] for kernel in LayeredGraph(backend).view["kernels"]]
    [14]
    >>> backend.close()
    """

    _esm = script(
        "base/units", "kernels/operation_layout", "kernels/span_overview",
        "kernels/operation_graph", "kernels/kernel_details", "kernels/layered_graph",
    )  # fmt: skip
    _stylesheets = [style("kernels/kernel_colours", "kernels/layered_graph")]
    part = "layers"


class SchedulePicker(KernelsPanel):
    """Every schedule of a kernel's root: whether it fits, its blocks, buffers and times.

    Examples
    --------
    >>> from fuseloom_workbench.kernels.backend import KernelsBackend
    >>> backend = KernelsBackend()
    >>> backend.wait()
    >>> [row["blocks"] for row in SchedulePicker(backend).view["rows"] if row["current"]]
    [512]
    >>> backend.close()
    """

    _esm = script("base/units", "kernels/schedule_picker")
    _stylesheets = [style("kernels/schedule_picker")]
    part = "schedules"


class SharedMemoryMap(SelectingPanel):
    """The buffers of a kernel over its phases, below a limit that can be moved.

    Examples
    --------
    >>> from fuseloom_workbench.kernels.backend import KernelsBackend
    >>> backend = KernelsBackend()
    >>> backend.wait()
    >>> [one["shares"] for one in SharedMemoryMap(backend).view["buffers"]][2:]
    ['reduce_max.7', 'exp.1']
    >>> backend.close()
    """

    _esm = script(
        "base/units", "base/scales", "kernels/operation_layout", "kernels/memory_map"
    )  # fmt: skip
    _stylesheets = [style("base/form", "kernels/memory_map")]
    part = "shared_memory"
    topics = ("kernels",)


class KernelCodes(SelectingPanel):
    """A kernel in each language.

    Examples
    --------
    >>> from fuseloom_workbench.kernels.backend import KernelsBackend
    >>> backend = KernelsBackend()
    >>> backend.wait()
    >>> [code["title"] for code in KernelCodes(backend).view["codes"]]
    ['C', 'CUDA C', 'Triton']
    >>> backend.close()
    """

    _esm = script("kernels/kernel_codes")
    _stylesheets = [style("kernels/kernel_codes")]
    part = "codes"


class KernelCounts(KernelsPanel):
    """Kernels and bytes: unfused, by XLA's rules of 2018, by deep fusion.

    Examples
    --------
    >>> from fuseloom_workbench.kernels.backend import KernelsBackend
    >>> backend = KernelsBackend()
    >>> backend.wait()
    >>> {name: row["kernels"] for name, row in KernelCounts(backend).view["whole"].items()}
    {'unfused': 9, 'baseline': 4, 'fused': 1}
    >>> backend.close()
    """

    _esm = script("base/units", "kernels/kernel_counts")
    _stylesheets = [style("kernels/kernel_counts")]
    part = "kernel_counts"


class EndToEndView(KernelsPanel):
    """The speed-up of a whole model by that of its kernels that can be fused.

    Examples
    --------
    >>> from fuseloom_workbench.kernels.backend import KernelsBackend
    >>> backend = KernelsBackend()
    >>> EndToEndView(backend).view["measured"] is None
    True
    >>> backend.close()
    """

    _esm = script("base/units", "base/scales", "kernels/end_to_end")
    _stylesheets = [style("base/form", "kernels/end_to_end")]
    part = "end_to_end"
