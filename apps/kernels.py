"""Deep fusion of dense graphs, for ``panel serve apps/kernels.py --address localhost``.

Layout only; what is shown lives in :mod:`fuseloom_workbench.kernels`.
"""

from __future__ import annotations

import panel as pn

from fuseloom_workbench.kernels.page import kernels_page

pn.extension()

kernels_page().servable()
