"""Calls of libraries, for ``panel serve apps/calls.py --address localhost``.

Layout only; what is shown lives in :mod:`fuseloom_workbench.calls`.
"""

from __future__ import annotations

import panel as pn

from fuseloom_workbench.calls.page import calls_page

pn.extension()

calls_page().servable()
