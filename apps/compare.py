"""One program by every system, for ``panel serve apps/compare.py --address localhost``.

Layout only; what is shown lives in :mod:`fuseloom_workbench.systems`.
"""

from __future__ import annotations

import panel as pn

from fuseloom_workbench.systems.page import systems_page

pn.extension()

systems_page().servable()
