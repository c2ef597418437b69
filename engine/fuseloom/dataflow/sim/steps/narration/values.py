"""Words for value loads and arithmetic, sources and writers."""

from __future__ import annotations

from collections import deque

from fuseloom.dataflow.sim.steps.scene import Scene, closes, listed, narrator, number
from fuseloom.dataflow.sim.tokens import DONE, EMPTY, Stop, Token, is_number

SIGNS = {"add": "+", "sub": "−", "mul": "×", "elemmul": "×", "div": "÷"}
"""The operators of the binary functions."""
SCALARS = {"scalaradd": "+", "scalarmul": "×", "scalardiv": "÷"}


def result_text(results: deque[Token]) -> str:
    """The next result, if it was put in this cycle."""
    token = results.popleft() if results else None
    return "" if token is None else number(token) if is_number(token) else str(token)


def passing(token: Token) -> str:
    """A stop or an empty token that passes unchanged."""
    if isinstance(token, Stop):
        return f"passed {token} on: it {closes(token)}"
    return f"passed {token} on"


@narrator("array")
def array(scene: Scene) -> str:
    """Values loaded."""
    said = []
    results = scene.results
    for (token,) in scene.rounds():
        if is_number(token):
            value = result_text(results)
            loaded = f": {value}" if value else ", which is on its way"
            said.append(f"loaded {scene.node.params['tensor']} at {scene.read(0, token)}{loaded}")
        elif token is EMPTY:
            value = result_text(results)
            said.append("passed N on" if value in ("N", "") else f"took N, nothing: put {value}")
        elif token is not DONE:
            result_text(results)
            said.append(passing(token))
    return "; ".join(said)


@narrator("binary")
def binary(scene: Scene) -> str:
    """A function of two values."""
    name = str(scene.node.params["fn"])
    sign = SIGNS.get(name, name)
    said = []
    results = scene.results
    for a, b in scene.rounds():
        if a is DONE:
            continue
        result = result_text(results)
        if isinstance(a, Stop):
            said.append(passing(a))
        elif result == "N":
            said.append("an operand it needs is absent: put N")
        else:
            none = "absent" if name == "max" else "0 (absent)"
            terms = [number(x) if is_number(x) else none for x in (a, b)]
            done = f" = {result}" if result else ""
            made = f"max({', '.join(terms)})" if name == "max" else f" {sign} ".join(terms)
            said.append(f"computed {made}{done}")
    return "; ".join(said)


@narrator("unary")
def unary(scene: Scene) -> str:
    """A function of one value."""
    name, scalar = str(scene.node.params["fn"]), float(scene.node.params.get("scalar", 0))
    said = []
    results = scene.results
    for (token,) in scene.rounds():
        if token is DONE:
            continue
        result = result_text(results)
        if not is_number(token):
            said.append(passing(token))
            continue
        term = f"{name}({number(token)})"
        if name in SCALARS:
            term = f"{number(token)} {SCALARS[name]} {number(scalar)}"
        elif name == "max":
            term = f"max({number(token)}, {number(scalar)})"
        said.append(f"computed {term}" + (f" = {result}" if result else ""))
    return "; ".join(said)


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
