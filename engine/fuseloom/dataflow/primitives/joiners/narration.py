"""Words for intersecters and unioners."""

from __future__ import annotations

from fuseloom.dataflow.sim.steps.scene import Scene, closes, listed, narrator, noun, ordinal
from fuseloom.dataflow.sim.tokens import DONE, Stop, Token, is_number
from fuseloom.wording import counted


def _operands(scene: Scene, ports: list[int]) -> str:
    """Which operands: ``its first input``, counted by pairs of coordinate and payload."""
    return " and ".join(f"its {ordinal(port)} operand" for port in ports)


def _all(count: int) -> str:
    return "both operands" if count == 2 else f"all {counted(count, 'operand')}"


def _payloads(scene: Scene) -> str:
    kinds = {noun(stream, many=True) for stream in scene.ins[1::2]}
    return kinds.pop() if len(kinds) == 1 else "payloads"


def _together(scene: Scene, token: Token, count: int) -> str:
    """All operands have the same head."""
    if isinstance(token, Stop):
        return f"took {token} from {_all(count)} and put it: it {closes(token)}"
    crd = scene.read(0, token)
    return f"took {crd} from {_all(count)}: equal, so it passed {crd} and their {_payloads(scene)}"


def _seen(scene: Scene, port: int) -> str:
    head = scene.heads[2 * port]
    if isinstance(head, Stop):
        return f"the {ordinal(port)} has come to the end of its fiber"
    if head is None or head is DONE:
        return f"the {ordinal(port)} has none"
    return f"the {ordinal(port)} is already at {scene.read(2 * port, head)}"


def _step(scene: Scene) -> tuple[Token | None, list[int], list[int]]:
    """The coordinate that moved, the operands that had it, and those that did not."""
    crds = scene.taken[::2]
    had = [port for port, tokens in enumerate(crds) if tokens]
    token = crds[had[0]][-1] if had else None
    return token, had, [port for port in range(len(crds)) if port not in had]


@narrator("intersect")
def intersect(scene: Scene) -> str:
    """Coordinates that all operands have."""
    token, had, lacking = _step(scene)
    if token is None or token is DONE:
        return ""
    if not lacking:
        return _together(scene, token, len(had))
    why = listed([_seen(scene, port) for port in lacking])
    crd = scene.read(2 * had[0], token)
    return f"dropped {crd} of {_operands(scene, had)}: {why}"


@narrator("union")
def union(scene: Scene) -> str:
    """Coordinates that any operand has."""
    token, had, lacking = _step(scene)
    if token is None or token is DONE:
        return ""
    if not lacking:
        return _together(scene, token, len(had))
    crd = scene.read(2 * had[0], token)
    why = listed([_seen(scene, port) for port in lacking])
    if not any(is_number(t) for t in scene.put[0]) and scene.outs[0] is not None:
        return f"dropped {crd} of {_operands(scene, had)}: the operands that count have none"
    return f"put {crd} of {_operands(scene, had)}, with N for the others: {why}"
