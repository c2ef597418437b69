"""Words for value loads and arithmetic."""

from __future__ import annotations

from fuseloom.dataflow.sim.steps.scene import (
    Scene,
    narrator,
    number,
    passing,
    result_text,
)
from fuseloom.dataflow.sim.tokens import DONE, EMPTY, Stop, is_number

SIGNS = {"add": "+", "sub": "−", "mul": "×", "elemmul": "×", "div": "÷"}
"""The operators of the binary functions."""
SCALARS = {"scalaradd": "+", "scalarmul": "×", "scalardiv": "÷"}


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
