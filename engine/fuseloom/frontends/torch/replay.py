"""A trace carried out once more: it must compute what the module does.

A trace may leave out what a module does only when it is not traced, as the hooks of messages in
PyTorch Geometric are, and may hold as a constant what follows from an input.  The first shows on
the inputs that it was made with, the second on others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fuseloom.errors import DataError, FuseloomError, ProgramError
from fuseloom.frontends.torch.capture import (
    Capture,
    dense,
    draws,
    edge_data,
    load_torch,
    own_outputs,
    run_node,
)
from fuseloom.frontends.torch.imported import relative_error
from fuseloom.frontends.torch.recorded_again import check_same

TOLERANCE = 1e-3
"""Relative error of a trace, which may compute the same by another formula."""
NARROW = 0.1
"""The same where something is computed in bfloat16 or float16."""


def replay(capture: Capture, inputs: tuple[Any, ...]) -> list[Any]:
    """Carry out the operations of a trace; the tensors that it returns, flattened and dense."""
    torch = load_torch()
    env = capture.placeholders(inputs)
    for node in capture.nodes:
        if node.op == "call_function":
            env[node.name] = run_node(node, env)
    returned = [env[n.name] if hasattr(n, "meta") else n for n in capture.returned]
    return [dense(torch, held) for held in returned if isinstance(held, torch.Tensor)]


def comparable(capture: Capture) -> bool:
    """Return whether two calls of a module must agree: it draws no random numbers."""
    return not any(map(draws, capture.nodes))


def error(capture: Capture, module: Any, inputs: tuple[Any, ...]) -> float:
    """The relative error of a trace against its module, beyond what rounding explains; else 0.

    Raises
    ------
    DataError
        The module cannot be computed.
    """
    want = own_outputs(module, inputs, capture.seed)
    try:
        got = replay(capture, inputs)
    except Exception:  # PyTorch's, of any kind
        return float("inf")
    if len(got) != len(want) or any(a.shape != b.shape for a, b in zip(got, want, strict=True)):
        return float("inf")
    found = [relative_error(_array(a), _array(b)) for a, b in zip(got, want, strict=True)]
    most = max(found, default=0.0)
    return most if most > (NARROW if capture.narrow else TOLERANCE) else 0.0


def drawn_again(inputs: tuple[Any, ...], spread: float = 0.5) -> tuple[Any, ...]:
    """Inputs with other floats: what is 0 or infinite stays, and so do signs and all that is no
    float, or says what a graph is.

    Parameters
    ----------
    spread : float
        How far each is from the given one at most, as a share of it.
    """
    torch = load_torch()
    leaves, spec = torch.utils._pytree.tree_flatten(inputs)
    fixed, chance = edge_data(inputs), torch.Generator().manual_seed(0)

    def other(held: Any) -> Any:
        chosen = torch.rand(held.shape, generator=chance, dtype=torch.float32)
        factors = 1.0 + spread * (2.0 * chosen - 1.0)
        return (held.detach() * factors.to(held.device)).to(held.dtype)

    new = [
        other(held)
        if isinstance(held, torch.Tensor) and held.is_floating_point() and place not in fixed
        else held
        for place, held in enumerate(leaves)
    ]
    made: tuple[Any, ...] = torch.utils._pytree.tree_unflatten(new, spec)
    return made


def check_faithful(capture: Capture, module: Any, inputs: tuple[Any, ...]) -> None:
    """Refuse a trace that does not compute what its module does.

    Raises
    ------
    ProgramError
        It differs, on these inputs or on others.
    """
    if not comparable(capture):
        return
    for given, which in ((inputs, "these inputs"), *_others(capture, module, inputs)):
        try:
            found = error(capture, module, given)
        except DataError:
            if given is inputs:
                raise
            continue  # the module does not take them
        if found:
            raise ProgramError(
                f"the trace of {type(module).__name__} does not compute what the module does: "
                f"with {which}, its relative error is {found:.1e}",
                hint="everything that the results depend on must be an argument of forward, a "
                "parameter or a buffer",
            )


def _others(
    capture: Capture, module: Any, inputs: tuple[Any, ...]
) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Other inputs, with which a module decides what it decided; none where none are found."""
    for spread in (0.5, 0.01, 1e-4) if capture.decisions else (0.5,):
        given = drawn_again(inputs, spread)
        if capture.decisions:
            try:
                check_same(capture, module, given)
            except FuseloomError:
                continue
        yield given, "other inputs"
        return


def _array(tensor: Any) -> Any:
    return np.asarray(tensor.cpu().double().numpy(), dtype=np.float64)
