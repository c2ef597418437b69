"""Refusals that name the operation, the line of the user's module, and a way out."""

from __future__ import annotations

import re
import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from engine.errors import ProgramError
from engine.frontends.torch.capture import load_torch

_FRAME = re.compile(
    r'File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>\S+)\n\s*(?P<code>.*)'
)

HINTS = {
    "conv": "an nn.Linear over unfolded patches computes the same",
    "pool": "mean and amax over a dimension are supported; fold the window into one by a reshape",
    "lstm": "write the cell with linear, sigmoid, tanh and mul; GRUCell is supported",
    "gru": "unroll the steps with nn.GRUCell, which is supported",
    "rnn": "write the cell with linear, tanh or relu, and unroll the steps",
    "sort": "choose elements by a mask given as input, values have no order on the machine",
    "topk": "choose elements by a mask given as input",
    "argmax": "return the logits and take the argmax outside; amax is supported",
    "argmin": "return the values and take the argmin outside; amin is supported",
    "cumsum": "a matmul with a triangular matrix of ones computes it",
    "prod": "exp of the sum of logarithms computes it for positive values",
    "erf": "gelu is supported as it is",
    "sin": "compute it outside and give the result as an input or a buffer",
    "cos": "compute it outside and give the result as an input or a buffer",
    "roll": "index_select along the dimension computes it",
    "round": "round outside the module",
    "floor": "round outside the module",
    "ceil": "round outside the module",
    "sign": "multiply by a sign that is given as an input",
    "rand": "draw random numbers outside and give them as an input",
    "dropout": "call module.eval() first, dropout is then the identity",
    "gather": "index_select with one index tensor is supported",
    "scatter": "index_add with one index tensor is supported",
    "inverse": "multiply by the inverse, given as an input",
    "solve": "multiply by the inverse, given as an input",
    "repeat": "expand repeats without copying",
}


def where(node: Any) -> str:
    """``file.py:12 (`code`)`` of a node, or its name in the traced graph.

    Of a cell of a notebook, which is in no file that anybody knows: ``In[3], line 12 (`code`)``.
    """
    place = location(node)
    if place is None:
        return f"node {node.name}"
    path, line, code = place
    cell = _cell(path)
    return (f"{cell}, line {line}" if cell else f"{path}:{line}") + (f" (`{code}`)" if code else "")


def _cell(path: str) -> str:
    """What IPython calls the cell that it compiled under that name; empty for files."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    named = getattr(getattr(shell, "compile", None), "format_code_name", lambda _: None)(path)
    return named[1] if named else ""


def location(node: Any) -> tuple[str, int, str] | None:
    """File, line and code of the innermost frame outside of PyTorch."""
    frames = list(_FRAME.finditer(node.meta.get("stack_trace") or ""))
    library = Path(load_torch().__file__).parent
    own = [f for f in frames if not Path(f["file"]).is_relative_to(library)]
    if not own:
        return None
    frame = own[-1]
    path = Path(frame["file"])
    if path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    return str(path), int(frame["line"]), frame["code"].strip()


def refusal(node: Any, what: str, hint: str) -> ProgramError:
    """``what`` at the place of a node."""
    return ProgramError(f"{what}, at {where(node)}", hint=hint)


def unsupported(node: Any, op: str, known: list[str]) -> ProgramError:
    """An operation that has no translation, and the nearest thing that has one."""
    hint = next((text for part, text in HINTS.items() if part in op), None)
    if hint is None:
        close = get_close_matches(op, known, n=3, cutoff=0.5)
        hint = "compute it outside of the module and give the result as an input"
        if close:
            hint = f"nearest supported: {', '.join(close)}"
    return refusal(node, f"{node.target} is not supported", hint)
