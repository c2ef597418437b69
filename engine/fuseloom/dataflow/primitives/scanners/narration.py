"""Words for level scanners and locators."""

from __future__ import annotations

from fuseloom.dataflow.sim.steps.scene import Scene, closes, listed, narrator, short
from fuseloom.dataflow.sim.tokens import DONE, EMPTY, Stop, Token, is_leaf, is_number


def _elements(scene: Scene, tokens: list[Token]) -> str:
    """The elements of a fiber that a scanner put."""
    ref, dim = scene.state["ref"], scene.node.params.get("dim")
    crds = [t for t in scene.put[0] if is_number(t)]
    refs = [t for t in scene.put[1] if is_number(t)]
    count = scene.state["count"] = scene.state.get("count", 0) + len(tokens)
    said = [scene.wrote(0, crd) for crd in crds] + [scene.wrote(1, at) for at in refs]
    text = f"put {listed(said)}"
    if scene.node.op == "dense_scan" and len(crds) == len(refs) == 1 and dim is not None:
        return f"{text} = {short(ref)} × {dim:,} + {short(crds[0])}"
    return f"{text}: element {count:,} of the fiber of reference {short(ref)}"


@narrator("scan", "dense_scan")
def scanner(scene: Scene) -> str:
    """Fibers that references open, and how they end."""
    passed: Stop | None = None
    said: list[str] = []
    for token in scene.taken[0]:
        if isinstance(token, Stop):
            passed = token
        elif is_leaf(token):
            scene.state.update(ref=token, count=0, open=True)
            if token is EMPTY:
                said.append("took N: an absent operand has no fiber to scan")
            else:
                said.append(f"took {scene.read(0, token)}")
    results = list(scene.results)
    if elements := [token for token in results if is_number(token)]:
        said.append(_elements(scene, elements))
    said += [_fiber_end(scene, stop, passed) for stop in results if isinstance(stop, Stop)]
    return " and ".join(said)


def _fiber_end(scene: Scene, stop: Stop, passed: Stop | None) -> str:
    if not scene.state.pop("open", False):
        return f"took S{stop.level - 1} of a fiber without references: put {stop}, a level deeper"
    text = f"put {stop}, which {closes(stop)}"
    if not scene.state.get("count"):
        text += f": reference {short(scene.state['ref'])} has no elements"
    elif passed is not None:
        text += f", because {passed} followed the reference"
    return text


@narrator("locate")
def locate(scene: Scene) -> str:
    """A coordinate looked up in a dense level."""
    said = []
    results = scene.results
    for crd, ref in scene.rounds():
        place = short(results.popleft()) if results else "…"
        if crd is EMPTY or ref is EMPTY:
            said.append("put N: an absent operand has no place to look up")
        elif is_number(crd):
            where = f"{short(ref)} × {scene.node.params['dim']:,} + {short(crd)} = {place}"
            said.append(f"looked {scene.read(0, crd)} up under {scene.read(1, ref)}: {where}")
        elif crd is not DONE:
            said.append(f"passed {crd} on")
    return "; ".join(said)


@narrator("search")
def search(scene: Scene) -> str:
    """Coordinates looked for in a compressed level."""
    for ref in scene.taken[0]:
        if is_number(ref):
            scene.state["ref"] = ref
    found = {token for token in scene.put[0] if is_number(token)}
    refs = [scene.wrote(1, token) for token in scene.put[1] if is_number(token)]
    said = [f"took {scene.read(0, t)}" for t in scene.taken[0] if is_number(t)]
    for crd in (token for token in scene.taken[1] if is_number(token)):
        where = f"looked for {scene.read(1, crd)} under reference {short(scene.state['ref'])}"
        if crd in found or not any(scene.outs):
            said.append(f"{where}: stored, so it put it with {listed(refs) or 'its place'}")
        else:
            said.append(f"{where}: not stored, so it put nothing")
    said += [f"put {t}, which {closes(t)}" for t in scene.results if isinstance(t, Stop)]
    return " and ".join(said)


@narrator("sam_locate")
def sam_locate(scene: Scene) -> str:
    """A coordinate passed on as a reference."""
    said = []
    for ref, crd in scene.rounds():
        if is_number(crd):
            what = f"as reference {short(crd)}, beside {scene.read(0, ref)}"
            said.append(f"passed {scene.read(1, crd)} on {what}")
        elif crd is not DONE:
            said.append(f"passed {crd} on")
    return "; ".join(said)
