"""The page of the fusion explorer: the components on one session, in reading order."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui
from panel.util import edit_readonly

from workbench.assets import style
from workbench.connection import Connection
from workbench.cost_plot import CostPlot
from workbench.data_label import DataLabel
from workbench.desk import Desk, desk_of
from workbench.fusion_chain import FusionChain
from workbench.graph_view import GraphView
from workbench.machine_panel import MachinePanel
from workbench.memory_panel import MemoryPanel
from workbench.node_details import NodeDetails
from workbench.orders_panel import OrdersPanel
from workbench.path_panel import PathPanel
from workbench.run_panel import RunPanel
from workbench.session import Session
from workbench.sizes_panel import SizesPanel
from workbench.table_grid import FusionTableGrid
from workbench.text_editor import TextEditor
from workbench.utilisation import Utilisation
from workbench.views.choices import OWN

TITLE = "Fuseloom · fusion explorer"
HINT = """
<details open>
<summary>How to explore, in three steps</summary>
<ol>
<li><b>Fuse.</b> Drag a red bar to change which kernels are fused; click between two kernels to
cut there.</li>
<li><b>Order.</b> Choose a dataflow order, or drag a row of the fusion table.</li>
<li><b>Run.</b> Choose a machine and press Run: the simulator counts cycles, checks the result
and shows below where the cycles went.</li>
</ol>
</details>
"""
CAPTIONS = {
    "chain": "Kernels between two red bars run as one fused region; what crosses a bar goes "
    "through memory.",
    "table": "One row per index, outermost first; one column per use of a tensor. Each cell "
    "becomes a primitive of the machine.",
    "why": "Of the region shown, in the last run of this configuration.",
}
STARTING = {
    "model": "gcn",
    "models": ["gcn"],
    "data": "karate",
    "datas": ["karate"],
    "preset": "partial",
    "presets": ["partial"],
}
"""What the toolbar shows before the engine is loaded."""
_DENSE = {"MuiToolbar": {"defaultProps": {"variant": "dense"}}}
THEME = {
    "light": {
        "palette": {"primary": {"main": "#0b5cb8", "contrastText": "#ffffff"}},
        "components": _DENSE,
    },
    "dark": {
        "palette": {"primary": {"main": "#7db8ff", "contrastText": "#10161d"}},
        "components": {
            **_DENSE,
            "MuiAppBar": {
                "styleOverrides": {
                    "root": {
                        "backgroundColor": "#1b2733",
                        "backgroundImage": "none",
                        "& button": {"color": "#ffffff"},
                    }
                }
            },
        },
    },
}


def explorer(shown: Session | Desk | None = None) -> pmui.Page:
    """The page, on a session of its own unless one is given."""
    session = desk_of(shown if shown is not None else Session("gcn", "karate"))
    run = RunPanel(session)
    tabs = pmui.Tabs(
        ("Graph", GraphView(session)),
        ("Costs", CostPlot(session)),
        ("Program text", TextEditor(session, what="program")),
        ("Schedule text", TextEditor(session, what="schedule")),
        dynamic=False,
        sizing_mode="stretch_width",
    )
    why = pmui.Tabs(
        ("Critical path", PathPanel(session)),
        ("Utilisation over time", Utilisation(session)),
        ("Memory", MemoryPanel(session)),
        dynamic=False,
        sizing_mode="stretch_width",
    )
    left = pn.Column(
        _card("2  Order and fusion table", CAPTIONS["table"], FusionTableGrid(session)),
        _card("Details", None, NodeDetails(session)),
        sizing_mode="stretch_width",
        styles={"flex": "2.4 1 560px", "min-width": "0", "gap": "12px"},
    )
    right = _card("Orders", None, OrdersPanel(session), flex="1 1 330px")
    page = pmui.Page(
        title=TITLE,
        main=[
            pn.Column(
                _hint(),
                _toolbar(session, run),
                DataLabel(session),
                SizesPanel(session),
                MachinePanel(session),
                _card("1  Kernels and fusion", CAPTIONS["chain"], FusionChain(session)),
                _wrapping(left, right, align="start"),
                _card("3  Graph, costs and texts", None, tabs),
                _card("4  Where the cycles went", CAPTIONS["why"], why),
                Connection(session, height=0, margin=0),
                sizing_mode="stretch_width",
                styles={"gap": "12px", "padding": "12px 16px"},
            )
        ],
        theme_config=THEME,
        busy_indicator=None,
    )
    forget_busy(page)
    return page


def forget_busy(page: pmui.Page) -> None:
    """Let the page not follow a flag that all sessions of the server share.

    It would change its document while another session holds the lock; and whoever watches the flag
    is kept in memory by it, with all its session, for ever.
    """
    with edit_readonly(page):
        page.busy = False
    for watcher in list(pn.state.param.watchers.get("busy", {}).get("value", ())):
        if getattr(getattr(watcher.fn, "__self__", None), "self", None) is page:
            pn.state.param.unwatch(watcher)


def _card(title: str, caption: str | None, content: Any, flex: str = "none") -> pn.Column:
    # plain HTML: a page of Material components takes several times as long to open
    note = f"<p>{escape(caption)}</p>" if caption else ""
    heading = pn.pane.HTML(
        f"<h2>{escape(title)}</h2>{note}",
        stylesheets=[style("card")],
        sizing_mode="stretch_width",
        margin=0,
    )
    return pn.Column(
        heading,
        content,
        sizing_mode="stretch_width",
        margin=0,
        stylesheets=[style("frame")],
        styles={"flex": flex, "min-width": "0"},
    )


def _wrapping(*parts: Any, align: str) -> pn.Row:
    """Parts beside each other, or below where there is no room."""
    for part in parts:
        part.align = align
    return pn.Row(*parts, sizing_mode="stretch_width", styles={"flex-wrap": "wrap", "gap": "12px"})


def _hint() -> pn.pane.HTML:
    return pn.pane.HTML(HINT, stylesheets=[style("hint")], sizing_mode="stretch_width", margin=0)


def _button(label: str, icon: str, action: Callable[[], None]) -> pmui.Button:
    return pmui.Button(
        label=label, icon=icon, variant="outlined", on_click=lambda _: action(), margin=0
    )


def _resend(widget: Any) -> None:
    """Tell the browser a value that is not new here.

    An older value may have been under way to it while the visitor chose this one, and have
    replaced it there, or in the model, which takes over a choice some time before the widget does.
    """
    for model, _ in list(widget._models.values()):
        if model.data.value != widget.value:
            model.data.value = widget.value
        else:
            model.data.trigger("value", widget.value, widget.value)


def _toolbar(desk: Desk, run: RunPanel) -> pn.Row:
    desk.want("choices")
    start = desk.part("choices") or STARTING
    model = pmui.Select(
        label="Model", value=start["model"], options=start["models"], width=120, margin=0
    )
    data = pmui.Select(
        label="Data", value=start["data"], options=start["datas"], width=120, margin=0
    )
    preset = pmui.RadioButtonGroup(
        label="Preset", margin=0, value=start["preset"], options=start["presets"]
    )
    undo = _button("Undo", "undo", lambda: desk.ask("undo"))
    redo = _button("Redo", "redo", lambda: desk.ask("redo"))
    showing = [False]
    touched: set[Any] = set()

    def show(*_: Any) -> None:
        """Bring the widgets in line without taking their change for a request."""
        now = desk.part("choices")
        if now is None:
            return
        showing[0] = True
        try:
            for widget, options, value in (
                (model, "models", "model"),
                (data, "datas", "data"),
                (preset, "presets", "preset"),
            ):
                if widget.options != now[options] or widget.value != now[value]:
                    widget.param.update(options=now[options], value=now[value])
                if widget in touched:
                    _resend(widget)
            undo.disabled, redo.disabled = not now["undo"], not now["redo"]
        finally:
            showing[0] = False

    def ask(name: str) -> Any:
        def on_change(event: Any) -> None:
            if not showing[0] and event.new and event.new != OWN:
                touched.add(event.obj)
                desk.ask(name, event.new)

        return on_change

    model.param.watch(ask("choose"), "value")
    data.param.watch(ask("choose_data"), "value")
    preset.param.watch(ask("preset"), "value")
    desk.param.watch(show, "turn")
    show()
    run.styles = {"flex": "1 1 420px"}
    return _wrapping(model, data, preset, undo, redo, run, align="center")
