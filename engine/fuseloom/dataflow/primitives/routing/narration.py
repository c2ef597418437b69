"""Words for copies, lanes and their joins."""

from __future__ import annotations

from fuseloom.dataflow.sim.steps.scene import Scene, listed, narrator
from fuseloom.dataflow.sim.tokens import DONE, is_leaf, is_number
from fuseloom.wording import counted


@narrator("broadcast")
def broadcast(scene: Scene) -> str:
    """A token copied."""
    tokens = [scene.read(0, token) for token in scene.taken[0] if token is not DONE]
    readers = len(scene.outs)
    to = "both its readers" if readers == 2 else f"its {counted(readers, 'reader')}"
    return f"copied {listed(tokens)} to {to}" if tokens and any(scene.put) else ""


@narrator("fork")
def fork(scene: Scene) -> str:
    """A token dealt to a lane."""
    lanes = len(scene.outs)
    said = []
    for token in scene.taken[0]:
        if is_leaf(token):
            lane = scene.state.get("turn", 0)
            scene.state["turn"] = (lane + 1) % lanes
            said.append(f"dealt {scene.read(0, token)} to lane {lane + 1} of {lanes}")
        elif token is not DONE:
            said.append(f"gave {token} to every lane")
    return "; ".join(said)


@narrator("join")
def join(scene: Scene) -> str:
    """Tokens collected from lanes in turn."""
    said = []
    for lane, tokens in enumerate(scene.taken):
        taken = [scene.read(lane, token) for token in tokens]
        if taken:
            said.append(f"took {listed(taken)} from lane {lane + 1} of {len(scene.ins)}")
    put = [scene.wrote(0, token) for token in scene.put[0]]
    return ", ".join(said) + (f" and put {listed(put)}" if put else "")


@narrator("ordered_join")
def ordered_join(scene: Scene) -> str:
    """Tokens collected from lanes, as the guide says."""
    said = [f"took {scene.read(0, t)} from its guide" for t in scene.taken[0] if is_number(t)]
    for lane, tokens in enumerate(scene.taken[1:], 1):
        taken = [scene.read(lane, token) for token in tokens]
        if taken:
            said.append(f"took {listed(taken)} from lane {lane} of {len(scene.ins) - 1}")
    put = [scene.wrote(0, token) for token in scene.put[0]]
    return ", ".join(said) + (f"{' and ' if said else ''}put {listed(put)}" if put else "")
