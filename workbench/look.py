"""What is looked at: the region shown, what is selected in it, and how it is drawn."""

from __future__ import annotations

from abc import abstractmethod

import param

from engine.dataflow.compilation import CompiledRegion
from engine.dataflow.samml.catalogue import primitive
from engine.dataflow.samml.primitive import Family

ACTIVITIES = {
    "busy": "busy",
    "stall_input": "waiting for input",
    "stall_output": "waiting for space",
    "stall_memory": "waiting for memory",
    "idle": "idle after its end",
}
"""What a node may do at a time."""


class Look(param.Parameterized):
    """The part of a session that changes nothing of its design."""

    region = param.Integer(0, doc="The region shown, counted from 0.")
    cell = param.Tuple(("", ""), doc="The selected cell: column and row.")
    node = param.Integer(-1, doc="The selected graph node's id; -1 is none.")
    clusters = param.Boolean(False, doc="Whether the drawing frames nodes of one table column.")
    direction = param.Selector(default="LR", objects=["LR", "TB"], doc="Of the drawing.")
    activity = param.Selector(default="busy", objects=list(ACTIVITIES), doc="On the timeline.")

    __abstract = True

    @property
    @abstractmethod
    def regions(self) -> tuple[CompiledRegion, ...]:
        """The regions of the design."""

    @property
    def current(self) -> CompiledRegion:
        """The region shown."""
        return self.regions[self.region]

    def select_region(self, number: int) -> None:
        """Show another region's table and graph."""
        if 0 <= number < len(self.regions) and number != self.region:
            self.param.update(region=number, cell=("", ""), node=-1)

    def select_cell(self, column: str, row: str) -> None:
        """Select a cell of the table, and the graph node it became."""
        origin = f"{column}.{row}"
        made = [n for n in self.current.graph.nodes if n.origin == origin]
        # A joiner belongs to several cells; the cell's own node says more about it.
        own = [n for n in made if primitive(n.op).family is not Family.JOIN] or made
        self.param.update(cell=(column, row), node=own[-1].id if own else -1)

    def select_node(self, node: int) -> None:
        """Select a graph node, and the cell it came from; -1 selects nothing."""
        nodes = self.current.graph.nodes
        cell = ("", "")
        if 0 <= node < len(nodes):
            column, _, row = nodes[node].origin.partition(".")
            cell = (column, row) if (column, row) in self.current.table.cells else cell
        self.param.update(cell=cell, node=node if 0 <= node < len(nodes) else -1)

    def draw_framed(self, on: bool) -> None:
        """Frame the nodes of a table column in the drawing, or do not."""
        self.clusters = on

    def draw_towards(self, direction: str) -> None:
        """Draw from left to right (``LR``) or from top to bottom (``TB``)."""
        self.direction = direction

    def look_at(self, activity: str) -> None:
        """Show another activity on the timeline."""
        self.activity = activity
