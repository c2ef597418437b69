"""The notebook display of results: HTML and SVG as text, without any user interface.

Everything that comes from data is escaped; every piece carries its own style, for light and dark
pages, and says how many rows it leaves out where there are many.
"""

from fuseloom.display.drawing import Drawing
from fuseloom.display.markup import Content, Markup, tag
from fuseloom.display.plots import PlotLine, PlotMark, plot
from fuseloom.display.style import shown
from fuseloom.display.tables import bar, table

__all__ = [
    "Content",
    "Drawing",
    "Markup",
    "PlotLine",
    "PlotMark",
    "bar",
    "plot",
    "shown",
    "table",
    "tag",
]
