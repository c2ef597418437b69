"""Words for writers."""

from __future__ import annotations

from fuseloom.dataflow.sim.steps.scene import Scene, narrator, number
from fuseloom.dataflow.sim.tokens import DONE, Stop, is_number


@narrator("crdwrite")
def crdwrite(scene: Scene) -> str:
    """Coordinates written, and where fibers end."""
    said = []
    state = scene.state
    state.setdefault("open", scene.machine.quirks.writer_records_leading_empty)
    for token in scene.taken[0]:
        if is_number(token):
            state["count"] = state.get("count", 0) + 1
            state["open"] = True
            said.append(f"wrote {scene.read(0, token)}, coordinate {state['count']:,} of its level")
        elif isinstance(token, Stop) and state["open"]:
            state["open"] = False
            said.append(f"took {token}: noted that the fiber ends after {state.get('count', 0):,}")
        elif token is not DONE:
            said.append(f"ignored {token}: no coordinate came since the last stop")
    return "; ".join(said)


@narrator("valwrite")
def valwrite(scene: Scene) -> str:
    """Values written."""
    said = []
    for token in scene.taken[0]:
        if is_number(token):
            scene.state["count"] = scene.state.get("count", 0) + 1
            said.append(f"wrote {number(token)}, value {scene.state['count']:,} of the result")
        elif token is not DONE:
            said.append(f"took {token}: nothing to write")
    return "; ".join(said)
