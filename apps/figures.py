"""The paper's figures, for ``panel serve apps/figures.py apps/explorer.py --address localhost``.

Layout only; what is shown lives in :mod:`fuseloom_workbench.figures.page`.
"""

from __future__ import annotations

import panel as pn

from fuseloom_workbench.figures.page import figures_page

pn.extension()

figures_page().servable()
