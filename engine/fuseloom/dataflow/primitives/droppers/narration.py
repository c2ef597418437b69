"""Words for droppers and aligners."""

from __future__ import annotations

from fuseloom.dataflow.sim.steps.scene import Scene, listed, narrator, passing
from fuseloom.dataflow.sim.tokens import DONE, EMPTY, Stop, is_leaf, is_number


@narrator("crddrop")
def crddrop(scene: Scene) -> str:
    """Outer coordinates kept or dropped, as their fibers have elements or not."""
    said = []
    inner = [token for token in scene.taken[0] if token is not DONE]
    scene.state["seen"] = scene.state.get("seen", 0) + sum(map(is_leaf, inner))
    if inner:
        said.append(f"passed {listed([scene.read(0, token) for token in inner])} on")
    kept = [token for token in scene.put[1] if is_number(token)]
    for head in scene.taken[1]:
        if is_number(head):
            count = scene.state["seen"]
            some = f"{count:,} element" + ("" if count == 1 else "s")
            keeps = bool(kept) or (count > 0 and scene.outs[1] is None)
            crd = scene.read(1, head)
            said.append(
                f"kept {crd}: its fiber has {some}"
                if keeps
                else f"dropped {crd}: its fiber is empty"
            )
            scene.state["seen"] = 0
        elif isinstance(head, Stop):
            said.append(f"passed the outer {head} on")
    return "; ".join(said)


@narrator("valdrop", "zerodrop")
def valdrop(scene: Scene) -> str:
    """Values and coordinates kept or dropped together."""
    zeros = scene.node.op == "zerodrop"
    said = []
    put = list(scene.results)
    for value, crd in scene.rounds():
        what = f"{scene.read(1, crd)} with {scene.read(0, value)}"
        if value is DONE:
            continue
        if isinstance(value, Stop):
            said.append(passing(value) if put else f"dropped {value}")
        elif put:
            said.append(f"kept {what}")
        else:
            why = "nothing there" if value is EMPTY or not zeros else "it is zero"
            said.append(f"dropped {what}: {why}")
    return "; ".join(said)


@narrator("stopdrop")
def stopdrop(scene: Scene) -> str:
    """Stops of fibers that have nothing in them."""
    said = []
    put = list(scene.put[0])
    for (token,) in scene.rounds():
        if isinstance(token, Stop) and not put:
            said.append(f"dropped {token}: nothing came since the last stop")
        elif token is not DONE:
            said.append(f"passed {scene.read(0, token)} on")
    return "; ".join(said)


@narrator("fiber_align")
def fiber_align(scene: Scene) -> str:
    """Subtrees passed on, dropped or inserted."""
    said = []
    have = [token for token in scene.taken[0] if is_number(token)]
    targets = [token for token in scene.taken[1] if is_number(token)]
    for crd in have:
        name = scene.read(0, crd)
        keeps = crd in targets or scene.heads[1] == crd
        scene.state["keeps"] = keeps
        said.append(
            f"{name} is still there: its subtree passes"
            if keeps
            else f"{name} was dropped by the join: its subtree goes with it"
        )
    passed = [scene.read(2, token) for token in scene.taken[2] if token is not DONE]
    put = [scene.wrote(0, token) for token in scene.put[0] if token is not DONE]
    if put:
        said.append(f"put {listed(put)}")
    elif passed:
        said.append(f"took {listed(passed)}" + ("" if scene.state.get("keeps") else ", not needed"))
    if targets and not have and not passed:
        added = listed([scene.read(1, token) for token in targets])
        said.append(f"the join added {added}: an empty subtree for it")
    return "; ".join(said)
