"""The view of a session: the region shown, the selection in it, and its drawing."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import param

from fuseloom.dataflow.compilation import CompiledRegion
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.primitive import Family
from fuseloom.dataflow.why.spots import spots

if TYPE_CHECKING:
    from fuseloom_workbench.state.design import BuiltDesign

ACTIVITIES = {
    "busy": "busy",
    "stall_input": "waiting for input",
    "stall_output": "waiting for space",
    "stall_memory": "waiting for memory",
    "idle": "idle after its end",
}
"""The activities of a node, and their names."""


@dataclass(frozen=True)
class Window:
    """The request of a page to the timeline.

    Attributes
    ----------
    kind : str
        ``window``, ``area`` or ``trace``: columns or bars, figures, or a file for Perfetto.
    number : int
        Counts what a page asks for, so that it knows the answers.
    start, stop : int
        Cycles of the run.
    width : int
        Columns.
    rows : tuple of int
        Rows of the timeline; group ``g`` is ``-1 - g``.
    """

    kind: str
    number: int
    start: int
    stop: int
    width: int = 1
    rows: tuple[int, ...] = ()


@dataclass(frozen=True)
class GraphDrawing:
    """The options of the graph's drawing.

    Attributes
    ----------
    folds : tuple of (str, bool)
        Kernels and regions by key, and whether a user wants them folded.
    whole : bool
        Whether all regions are drawn, or the one shown only.
    against : str
        What it is compared with: run ``A``, ``global`` iteration, or nothing.
    stopped : str
        Key of a drawing that was cancelled.
    again : tuple of (str, int)
        Key of a drawing that was asked for again, and how often.
    """

    folds: tuple[tuple[str, bool], ...] = ()
    whole: bool = False
    against: str = ""
    stopped: str = ""
    again: tuple[str, int] = ("", 0)


@dataclass(frozen=True)
class Comparand:
    """The choice of a design to compare a session with.

    Attributes
    ----------
    key : str
        The choice; empty for nothing.
    name : str
        What people call it.
    design : Design or None
        Of a choice that may mean another design later: the step before, a run by its number.
    turn : int
        Counts what was changed in it, so that each change is an event.
    """

    key: str = ""
    name: str = ""
    design: Any = None
    turn: int = 0


class ViewState(param.Parameterized):
    """The part of a session that changes nothing of its design."""

    region = param.Integer(0, doc="The region shown, counted from 0.")
    cell = param.Tuple(("", ""), doc="The selected cell: column and row.")
    menu = param.Tuple(("", ""), doc="The cell whose menu is open.")
    node = param.Integer(-1, doc="The selected graph node's id; -1 is none.")
    kernel = param.Integer(-1, doc="The selected box of the chain; -1 is none.")
    clusters = param.Boolean(False, doc="Whether the drawing frames nodes of one table column.")
    direction = param.Selector(default="LR", objects=["LR", "TB"], doc="Of the drawing.")
    drawing = param.ClassSelector(
        class_=GraphDrawing, default=GraphDrawing(), doc="How the graph is drawn."
    )
    window = param.ClassSelector(class_=Window, doc="What is seen of the timeline.")
    comparand = param.ClassSelector(
        class_=Comparand, default=Comparand(), doc="The design it is compared with."
    )
    moment = param.Tuple(
        (-1, -1), doc="The cycle stepped to, and the node told of; -1: no stepping, the selection."
    )

    __abstract = True

    built: BuiltDesign

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
            self.param.update(
                region=number,
                cell=("", ""),
                menu=("", ""),
                node=-1,
                kernel=-1,
                moment=self.beginning,
            )

    def select_kernel(self, number: int) -> None:
        """Select a box of the chain, and show the region it lies in; again: select nothing."""
        built = self.built
        if not 0 <= number < len(built.units) or number == self.kernel:
            self.kernel = -1
            return
        self.select_region(built.unit_regions[number])
        self._select(("", ""), -1)
        self.kernel = number

    @property
    def statements(self) -> tuple[str, ...]:
        """The statements of what is selected, by the tensors that they write."""
        if self.kernel >= 0:
            return self.built.units[self.kernel].statements
        if self.node >= 0:
            return (spots(self.current)[self.node].statement,)
        return tuple(c.statement for c in self.current.table.columns if c.name == self.cell[0])

    def open_menu(self, column: str, row: str) -> None:
        """Show what can be chosen at a cell of the table; at none, nothing."""
        there = (column, row) in self.current.table.cells
        self.menu = (column, row) if there else ("", "")

    def select_cell(self, column: str, row: str) -> None:
        """Select a cell of the table, and the graph node it became."""
        origin = f"{column}.{row}"
        made = [n for n in self.current.graph.nodes if n.origin == origin]
        # A joiner belongs to several cells; the cell's own node says more about it.
        own = [n for n in made if primitive(n.op).family is not Family.JOIN] or made
        self._select((column, row), own[-1].id if own else -1)

    def select_node(self, node: int) -> None:
        """Select a graph node, and the cell it came from; -1 selects nothing."""
        nodes = self.current.graph.nodes
        cell = ("", "")
        if 0 <= node < len(nodes):
            column, _, row = nodes[node].origin.partition(".")
            cell = (column, row) if (column, row) in self.current.table.cells else cell
        self._select(cell, node if 0 <= node < len(nodes) else -1)

    def _select(self, cell: tuple[str, str], node: int) -> None:
        self.param.update(cell=cell, node=node, kernel=-1, moment=(self.moment[0], -1))

    def draw_framed(self, on: bool) -> None:
        """Frame the nodes of a table column in the drawing, or do not."""
        self.clusters = on

    def draw_towards(self, direction: str) -> None:
        """Draw from left to right (``LR``) or from top to bottom (``TB``)."""
        self.direction = direction

    def fold(self, folds: Mapping[str, bool]) -> None:
        """Fold or open kernels and regions of the drawing, by key; of others nothing is chosen."""
        self.drawing = replace(self.drawing, folds=tuple(sorted(folds.items())))

    def draw_whole(self, on: bool) -> None:
        """Draw the graphs of all regions, or of the one shown only."""
        self.drawing = replace(self.drawing, whole=on)

    def compare_graph(self, against: str) -> None:
        """Mark what differs from run ``A``, or from ``global`` iteration; empty: nothing."""
        self.drawing = replace(self.drawing, against=against)

    def stop_drawing(self, key: str) -> None:
        """Give up a drawing that takes long, by its key."""
        self.drawing = replace(self.drawing, stopped=key)

    def draw_again(self, key: str) -> None:
        """Try again to draw what was given up, or failed."""
        known, times = self.drawing.again
        again = key, times + 1 if key == known else 1
        self.drawing = replace(self.drawing, stopped="", again=again)

    def look_into(self, window: Window) -> None:
        """Show a window of the timeline, its figures, or a file of it."""
        self.window = window

    @property
    def beginning(self) -> tuple[int, int]:
        """The moment with which stepping through another run begins, where there is stepping."""
        return min(self.moment[0], 0), -1

    def step_to(self, cycle: int, node: int) -> None:
        """Look at a cycle of the region's run, and at a node; -1 is none of that."""
        if 0 <= node < len(self.current.graph.nodes) and node != self.node:
            self.select_node(node)
        self.moment = (max(cycle, -1), node)
