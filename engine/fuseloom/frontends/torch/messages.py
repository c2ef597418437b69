"""Refusals that name the operation, the line of the user's module, and a way out."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from fuseloom.errors import ProgramError
from fuseloom.frontends.torch.capture import load_torch

_FRAME = re.compile(
    r'File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>\S+)\n\s*(?P<code>.*)'
)

OUTSIDE = "compute it outside of the module and give the result as an input"
MASK = "choose elements by a mask or by indices that are given as input"
DRAWN = "draw random numbers outside and give them as an input"
QUANTIZED = "round(x / scale) * scale computes it, between clamps"
WAVES = (
    "it has no counterpart on the machine, whose functions are exp, log, sqrt, tanh, sigmoid, "
    "gelu, erf, sin, cos, atan, abs and those that round; "
    "of positions and buffers alone it is computed beforehand, else give it as an input"
)
COMPLEX = (
    "complex numbers have no counterpart; a discrete Fourier transform is two products, with a "
    "matrix of cosines and one of sines, given as buffers"
)
SOLVE = "there is no counterpart; give the inverse or the factors as an input, and multiply"

HINTS: dict[str, str] = {
    **dict.fromkeys(("polar", "erfinv", "lgamma", "digamma"), WAVES),
    "mode": MASK,
    **dict.fromkeys(("quantile", "nanmedian", "unique", "_unique2", "nonzero"), MASK),
    "logcumsumexp": "log of the running sum of exp computes it for moderate values",
    **dict.fromkeys(("cummax", "cummin"), "there is no running maximum; " + OUTSIDE),
    **dict.fromkeys(("fake_quantize_per_tensor_affine", "quantize_per_tensor"), QUANTIZED),
    **dict.fromkeys(("bernoulli", "normal", "multinomial", "uniform", "exponential"), DRAWN),
    "dropout": "call module.eval() first, dropout is then the identity",
    "masked_select": "multiply by the mask, or index with the places that it keeps",
    **dict.fromkeys(("inverse", "logdet", "qr", "svd", "geqrf", "matrix_exp"), SOLVE),
    **dict.fromkeys(("real", "imag", "complex", "angle"), COMPLEX),
    **dict.fromkeys(("cauchy", "geometric", "log_normal", "normal_functional"), DRAWN),
    "grid_sampler": "give the weights of the samples as a sparse matrix, and multiply",
    "ctc_loss": "there is no counterpart; return the logarithms, and take the loss outside",
    "_ctc_loss": "there is no counterpart; return the logarithms, and take the loss outside",
    "item": "values decide nothing while a module is traced; give the number as an argument",
    "fractional_max_pool2d": "max_pool2d and adaptive_max_pool2d are supported",
    "max_unpool2d": "index_add with indices that are given as input computes it",
    "col2im": "conv_transpose2d with a kernel of 0 and 1 computes it",
    "_transformer_encoder_layer_fwd": "call module.eval() and trace with torch.no_grad()",
}
"""The suggestions by operation; operations without one have no known counterpart."""

FAMILIES = {
    **dict.fromkeys(("linalg_", "_linalg_", "cholesky", "lu_", "triangular_solve"), SOLVE),
    **dict.fromkeys(("fft_", "_fft_", "stft", "istft", "view_as_complex", "view_as_real"), COMPLEX),
    "rand": DRAWN,
}
"""The suggestions by prefix of an operation's name."""


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
    """Return IPython's name of the cell compiled under that name; empty for files."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    named = getattr(getattr(shell, "compile", None), "format_code_name", lambda _: None)(path)
    return named[1] if named else ""


def location(node: Any) -> tuple[str, int, str] | None:
    """File, line and code of the innermost frame outside of PyTorch."""
    frames = list(_FRAME.finditer(node.meta.get("stack_trace") or ""))
    library = Path(load_torch().__file__).parent
    own = [f for f in frames if not Path(f["file"]).is_relative_to(library)]
    own = [f for f in own if not f["file"].startswith("<eval_with_key>")]  # PyTorch's own code
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


def unsupported(node: Any, op: str, problem: ProgramError | None = None) -> ProgramError:
    """An operation that has no translation: what computes the same, or that nothing does.

    ``problem`` is what is wrong with one of its parts.
    """
    op = op.rstrip("_").removesuffix("_copy")
    families = (text for prefix, text in FAMILIES.items() if op.startswith(prefix))
    hint = HINTS.get(op) or next(families, None)
    if hint is None and problem is not None:
        hint = problem.hint
    if hint is None:
        hint = f"there is no counterpart for it; {OUTSIDE}"
    return refusal(node, f"{node.target} is not supported", hint)
