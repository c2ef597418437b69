"""``/``: what there is, and where to begin; it asks nobody else for anything."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from string import Template
from types import MappingProxyType
from urllib.parse import urlencode

from tornado.web import RequestHandler

from fuseloom_workbench.base.assets import asset, style
from fuseloom_workbench.base.page import PAGE_LINKS
from fuseloom_workbench.service.budgets import KEEP_RUNS
from fuseloom_workbench.serving.door_pictures import shown_pictures
from fuseloom_workbench.serving.fusion_picture import shown_picture
from fuseloom_workbench.serving.recent_runs import recent_runs

MODELS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "gcn": ("karate", "a graph network: fusing its layers helps, fusing all does not"),
        "graphsage": ("power-law", "each node with its neighbours: two branches that meet"),
        "gpt3": ("bigbird", "two decoders with block-sparse attention: 40 kernels"),
        "autoencoder": ("digits", "sparse weights: here fusing all helps most"),
        "attention": ("random", "a masked softmax between two products"),
        "spmm": ("random", "a sparse matrix times a dense one: the smallest that has an order"),
    }
)
"""Models to begin with: the data each is opened on, and a sentence."""


def home(pages: Sequence[str], runs: str = "") -> str:
    """The page of a server that has pages of these names, as HTML.

    Parameters
    ----------
    runs : str
        The section with recent runs, as HTML.
    """
    return _template(tuple(pages)).safe_substitute(runs=runs)


@cache
def _template(pages: Sequence[str]) -> Template:
    """The page without runs."""
    pictures = shown_pictures()
    doors = "".join(
        f'<a class="door" href="{name}"><b>{PAGE_LINKS[name].title}</b>'
        f"<span>{PAGE_LINKS[name].text}</span>{pictures.get(name) or _sign(name)}</a>"
        for name in pages
    )
    models = "".join(
        f'<li><a href="explorer?{urlencode({"model": name, "data": data})}">{name}</a> {text}</li>'
        for name, (data, text) in MODELS.items()
    )
    text = Template(asset("serving/home.html"))
    sheet = style("base/header", "serving/home").replace(":host", ":root")
    return Template(
        text.safe_substitute(style=sheet, doors=doors, models=models, picture=shown_picture())
    )


def _sign(name: str) -> str:
    """The sign of a page that computes no single picture."""
    return f'<svg class="sign" aria-hidden="true"><use href="#{name}"/></svg>'


class Home(RequestHandler):
    """The first page: doors to all others.

    Parameters
    ----------
    pages : sequence of str
        Names of the pages of the server.
    user : callable, optional
        Gives a handler's visitor, or None if they have to show a token first.
    """

    def initialize(
        self, pages: Sequence[str], user: Callable[[RequestHandler], str | None] | None = None
    ) -> None:
        self._pages, self._user = tuple(pages), user

    def get(self) -> None:
        if self._user is not None and self._user(self) is None:
            self.redirect("/login?next=/")
            return
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.set_header("Cache-Control", "no-cache")
        path = os.environ.get(KEEP_RUNS)
        self.finish(home(self._pages, recent_runs(path) if path else ""))
