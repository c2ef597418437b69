"""Graph layout in a worker process: Graphviz holds the interpreter's lock while it works."""

from __future__ import annotations

import json
import threading
from functools import lru_cache
from typing import Any

from fuseloom.display.layout import laid_out
from fuseloom_workbench.base.child import Child, ChildError, Send

Points = list[tuple[float, float]]


def draw(dot: str, form: str) -> str:
    """Lay out DOT text, in this process.

    Parameters
    ----------
    form : str
        ``svg``, or ``places`` for where everything is, as JSON: ``size`` of the drawing,
        ``nodes`` (name to x, y of the middle, width, height), ``lines`` (id to an SVG path) and
        ``frames`` (id to x, y of the corner, width, height), in points, y downwards.

    Raises
    ------
    RuntimeError
        If Graphviz cannot draw it.
    """
    try:
        graph = laid_out(dot)
        if form == "svg":
            return str(graph.draw(format="svg").decode())
    except (OSError, ValueError, RuntimeError) as problem:
        raise RuntimeError(f"graph layout failed: {problem}") from problem
    return json.dumps(_places(graph), separators=(",", ":"))


def _places(graph: Any) -> dict[str, Any]:
    left, low, right, high = map(float, str(graph.graph_attr["bb"]).split(","))
    nodes = {}
    for node in graph.nodes():
        x, y = map(float, node.attr["pos"].split(","))
        wide, tall = (float(node.attr[name]) * 72 for name in ("width", "height"))
        nodes[str(node)] = [round(v, 1) for v in (x - left, high - y, wide, tall)]
    lines = {}
    for edge in graph.edges():
        lines[edge.attr["id"]] = _path(edge.attr["pos"], left, high)
    frames = {}
    for frame in _subgraphs(graph):
        corners = list(map(float, str(frame.graph_attr["bb"]).split(",")))
        box = corners[0] - left, high - corners[3], corners[2] - corners[0], corners[3] - corners[1]
        frames[frame.graph_attr["id"]] = [round(v, 1) for v in box]
    size = [round(right - left, 1), round(high - low, 1)]
    return {"size": size, "nodes": nodes, "lines": lines, "frames": frames}


def _subgraphs(graph: Any) -> list[Any]:
    own = graph.subgraphs()
    return [*own, *(inner for frame in own for inner in _subgraphs(frame))]


def _path(text: str, left: float, high: float) -> str:
    """An SVG path of Graphviz's spline, on to the arrow's tip."""
    tip = None
    points: Points = []
    for part in text.split():
        mark, _, rest = part.rpartition(",")
        kind, comma, x = mark.rpartition(",")
        point = float(x if comma else mark) - left, high - float(rest)
        if kind == "e":
            tip = point
        elif kind != "s":
            points.append(point)
    path = f"M{_at(points[0])}C" + " ".join(map(_at, points[1:]))
    return path if tip is None else f"{path}L{_at(tip)}"


def _at(point: tuple[float, float]) -> str:
    return f"{point[0]:.1f},{point[1]:.1f}"


def work(request: tuple[str, str], send: Send) -> None:
    """Lay out one graph; runs inside the worker."""
    try:
        send(("done", draw(*request)))
    except RuntimeError as problem:
        send(("failed", str(problem)))


class _Layouter:
    """One worker for the whole server; it starts at the first request, and again if it died."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._drawing = self._ended = ""

    def start(self) -> Child:
        if self._child is None or not self._child.alive:
            self._child = Child("fuseloom_workbench.graph.layout:work")
        return self._child

    def __call__(self, dot: str, form: str) -> str:
        with self._lock:
            child = self.start()
            self._drawing, self._ended = dot, ""
            try:
                child.send((dot, form))
                kind, text = child.receive()
            except ChildError:  # its last words may be a warning of long ago
                self._child = None
                ended = self._ended == dot
                what = "it was ended" if ended else "its process ended before it was done"
                raise ChildError(f"graph layout failed: {what}") from None
            finally:
                self._drawing = ""
        if kind == "failed":
            raise ChildError(text)
        return text

    def end(self, dot: str) -> None:
        """End the layout of this text, if it is under way."""
        if self._drawing == dot and self._child is not None:
            self._ended = dot
            self._child.end()


_layouter = _Layouter()


@lru_cache(maxsize=256)
def draw_elsewhere(dot: str, form: str) -> str:
    """Do as :func:`draw` in the worker; blocks, so call it from a thread.

    Raises
    ------
    ChildError
        If Graphviz cannot draw it, or was ended.
    """
    return _layouter(dot, form)


def end(dot: str) -> None:
    """End the layout of this text, if it is under way."""
    _layouter.end(dot)


def warm_up() -> None:
    """Start the worker, so that the first drawing does not wait for it."""
    _layouter.start()
