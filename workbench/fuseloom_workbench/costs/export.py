"""A comparison of runs as one HTML file that opens from disk, without a server or a network.

The file holds the runs as JSON, the script of the Costs panel and its style; the browser draws.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Set
from html import escape
from typing import Any

from fuseloom.errors import FuseloomError
from fuseloom.results.record import RunRecord
from fuseloom.wording import counted
from fuseloom_workbench.base.assets import asset, script, style
from fuseloom_workbench.base.help import texts
from fuseloom_workbench.base.palette import RUN_KINDS
from fuseloom_workbench.costs.points import record_point
from fuseloom_workbench.costs.view import costs, look
from fuseloom_workbench.state.session import Session

LARGEST = 4_000_000
"""Bytes of a file."""
TITLE = "Fuseloom · costs of runs"
_SCRIPTS = ("marks", "plots", "bars", "ranking", "saving", "costs_panel")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def panel_script() -> str:
    """The script of the panel, with all that it is made of."""
    return script("base/scales", *(f"costs/{name}" for name in _SCRIPTS))


def comparison_html(shown: Session | Mapping[str, RunRecord], title: str = TITLE) -> str:
    """A page that compares runs.

    Parameters
    ----------
    shown : Session or mapping of str to RunRecord
        All runs of a session, with their estimates; or records under the names they are to have.

    Returns
    -------
    str
        HTML of at most :data:`LARGEST` bytes that needs nothing but a browser.

    Raises
    ------
    FuseloomError
        If there are no runs, or too many.

    Examples
    --------
    >>> session = Session("gcn", "karate")
    >>> comparison_html(session)
    Traceback (most recent call last):
    ...
    fuseloom.errors.FuseloomError: no runs to compare (hint: simulate a configuration first)
    """
    if isinstance(shown, Session):
        return page(costs(shown), look(shown), title)
    runs = [
        {
            **record_point(record),
            "id": f"run:{number}",
            "name": name,
            "kind": name if name in RUN_KINDS else "own",
        }
        for number, (name, record) in enumerate(shown.items())
    ]
    kinds = {name: kind._asdict() for name, kind in RUN_KINDS.items()}
    return page({"kinds": kinds, "runs": runs}, {"problem": ""}, title)


def chosen_runs(view: Mapping[str, Any], wanted: Set[str]) -> dict[str, Any]:
    """The view of those runs alone; what was said of all of them only if none is left out."""
    runs = [run for run in view["runs"] if run["id"] in wanted]
    if len(runs) == len(view["runs"]):
        return dict(view)
    return {"kinds": view["kinds"], "runs": runs, "note": "", "trouble": ""}


def page(view: Mapping[str, Any], shown: Mapping[str, Any], title: str = TITLE) -> str:
    """The page of what :func:`~fuseloom_workbench.costs.view.costs` and ``look`` have given.

    Raises
    ------
    FuseloomError
        If there are no runs, or too many for :data:`LARGEST` bytes.
    """
    if not view["runs"]:
        raise FuseloomError("no runs to compare", hint="simulate a configuration first")
    data = json.dumps({"drawn": view, "look": shown, "help": texts()}).replace("<", "\\u003c")
    text = _PAGE.format(
        title=escape(title),
        policy=_POLICY,
        around=asset("base/tokens.css", "costs/alone.css"),
        style=style("costs/costs_panel"),
        data=data,
        script=f"{panel_script()}\n{asset('costs/alone.js')}".replace("</", "<\\/"),
    )
    if (size := len(text.encode())) > LARGEST:
        raise FuseloomError(
            f"a comparison of {counted(len(view['runs']), 'run')} takes {counted(size, 'byte')}",
            hint=f"at most {LARGEST:,} bytes fit into a file; choose fewer runs with the filters",
        )
    return text


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>{around}</style>
<template id="style"><style>{style}</style></template>
<script type="application/json" id="data">{data}</script>
</head>
<body>
<h1>{title}</h1>
<div id="costs"></div>
<script type="module">
{script}
</script>
</body>
</html>
"""
