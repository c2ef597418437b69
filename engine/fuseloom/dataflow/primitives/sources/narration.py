"""Words for the sources of streams, and for sinks."""

from __future__ import annotations

from fuseloom.dataflow.sim.steps.scene import Scene, listed, narrator
from fuseloom.dataflow.sim.tokens import is_number


@narrator("root")
def root(scene: Scene) -> str:
    """The start of a traversal."""
    first = any(is_number(token) for token in scene.put[0])
    return "put reference 0, with which the traversal starts" if first else ""


@narrator("source")
def source(scene: Scene) -> str:
    """Given tokens."""
    return f"put {listed([scene.wrote(0, token) for token in scene.put[0]])}, as it was told"


@narrator("sink")
def sink(scene: Scene) -> str:
    """Tokens forgotten."""
    return f"took {listed([scene.read(0, token) for token in scene.taken[0]])} and forgot it"
