"""The fusion explorer, for ``panel serve apps/explorer.py --address localhost``.

``fuseloom serve`` serves the same page, and also closes what Panel leaves open
(:mod:`fuseloom_workbench.serving.gate`).  Layout only; what is shown lives in :mod:`workbench`.
"""

from __future__ import annotations

import panel as pn

from fuseloom_workbench.serving.page import served_page

pn.extension()

served_page().servable()
