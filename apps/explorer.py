"""The fusion explorer: ``panel serve apps/explorer.py``.

Layout only; what is shown lives in :mod:`workbench`.
"""

from __future__ import annotations

import panel as pn

from workbench.explorer import explorer

pn.extension()

explorer().servable()
