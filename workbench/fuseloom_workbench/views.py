"""Every view of the workbench; importing this registers all parts of a page.

See :mod:`fuseloom_workbench.base.parts`.
"""

from __future__ import annotations

from fuseloom_workbench.base.parts import LATER, PARTS
from fuseloom_workbench.chain import prices
from fuseloom_workbench.chain import view as chain
from fuseloom_workbench.compare import view as compare
from fuseloom_workbench.costs import view as costs
from fuseloom_workbench.details import view as details
from fuseloom_workbench.graph import heat
from fuseloom_workbench.graph import view as graph
from fuseloom_workbench.input import forms
from fuseloom_workbench.input import views as given
from fuseloom_workbench.landscape import view as landscape
from fuseloom_workbench.memory import view as memory
from fuseloom_workbench.orders import view as orders
from fuseloom_workbench.running import view as run
from fuseloom_workbench.search import view as search
from fuseloom_workbench.shell import view as shell
from fuseloom_workbench.streams import view as streams
from fuseloom_workbench.table import menu
from fuseloom_workbench.table import view as table
from fuseloom_workbench.timeline import view as timeline
from fuseloom_workbench.timeline import windows
from fuseloom_workbench.why import path
from fuseloom_workbench.why import view as why

VIEWS = (
    chain, compare, costs, details, forms, given, graph, heat, landscape, memory, menu, orders,
    path, prices, run, search, shell, streams, table, timeline, why, windows,
)  # fmt: skip
"""The modules, each of which has registered what it makes."""

__all__ = ["LATER", "PARTS", "VIEWS"]
