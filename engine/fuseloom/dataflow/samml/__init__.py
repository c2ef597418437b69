"""SAMML: takes a fusion table; gives a dataflow graph of the machine's primitives.

The catalogue declares the primitives; lowering makes graphs of them, passes improve the graphs,
``exchange`` reads and writes those of other tools (``docs/spec/comal.md``, ``docs/spec/sam.md``).
"""

from fuseloom.dataflow.samml.catalogue import CATALOGUE
from fuseloom.dataflow.samml.graph import Graph, Node, Stream, StreamKind
from fuseloom.dataflow.samml.lowering import lower
from fuseloom.dataflow.samml.primitive import Family, Nesting, Port, Primitive
from fuseloom.dataflow.samml.text import parse_graph

__all__ = [
    "CATALOGUE",
    "Family",
    "Graph",
    "Nesting",
    "Node",
    "Port",
    "Primitive",
    "Stream",
    "StreamKind",
    "lower",
    "parse_graph",
]
