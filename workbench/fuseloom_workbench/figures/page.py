"""The page of the paper's figures: ours beside the published ones, and what a change would do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import panel as pn
import panel_material_ui as pmui
import param

from fuseloom.experiments.claims import Claim
from fuseloom.experiments.configuration import Configuration
from fuseloom.experiments.driver import Figure
from fuseloom.experiments.jobs import schedule_text
from fuseloom.experiments.recipe import AccountingMode, ExperimentSize, Panel, Result
from fuseloom.experiments.registry import RECIPES
from fuseloom.experiments.report import COLUMNS, cells, heading, remarks
from fuseloom.experiments.totals import TITLES, by_kind
from fuseloom.models import load_model
from fuseloom.models.nested import nested_in
from fuseloom.program import print_program
from fuseloom.wording import counted
from fuseloom_workbench.base.assets import style
from fuseloom_workbench.base.page import headed_page, words_of
from fuseloom_workbench.figures.bench import FigureBench, News
from fuseloom_workbench.figures.form import widgets_of
from fuseloom_workbench.figures.plot import has_points, mark, moved, paint, plot_of
from fuseloom_workbench.figures.regions import shown_region

FIRST = ("18", ExperimentSize.SMOKE, AccountingMode.PAPER)
"""The figure that is shown where an address names none."""
_SCALED = {
    ExperimentSize.FULL: "",
    ExperimentSize.SMALL: "some minutes",
    ExperimentSize.SMOKE: "some seconds",
}
"""The time that a whole figure takes, by size; empty for the published one."""
_EMPTY = "No point of it is there yet: estimate or simulate what is missing."
Post = Callable[[Callable[[], None]], None]


class FiguresPage(pn.viewable.Viewer):
    """One visitor's page.

    Parameters
    ----------
    store : Path, optional
        File of the runs.
    post : callable, optional
        Calls back where the page may be changed; by default at the next tick of its document.
    first : tuple of str, ExperimentSize and AccountingMode
        What is shown at first: the figure's id, and at which size, by whose accounting.
    """

    dark = param.Boolean(doc="Whether the page has its dark colours.")

    def __init__(
        self,
        store: Path | None = None,
        post: Post | None = None,
        first: tuple[str, ExperimentSize, AccountingMode] = FIRST,
        **params: Any,
    ) -> None:
        super().__init__(**params)
        self._document = pn.state.curdoc
        self._post = post or self._next_tick
        self.figure: Figure | None = None
        self.chosen: str = ""
        self.configuration: Configuration | None = None
        self._base: Result | None = None
        self._plots: list[tuple[Panel, Any]] = []
        names = {f"{heading(r.id)}: {r.title}": r.id for r in RECIPES.values()}
        number, size, mode = first
        small: dict[str, Any] = {"size": "small", "margin": 0}
        quiet: dict[str, Any] = {**small, "variant": "outlined"}
        self._pick = pmui.Select(label="Figure", options=names, value=number, width=400, **small)
        group = {**small, "stylesheets": [".MuiFormLabel-root { font-size: 11px !important }"]}
        self._size = pmui.RadioButtonGroup(
            label="Size", options=[s.value for s in ExperimentSize][::-1], value=size.value, **group
        )
        self._mode = pmui.RadioButtonGroup(
            label="Accounting", options=[m.value for m in AccountingMode], value=mode.value, **group
        )
        self._estimate = pmui.Button(
            label="Estimate what is missing", on_click=self._on_estimate, **small
        )
        self._simulate = pmui.Button(
            label="Simulate what is missing", on_click=self._on_simulate, **quiet
        )
        self._cancel = pmui.Button(
            label="Cancel", disabled=True, on_click=lambda _: self.bench.cancel(), **quiet
        )
        self._share: float | None = None
        self._told = ("", False)
        self._state = _html("state")
        self._about, self._claims, self._one = _html("about"), _html("claims"), _html("one")
        self._drawn = pn.FlexBox(
            sizing_mode="stretch_width",
            margin=0,
            css_classes=["drawn"],
            stylesheets=[style("figures/page")],
        )
        self._form = pn.FlexBox(sizing_mode="stretch_width")
        self._run = pmui.Button(
            label="Simulate this point", variant="outlined", visible=False, on_click=self._on_one
        )
        for widget in (self._pick, self._size, self._mode):
            widget.param.watch(lambda _: self.show(), "value")
        self.param.watch(lambda _: self._paint(), "dark")
        self.bench = FigureBench(lambda news: self._post(lambda: self._take(news)), store)
        self.show()

    def __panel__(self) -> pn.viewable.Viewable:
        bar = pn.FlexBox(
            self._pick, self._size, self._mode, self._estimate, self._simulate, self._cancel,
            align_items="end", gap="10px 14px", sizing_mode="stretch_width", margin=0,
        )  # fmt: skip
        return pn.Column(
            _card(bar, self._state),
            _card(self._about, self._drawn),
            _card(self._one, self._form, self._run),
            _card(self._claims),
            sizing_mode="stretch_width",
            margin=0,
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
        recipe, size, mode = self.asked
        if pn.state.location is not None:
            pn.state.location.update_query(figure=recipe.id, size=size.value, mode=mode.value)
        self.bench.show(recipe, size, mode)

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

    def _paint(self) -> None:
        for _, plot in self._plots:
            paint(plot, self._theme)

    @property
    def _theme(self) -> str:
        return "dark" if self.dark else "light"

    def _busy(self, text: str) -> None:
        self._share = 0.0
        self._tell(text)
        self._cancel.disabled = False

    def _tell(self, text: str, wrong: bool = False) -> None:
        """The line of state: what is done, how far, or what is there."""
        self._told = (text, wrong)
        bar = ""
        if self._share is not None:
            share = round(100 * self._share)
            bar = f"<progress aria-label='Progress' max='100' value='{share}'></progress>"
        kind = "state wrong" if wrong else "state"
        self._state.object = f"<p class='{kind}' role='status'>{bar}{escape(text)}</p>"

    def _tell_state(self) -> None:
        """Tell how much of the figure is there; an error stays until the next request."""
        text, wrong = self._told
        if not wrong and self.figure is not None:
            every, missing = configurations_of(self.figure), missing_of(self.figure)
            if not every:
                text = "nothing of it is run"
            elif missing:
                how = "estimated or simulated" if unknown_of(self.figure) else "simulated"
                text = (
                    f"not run yet: {len(missing)} of its {len(every)} configurations, which can "
                    f"be {how}"
                )
            else:
                text = "all of it is there"
        self._tell(text, wrong)

    def _take(self, news: News) -> None:
        if news.figure is not None:
            self._show(news.figure)
        if news.made is not None:
            self._made(*news.made)
        if news.share is not None:
            self._share = news.share
        if news.text:
            self._tell(news.text[:300], news.wrong)
        if news == News():
            self._share = None
            self._cancel.disabled = True
            self._tell_state()

    def _show(self, figure: Figure) -> None:
        asked = self.asked
        if (figure.recipe, figure.size, figure.mode) != asked:
            return  # something else was chosen meanwhile
        self.figure = figure
        self._about.object = about_html(figure)
        self._plots = []
        shown: list[Any] = []
        for panel in figure.panels:
            if panel.plotted and not has_points(panel):
                shown.append(_html("text", f"<h3>{escape(panel.title)}</h3><p>{_EMPTY}</p>"))
            elif panel.plotted:
                plot = plot_of(panel, self.choose, self._theme)
                self._plots.append((panel, plot))
                shown.append(pn.pane.Bokeh(plot, sizing_mode="stretch_width", margin=0))
            elif panel.region is not None:
                shown.append(_wide(shown_region(panel.title, panel.kind, panel.region)))
            else:
                text = f"<h3>{escape(panel.title)}</h3><pre tabindex='0'>{escape(panel.text)}</pre>"
                shown.append(_wide(_html("text", text)))
        every, missing = configurations_of(figure), missing_of(figure)
        self._drawn[:] = shown
        self._claims.object = claims_html(figure)
        self._estimate.disabled = not unknown_of(figure)
        self._simulate.disabled = not missing
        what = "Click a point of ours to look at it and to change it."
        self._one.object = f"<p>{what if every else 'It has no points to look at.'}</p>"
        self._form[:] = []
        self._run.visible = False
        self._told = ("", False)
        self._tell_state()

    def _made(self, configuration: Configuration, result: Result) -> None:
        self._tell_one(configuration, result)
        if self._base is None or not self._base.cycles:
            return
        for panel, plot in self._plots:
            at = moved(panel, self.chosen, result.cycles / self._base.cycles)
            if at is not None:
                mark(plot, at, self._theme)

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


def about_html(figure: Figure) -> str:
    """What a figure shows, and whether what is below it is of the published size."""
    recipe, size = figure.recipe, figure.size
    text = f"<h2>{escape(heading(recipe.id))}: {escape(recipe.title)}</h2>"
    if configurations_of(figure) and _SCALED[size]:
        text += (
            f"<p class='size'>Size {size.value}: a smaller experiment that takes "
            f"{_SCALED[size]}. The text is about the published size, and may not hold for "
            "what is drawn here.</p>"
        )
    return f"{text}<p>{escape(recipe.text)}</p>"


def configurations_of(figure: Figure) -> list[str]:
    """Labels of the configurations and measurements that a figure is made of."""
    recipe, size, mode = figure.recipe, figure.size, figure.mode
    return [*recipe.configurations(size, mode), *recipe.measures(size, mode)]


def missing_of(figure: Figure) -> list[str]:
    """Labels of a figure's configurations and measurements of which nothing is there."""
    measures = figure.recipe.measures(figure.size, figure.mode)
    return [
        *unknown_of(figure),
        *(label for label in measures if not figure.results.was_measured(label)),
    ]


def unknown_of(figure: Figure) -> list[str]:
    """Labels of a figure's configurations of which nothing is there, and which may be estimated."""
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
    head = "".join(f"<th>{column.title}</th>" for column in COLUMNS)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{_rows(figure.claims)}</tbody></table>"


def _rows(claims: tuple[Claim, ...]) -> str:
    made = []
    across = f"colspan='{len(COLUMNS)}'"
    for kind, own in by_kind(claims):
        made.append(f"<tr><th {across}>{escape(TITLES[kind])}</th></tr>")
        for claim in own:
            values = (claim.published.text, *cells(claim)[1:])
            row = "".join(f"<td>{escape(value)}</td>" for value in values)
            made.append(f"<tr class='{'good' if claim.ok else 'other'}'>{row}</tr>")
            told = remarks(claim)
            made += [f"<tr><td {across} class='why'>{escape(text)}</td></tr>" for text in told]
    return "".join(made)


def _html(name: str, text: str = "") -> pn.pane.HTML:
    return pn.pane.HTML(
        text,
        css_classes=[name],
        stylesheets=[style("figures/page")],
        sizing_mode="stretch_width",
        margin=0,
    )


def _card(*parts: Any) -> pn.Column:
    return pn.Column(
        *parts,
        sizing_mode="stretch_width",
        margin=0,
        stylesheets=[style("base/frame"), style("figures/page")],
    )


def _wide(part: Any) -> Any:
    """A part that takes all columns."""
    part.css_classes = [*part.css_classes, "wide"]
    return part


def first_of(given: Mapping[str, Sequence[bytes]]) -> tuple[str, ExperimentSize, AccountingMode]:
    """The figure, size and accounting that a page's address names; the usual where it is none.

    Examples
    --------
    >>> first_of({"figure": [b"9"], "size": [b"huge"]})
    ('9', <ExperimentSize.SMOKE: 'smoke'>, <AccountingMode.PAPER: 'paper'>)
    """
    words = words_of(given)
    number, size, mode = FIRST
    sizes = {s.value: s for s in ExperimentSize}
    modes = {m.value: m for m in AccountingMode}
    return (
        words.get("figure", "") if words.get("figure") in RECIPES else number,
        sizes.get(words.get("size", ""), size),
        modes.get(words.get("mode", ""), mode),
    )


def figures_page(store: Path | None = None, pages: Sequence[str] = ()) -> pmui.Page:
    """The page, for the visitor whose document is being made.

    Parameters
    ----------
    pages : sequence of str
        Names of the pages that its server has.
    """
    served = pn.state.curdoc is not None
    shown = FiguresPage(store, first=first_of(pn.state.session_args if served else {}))
    if served:
        pn.state.on_session_destroyed(lambda *_: shown.close())
    page = headed_page("figures", [shown], pages)
    page.param.watch(lambda event: shown.param.update(dark=event.new), "dark_theme")
    return page
