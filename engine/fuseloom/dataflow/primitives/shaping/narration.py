"""Words for coordinates held, masked, merged and shifted."""

from __future__ import annotations

from fuseloom.dataflow.sim.steps.scene import Scene, listed, narrator, passing, short
from fuseloom.dataflow.sim.tokens import DONE, Stop, is_number


@narrator("crdhold")
def crdhold(scene: Scene) -> str:
    """Outer coordinates put beside the inner ones."""
    inner = [scene.read(0, token) for token in scene.taken[0] if token is not DONE]
    outer = [scene.wrote(1, token) for token in scene.put[1] if is_number(token)]
    if not inner:
        return ""
    return f"put {listed(inner)}" + (f", and beside it {listed(outer)}" if outer else "")


@narrator("flatten")
def flatten(scene: Scene) -> str:
    """Two coordinates merged into one."""
    factor = scene.node.params["factor"]
    said = []
    for token in scene.taken[0]:
        if is_number(token):
            outer = scene.heads[1]
            made = listed([short(put) for put in scene.put[0]])
            terms = "" if outer is None else f"{short(outer)} × {factor:,} + {short(token)} = "
            said.append(f"merged {terms}{made}")
        elif isinstance(token, Stop):
            put = [str(t) for t in scene.put[0]]
            said.append(f"took {token}" + (f": put {listed(put)}" if put else ": one level less"))
    return "; ".join(said)


@narrator("shift")
def shift(scene: Scene) -> str:
    """An offset added to a coordinate."""
    said = []
    results = scene.results
    for (token,) in scene.rounds():
        made = short(results.popleft()) if results else "…"
        if is_number(token):
            offset = scene.node.params["offset"]
            said.append(f"shifted {scene.read(0, token)} by {offset:,}: {made}")
        elif token is not DONE:
            said.append(passing(token))
    return "; ".join(said)


@narrator("crdmask")
def crdmask(scene: Scene) -> str:
    """Elements kept or dropped, as the outer coordinate is no greater or greater."""
    said = [f"passed the outer {outer} on" for outer in scene.taken[1] if isinstance(outer, Stop)]
    head = scene.heads[1]
    beside = scene.read(1, head) if head is not None and is_number(head) else "the outer one"
    for token in scene.taken[0]:
        if is_number(token):
            crd = scene.read(0, token)
            kept = any(is_number(t) for t in (*scene.put[0], *scene.put[2]))
            said.append(
                f"kept {crd}: {beside} is not greater"
                if kept
                else f"dropped {crd}: {beside} is greater"
            )
        elif isinstance(token, Stop):
            said.append(passing(token))
    return "; ".join(said)
