"""The frame, top line and colours that all pages of the workbench have, and their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param
from panel.util import edit_readonly

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import ScriptComponent
from fuseloom_workbench.base.tokens import tokens


@dataclass(frozen=True)
class PageLink:
    """A page of a server.

    Attributes
    ----------
    name : str
        Its path.
    text : str
        What a visitor does there, in one line.
    """

    name: str
    title: str
    text: str

    @property
    def full_title(self) -> str:
        """The title of its window."""
        return f"Fuseloom · {self.title}"


PAGE_LINKS: Mapping[str, PageLink] = MappingProxyType(
    {
        link.name: link
        for link in (
            PageLink("explorer", "Fusion explorer", "fuse, order, block and run a program"),
            PageLink("figures", "Figures of the paper", "reproduce each, and change its points"),
            PageLink("networks", "Tensor networks", "loop nests that a solver finds for a CPU"),
            PageLink(
                "patterns", "Access patterns", "dense layers rewritten until an array runs them"
            ),
            PageLink("calls", "Library calls", "black boxes fused tile by tile, or left alone"),
            PageLink("kernels", "Deep fusion", "few kernels for the many operations of a graph"),
            PageLink(
                "compare", "One program, five ways", "fused by every system, beside one reference"
            ),
        )
    }
)
"""The pages that there are, by name."""


def links_of(names: Iterable[str]) -> list[dict[str, str]]:
    """Links to pages as a script takes them."""
    return [asdict(PAGE_LINKS[name]) for name in names]


class PageHeader(ScriptComponent):
    """The top line of a page: the pages of its server, its title, light or dark."""

    _esm = script("base/header", "base/page_header")
    _stylesheets = [style("base/header", "base/page_header")]

    pages = param.List(doc="The pages of the server: name, title, text.")
    current = param.String(doc="The name of this one.")
    title = param.String(doc="What it is called.")


def _palette(theme: str) -> dict[str, Any]:
    """The colours of what Material UI draws."""
    colours = tokens(theme)
    return {
        "palette": {
            "primary": {"main": colours["accent"], "contrastText": colours["on-accent"]},
            "background": {"default": colours["bg"], "paper": colours["pane"]},
        }
    }


THEME = {theme: _palette(theme) for theme in ("light", "dark")}
_BARE = {"& > .MuiAppBar-root, & .MuiToolbar-root": {"display": "none"}}
"""A page has a line on top of its own; Material UI's, with its theme switch, stays hidden."""


def bare_page(name: str, main: Sequence[Any], raw_css: Sequence[str] = ()) -> pmui.Page:
    """A page of that name that shows what it is given and nothing else."""
    page = pmui.Page(
        title=PAGE_LINKS[name].full_title,
        main=list(main),
        theme_config=THEME,
        busy_indicator=None,
        sx=_BARE,
        raw_css=list(raw_css),
    )
    _forget_busy(page)
    return page


def headed_page(name: str, main: Sequence[Any], pages: Sequence[str] = ()) -> pmui.Page:
    """A page of that name with the top line that all pages have.

    Parameters
    ----------
    pages : sequence of str
        Names of the pages that its server has.
    """
    header = PageHeader(
        pages=links_of(pages),
        current=name,
        title=PAGE_LINKS[name].title,
        sizing_mode="stretch_width",
        margin=0,
    )
    return bare_page(name, [header, *main])


def backed_page(
    name: str,
    backend: Any,
    bench: Callable[[Any], Any],
    pages: Sequence[str] = (),
    wrong: str = "",
) -> pmui.Page:
    """A page of that name that shows what a backend has, and ends the backend's work with it.

    Parameters
    ----------
    backend : ChildBackend
    bench : callable
        Gives all views of the backend.
    pages : sequence of str
        Names of the pages that its server has.
    wrong : str
        The fault of its address; empty if there is none.
    """
    backend.attach()
    if pn.state.curdoc is not None:
        pn.state.on_session_destroyed(lambda *_: backend.close())
    main: list[Any] = [bench(backend)]
    if wrong:
        main.insert(0, pmui.Alert(f"The address was not understood: {wrong}", severity="warning"))
    return headed_page(name, main, pages)


def session_arguments() -> Mapping[str, Sequence[bytes]]:
    """The words of the address of the page that is being made; none outside a server."""
    given: Mapping[str, Sequence[bytes]] = (
        pn.state.session_args if pn.state.curdoc is not None else {}
    )
    return given


def card(part: Any, flex: str = "none") -> pn.Column:
    """A component in a frame of its own.

    Parameters
    ----------
    flex : str
        How it takes room beside others, as CSS has it.
    """
    return pn.Column(
        part,
        sizing_mode="stretch_width",
        stylesheets=[style("base/frame")],
        css_classes=["card"],
        margin=0,
        styles={"flex": flex, "min-width": "0", "padding": "10px 14px"},
    )


def beside(*parts: Any) -> pn.Row:
    """Components beside each other, or below each other where a page is narrow."""
    return pn.Row(
        *parts,
        sizing_mode="stretch_width",
        margin=0,
        styles={"flex-wrap": "wrap", "gap": "12px", "align-items": "flex-start"},
    )


def _forget_busy(page: pmui.Page) -> None:
    """Let the page not follow a flag that all sessions of the server share.

    It would change its document while another session holds the lock; and whoever watches the flag
    is kept in memory by it, with all its session, for ever.
    """
    with edit_readonly(page):
        page.busy = False
    for watcher in list(pn.state.param.watchers.get("busy", {}).get("value", ())):
        if getattr(getattr(watcher.fn, "__self__", None), "self", None) is page:
            pn.state.param.unwatch(watcher)


def words_of(given: Mapping[str, Sequence[bytes]]) -> dict[str, str]:
    """The words of an address as a server has them: of each name the first value.

    Examples
    --------
    >>> words_of({"model": [b"gcn"], "data": []})
    {'model': 'gcn'}
    """
    return {name: values[0].decode("utf-8", "replace") for name, values in given.items() if values}
