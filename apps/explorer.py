"""The fusion explorer, for ``panel serve apps/explorer.py --address localhost``.

``fuseloom serve`` serves the same page, and also closes what Panel leaves open
(:mod:`workbench.serving.gate`).  Layout only; what is shown lives in :mod:`workbench`.
"""

from __future__ import annotations

import panel as pn

from workbench.serving.page import served_page

pn.extension()

served_page().servable()
