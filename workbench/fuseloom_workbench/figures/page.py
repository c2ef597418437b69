"""The page of the paper's figures: ours beside the published ones, and what a change would do."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import panel as pn
import panel_material_ui as pmui

from fuseloom.experiments.claims import Claim
from fuseloom.experiments.configuration import Configuration
from fuseloom.experiments.driver import Figure
from fuseloom.experiments.jobs import schedule_text
from fuseloom.experiments.recipe import AccountingMode, ExperimentSize, Panel, Result
from fuseloom.experiments.registry import RECIPES
from fuseloom.experiments.report import cells, heading
from fuseloom.models import load_model
from fuseloom.models.nested import nested_in
from fuseloom.program import print_program
from fuseloom.wording import counted
from fuseloom_workbench.base.assets import style
from fuseloom_workbench.explorer import THEME, forget_busy
from fuseloom_workbench.figures.bench import FigureBench, News
from fuseloom_workbench.figures.form import widgets_of
from fuseloom_workbench.figures.plot import mark, moved, plot_of

TITLE = "Fuseloom · the paper's figures"
FIRST = "18"
Post = Callable[[Callable[[], None]], None]


class FiguresPage(pn.viewable.Viewer):
    """One visitor's page.

    Parameters
    ----------
    store : Path, optional
        File of the runs.
    post : callable, optional
        Calls back where the page may be changed; by default at the next tick of its document.
    """

    def __init__(self, store: Path | None = None, post: Post | None = None, **params: Any) -> None:
        super().__init__(**params)
        self._document = pn.state.curdoc
        self._post = post or self._next_tick
        self.figure: Figure | None = None
        self.chosen: str = ""
        self.configuration: Configuration | None = None
        self._base: Result | None = None
        self._plots: list[tuple[Panel, Any]] = []
        names = {f"{heading(r.id)}: {r.title}": r.id for r in RECIPES.values()}
        self._pick = pmui.Select(label="Figure", options=names, value=FIRST, width=380)
        self._size = pmui.RadioButtonGroup(
            options=[s.value for s in ExperimentSize][::-1], value="smoke"
        )
        self._mode = pmui.RadioButtonGroup(options=[m.value for m in AccountingMode], value="paper")
        self._estimate = pmui.Button(label="Estimate what is missing", on_click=self._on_estimate)
        self._simulate = pmui.Button(
            label="Simulate what is missing", variant="outlined", on_click=self._on_simulate
        )
        self._cancel = pmui.Button(
            label="Cancel",
            variant="outlined",
            disabled=True,
            on_click=lambda _: self.bench.cancel(),
        )
        self._progress = pmui.LinearProgress(value=0, sizing_mode="stretch_width", visible=False)
        self._state = _html("state")
        self._about, self._claims, self._one = _html("about"), _html("claims"), _html("one")
        self._drawn = pn.FlexBox(sizing_mode="stretch_width")
        self._form = pn.FlexBox(sizing_mode="stretch_width")
        self._run = pmui.Button(
            label="Simulate this point", variant="outlined", visible=False, on_click=self._on_one
        )
        for widget in (self._pick, self._size, self._mode):
            widget.param.watch(lambda _: self.show(), "value")
        self.bench = FigureBench(lambda news: self._post(lambda: self._take(news)), store)
        self.show()

    def __panel__(self) -> pn.viewable.Viewable:
        bar = pn.FlexBox(
            self._pick, self._size, self._mode, self._estimate, self._simulate, self._cancel,
            align_items="center", sizing_mode="stretch_width",
        )  # fmt: skip
        return pn.Column(
            bar,
            self._progress,
            self._state,
            _card(self._about, self._drawn),
            _card(self._one, self._form, self._run),
            _card(self._claims),
            sizing_mode="stretch_width",
            styles={"gap": "12px", "padding": "12px 16px"},
        )

    def close(self) -> None:
        """The page is gone: end what is done for it."""
        self.bench.close()

    # What is asked for ------------------------------------------------------------------------

    @property
    def asked(self) -> tuple[Any, ExperimentSize, AccountingMode]:
        """Recipe, size and mode, as the widgets have them."""
        return (
            RECIPES[self._pick.value],
            ExperimentSize(self._size.value),
            AccountingMode(self._mode.value),
        )

    def show(self) -> None:
        """Show what is there of the figure that is chosen; nothing is run."""
        self.chosen, self.configuration, self._base = "", None, None
        self.bench.show(*self.asked)

    def _on_estimate(self, _: Any) -> None:
        self._busy("estimating …")
        self.bench.estimate(*self.asked)

    def _on_simulate(self, _: Any) -> None:
        self._busy("simulating …")
        self.bench.simulate(*self.asked)

    def _on_one(self, _: Any) -> None:
        if self.configuration is not None:
            self._busy("simulating …")
            self.bench.one(self.configuration)

    def choose(self, label: str) -> None:
        """Look at one point: what it is, and what may be changed of it."""
        recipe, size, mode = self.asked
        found = recipe.configurations(size, mode).get(label)
        if found is None or self.figure is None:
            self._one.object = f"<p>{escape(label)} follows from several runs.</p>"
            self._form[:] = []
            self._run.visible = False
            return
        self.chosen, self.configuration = label, found
        self._base = self.figure.results.get(label)
        self._form[:] = widgets_of(found, self.change)
        self._run.visible = True
        self._tell_one(found, self._base)

    def change(self, configuration: Configuration) -> None:
        """Another configuration in place of the point: it is estimated at once."""
        self.configuration = configuration
        self._busy("estimating …")
        self.bench.one(configuration.estimated())

    # What came --------------------------------------------------------------------------------

    def _next_tick(self, what: Callable[[], None]) -> None:
        if self._document is None:
            what()
        elif self._document.session_context is not None:
            self._document.add_next_tick_callback(what)

    def _busy(self, text: str) -> None:
        self._state.object = f"<p class='state'>{escape(text)}</p>"
        self._progress.visible = True
        self._cancel.disabled = False

    def _take(self, news: News) -> None:
        if news.figure is not None:
            self._show(news.figure)
        if news.made is not None:
            self._made(*news.made)
        if news.share is not None:
            self._progress.value = round(100 * news.share)
        if news.text:
            kind = "state wrong" if news.wrong else "state"
            self._state.object = f"<p class='{kind}'>{escape(news.text[:300])}</p>"
        if news == News():
            self._progress.visible = False
            self._cancel.disabled = True

    def _show(self, figure: Figure) -> None:
        asked = self.asked
        if (figure.recipe, figure.size, figure.mode) != asked:
            return  # something else was chosen meanwhile
        self.figure = figure
        recipe = figure.recipe
        self._about.object = f"<h2>{escape(heading(recipe.id))}: {escape(recipe.title)}</h2>" + (
            f"<p>{escape(recipe.text)}</p>"
        )
        self._plots = []
        shown: list[Any] = []
        for panel in figure.panels:
            if panel.kind == "text":
                text = f"<h3>{escape(panel.title)}</h3><pre>{escape(panel.text)}</pre>"
                shown.append(_html("text", text))
            else:
                plot = plot_of(panel, self.choose)
                self._plots.append((panel, plot))
                styles = {"flex": "1 1 420px", "min-width": "0"}
                shown.append(pn.pane.Bokeh(plot, sizing_mode="stretch_width", styles=styles))
        self._drawn[:] = shown
        self._claims.object = claims_html(figure)
        self._one.object = "<p>Click a point of ours to look at it and to change it.</p>"
        self._form[:] = []
        self._run.visible = False
        missing = missing_of(figure)
        self._state.object = (
            f"<p class='state'>not run yet: {len(missing)} of its configurations, which can be "
            "estimated or simulated.</p>"
            if missing
            else "<p class='state'>all of it is there</p>"
        )

    def _made(self, configuration: Configuration, result: Result) -> None:
        self._tell_one(configuration, result)
        if self._base is None or not self._base.cycles:
            return
        for panel, plot in self._plots:
            at = moved(panel, self.chosen, result.cycles / self._base.cycles)
            if at is not None:
                mark(plot, at)

    def _tell_one(self, configuration: Configuration, result: Result | None) -> None:
        rows = [f"<b>{escape(configuration.title)}</b>"]
        if result is not None:
            how = "estimated" if result.estimated else f"simulated; {result.check}"
            against = ""
            if self._base is not None and self._base.cycles and result is not self._base:
                against = f", {result.cycles / self._base.cycles:.3f} times the point's"
            rows.append(f"{counted(result.cycles, 'cycle')}{against}; "
                        f"{counted(result.flops, 'FLOP')}; "
                        f"{counted(result.bytes, 'byte')} ({escape(how)})")  # fmt: skip
        link = escape(explorer_link(configuration))
        rows.append(f"<a href='{link}' target='_blank'>open it in the explorer</a>")
        self._one.object = "<p>" + "<br>".join(rows) + "</p>"


def missing_of(figure: Figure) -> list[str]:
    """Labels of a figure's configurations of which nothing is there."""
    every = figure.recipe.configurations(figure.size, figure.mode)
    return [label for label in every if label not in figure.results]


def explorer_link(configuration: Configuration) -> str:
    """The address of the explorer with that configuration: program, data, sizes and schedule."""
    options = dict(configuration.options)
    given: dict[str, Any] = {
        "model": configuration.workload,
        "data": configuration.data or "random",
        "schedule": "",
        **options,
    }
    sizes = {"layers": options["layers"]} if "layers" in options else {}
    match configuration.workload:
        case "heads":
            given["data"] = "bigbird"
        case "images":
            given |= {"model": "autoencoder", "data": "images"}
        case "nested":
            filled = float(options.get("filled", 1.0))
            own = nested_in(
                configuration.data, hidden=int(options.get("hidden", 16)), filled=filled
            )
            given |= {"data": "karate", "program": print_program(own.program)}
    model = load_model(given["model"], **sizes)
    given["schedule"] = schedule_text(configuration, model)
    return "explorer?" + urlencode(given)


def claims_html(figure: Figure) -> str:
    """The claims of a figure as a table, with what those that differ have to say."""
    if not figure.claims:
        return "<p>Nothing is claimed at this size.</p>"
    titles = ("claim", "ours", "the paper's", "ratio", "tolerance", "verdict", "seconds", "GB")
    head = "".join(f"<th>{title}</th>" for title in titles)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{_rows(figure.claims)}</tbody></table>"


def _rows(claims: tuple[Claim, ...]) -> str:
    made = []
    for claim in claims:
        values = (claim.published.text, *cells(claim)[1:])
        row = "".join(f"<td>{escape(value)}</td>" for value in values)
        made.append(f"<tr class='{'good' if claim.ok else 'other'}'>{row}</tr>")
        why = claim.reason or (claim.published.why if not claim.ok else "")
        if why:
            made.append(f"<tr><td colspan='8' class='why'>{escape(why)}</td></tr>")
    return "".join(made)


def _html(name: str, text: str = "") -> pn.pane.HTML:
    return pn.pane.HTML(
        text, css_classes=[name], stylesheets=[style("figures/page")], sizing_mode="stretch_width"
    )


def _card(*parts: Any) -> pn.Column:
    return pn.Column(*parts, sizing_mode="stretch_width", stylesheets=[style("base/frame")])


def figures_page(store: Path | None = None) -> pmui.Page:
    """The page, for the visitor whose document is being made."""
    shown = FiguresPage(store)
    if pn.state.curdoc is not None:
        pn.state.on_session_destroyed(lambda *_: shown.close())
    page = pmui.Page(title=TITLE, main=[shown], theme_config=THEME, busy_indicator=None)
    forget_busy(page)
    return page
