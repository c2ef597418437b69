"""Words for repeat signals, repeaters and replayers."""

from __future__ import annotations

from fuseloom.dataflow.sim.steps.scene import Scene, closes, listed, narrator
from fuseloom.dataflow.sim.tokens import DONE, REPEAT, SIGNAL_STOP, Stop, is_leaf, is_number


@narrator("repsig")
def repsig(scene: Scene) -> str:
    """Leaves turned into R, stops into S."""
    said = []
    for (token,) in scene.rounds():
        if is_leaf(token):
            said.append(f"took {scene.read(0, token)}: put R, repeat once more")
        elif isinstance(token, Stop):
            said.append(f"took {token}: put S, the fiber to repeat along has ended")
    return "; ".join(said)


@narrator("repeat")
def repeat(scene: Scene) -> str:
    """A token put once per R."""
    said = []
    signals = [token for token in scene.taken[1] if token is not DONE]
    for signal, put in zip(signals, scene.results, strict=False):
        if signal is REPEAT:
            copies = scene.state["copies"] = scene.state.get("copies", 0) + 1
            again = f" again, for the {copies:,}th time" if copies > 3 else ""
            again = again or ("", "", " a second time", " a third time")[copies]
            said.append(f"took R: put {scene.wrote(0, put)}{again}")
        elif signal is SIGNAL_STOP and isinstance(put, Stop):
            scene.state["copies"] = 0
            let_go = [scene.read(0, t) for t in scene.taken[0] if is_leaf(t)]
            gone = f"let go of {let_go[0]} and " if let_go else ""
            said.append(f"took S: {gone}put {put}, which {closes(put)}")
    return "; ".join(said)


@narrator("replay")
def replay(scene: Scene) -> str:
    """A subtree put once per coordinate of the driver."""
    said = []
    for head in scene.taken[1]:
        if is_number(head):
            scene.state["copy"] = scene.state.get("copy", 0) + 1
            said.append(f"took {scene.read(1, head)} from the driver")
        elif isinstance(head, Stop):
            scene.state["copy"] = scene.state.get("copy", 0) * (not scene.put[0])
            said.append(f"took {head} from the driver: the subtree is not needed again")
    fresh = [token for token in scene.taken[0] if token is not DONE]
    put = [token for token in scene.put[0] if token is not DONE]
    if put and all(isinstance(token, Stop) for token in put) and scene.taken[1]:
        scene.state["copy"] = 0 if isinstance(scene.taken[1][-1], Stop) else scene.state["copy"]
        said.append(f"put {listed([str(t) for t in put])}, which ends a copy")
    elif put:
        what = listed([scene.wrote(0, token) for token in put])
        how = "as it came, and kept it" if fresh else "once more, from its buffer"
        said.append(f"put {what} {how}")
    elif fresh:
        what = listed([scene.read(0, token) for token in fresh])
        said.append(f"took {what}" + ("" if isinstance(fresh[-1], Stop) else " and dropped it"))
    return " and ".join(said)
