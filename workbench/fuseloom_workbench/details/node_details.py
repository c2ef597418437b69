"""The details of the selected cell or graph node: meaning, ports, expected and measured."""

from __future__ import annotations

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent


class NodeDetails(SessionComponent):
    """The details of the session's selection, or of its region.

    Examples
    --------
    >>> details = NodeDetails()
    >>> details.session.select_cell("A", "k")
    >>> "compressed level scanner" in details.html()
    True
    """

    _esm = script("base/light", "details/node_details")
    _stylesheets = [style("details/node_details")]
    part = "details"

    def html(self) -> str:
        """The HTML that is shown; everything from a user's program is escaped."""
        return str(self.view.get("html", ""))
