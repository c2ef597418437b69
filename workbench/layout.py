"""Graph layout in a worker process: Graphviz holds the interpreter's lock while it works."""

from __future__ import annotations

import threading
from functools import lru_cache

from workbench.child import Child, ChildError, Send


def work(dot: str, send: Send) -> None:
    """Lay out one graph; runs inside the worker."""
    import pygraphviz

    try:
        graph = pygraphviz.AGraph(string=dot)
        graph.layout("dot")
        send(("done", graph.draw(format="svg").decode()))
    except (OSError, ValueError, RuntimeError) as problem:
        send(("failed", str(problem)))


class _Layouter:
    """One worker for the whole server; it starts at the first request, and again if it died."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: Child | None = None

    def start(self) -> Child:
        if self._child is None or not self._child.alive:
            self._child = Child("workbench.layout:work")
        return self._child

    def __call__(self, dot: str) -> str:
        with self._lock:
            child = self.start()
            try:
                child.send(dot)
                kind, text = child.receive()
            except ChildError as end:
                self._child = None
                raise ChildError(f"graph layout failed: {end}") from None
        if kind == "failed":
            raise ChildError(f"graph layout failed: {text}")
        return text


_layouter = _Layouter()


@lru_cache(maxsize=256)
def svg(dot: str) -> str:
    """The drawing of DOT text as SVG; blocks, so call it from a thread.

    Raises
    ------
    ChildError
        If Graphviz cannot draw it.
    """
    return _layouter(dot)


def warm_up() -> None:
    """Start the worker, so that the first drawing does not wait for it."""
    _layouter.start()
