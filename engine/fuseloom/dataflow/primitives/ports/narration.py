"""Words for the ports of the memory."""

from __future__ import annotations

from fuseloom.dataflow.sim.steps.scene import Scene, listed, narrator
from fuseloom.dataflow.sim.tokens import DONE, is_number
from fuseloom.wording import counted


@narrator("mem_read")
def mem_read(scene: Scene) -> str:
    """Describe the requests to the memory, and the answers that have arrived."""
    size = int(scene.node.params["size"])
    said = []
    last = len(scene.ins) - 1
    asked = [scene.read(last, token) for token in scene.taken[-1] if is_number(token)]
    if asked:
        said.append(
            f"took {listed(asked)}: it passes once the memory has its {counted(size, 'byte')}"
        )
    others = [str(t) for t in scene.taken[-1] if not is_number(t) and t is not DONE]
    if others:
        said.append(f"took {listed(others)}")
    put = [scene.wrote(len(scene.put) - 1, t) for t in scene.put[-1] if t is not DONE]
    if put:
        said.append(f"passed {listed(put)} on")
    return "; ".join(said)


@narrator("mem_write")
def mem_write(scene: Scene) -> str:
    """Describe the values that are written to memory."""
    size = int(scene.node.params["size"])
    tokens = [scene.read(0, token) for token in scene.taken[0] if is_number(token)]
    if tokens:
        return f"took {listed(tokens)}, {counted(size, 'byte')} to be written, and passed it on"
    return ""
