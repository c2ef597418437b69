"""Access patterns, for ``panel serve apps/patterns.py --address localhost``.

Layout only; what is shown lives in :mod:`fuseloom_workbench.patterns`.
"""

from __future__ import annotations

import panel as pn

from fuseloom_workbench.patterns.page import patterns_page

pn.extension()

patterns_page().servable()
