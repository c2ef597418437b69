"""Words for folds inside tiles."""

from __future__ import annotations

from fuseloom.dataflow.sim.steps.scene import Scene, listed, narrator, passing
from fuseloom.dataflow.sim.tokens import DONE, is_number


@narrator("tilefold")
def tilefold(scene: Scene) -> str:
    """Axes folded inside a tile."""
    before, _, after = str(scene.node.params["tile"]).partition("->")
    gone = [axis for axis in before if axis not in after]
    fold = {"add": "sum", "max": "maximum"}[str(scene.node.params["fn"])]
    done = f"put the {fold} of a tile along {listed(gone)}" if gone else f"turned a tile to {after}"
    said = []
    for (token,) in scene.rounds():
        if is_number(token):
            said.append(done)
        elif token is not DONE:
            said.append(passing(token))
    return "; ".join(said)
