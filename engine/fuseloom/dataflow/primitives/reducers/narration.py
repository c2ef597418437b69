"""Words for reducers."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from fuseloom.dataflow.primitives.reducers.golden import FOLDS
from fuseloom.dataflow.sim.steps.scene import Scene, narrator, number, result_text
from fuseloom.dataflow.sim.tokens import EMPTY, Stop, Token, is_number


def folded(scene: Scene, key: Hashable, value: Any, what: str) -> str:
    """Fold a value into what the node holds under a key, and tell what is there now."""
    fold = str(scene.node.params.get("fn", "add"))
    held = scene.state.setdefault("held", {})
    name = {"add": "sum", "max": "maximum"}[fold]
    if key not in held:
        held[key] = value
        return f"began the {name}{what} with {number(value)}"
    with np.errstate(all="ignore"):  # as in the run
        held[key] = FOLDS[fold].join(held[key], value)
    now = "" if isinstance(value, np.ndarray) else f": now {number(held[key])}"
    if fold == "add":
        return f"added {number(value)} to the {name}{what}{now}"
    return f"compared {number(value)} with the {name}{what}{now}"


@narrator("reduce")
def reduce(scene: Scene) -> str:
    """One value made of each fiber."""
    said: list[str] = []
    if len(scene.ins) > 1:
        said += [f"took {scene.read(1, t)} as its guide" for t in scene.taken[1] if is_number(t)]
    results = scene.results
    for token in scene.taken[0]:
        if token is EMPTY:
            said.append("skipped N, which adds nothing")
        elif isinstance(token, Stop):
            said.append(_end(scene, token, result_text(results)))
        elif is_number(token):
            said.append(folded(scene, "", token, ""))
    return " and ".join(said)


def _end(scene: Scene, stop: Token, result: str) -> str:
    name = {"add": "sum", "max": "maximum"}[str(scene.node.params["fn"])]
    anything = scene.state.get("held", {}).pop("", None) is not None
    if result == "N":
        return f"took {stop}: the fiber has no values, put N"
    if result.startswith("S") or not result:
        return f"took {stop}: a fiber without elements ended"
    return f"took {stop}: put the {name} {result}" + ("" if anything else " of no values")
