"""Sparse tensor networks, for ``panel serve apps/networks.py --address localhost``.

Layout only; what is shown lives in :mod:`fuseloom_workbench.networks`.
"""

from __future__ import annotations

import panel as pn

from fuseloom_workbench.networks.page import networks_page

pn.extension()

networks_page().servable()
