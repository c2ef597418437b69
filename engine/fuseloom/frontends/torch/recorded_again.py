"""A module recorded once more: inputs by which it does something else are refused."""

from __future__ import annotations

from typing import Any

from fuseloom.errors import DataError
from fuseloom.frontends.torch.capture import (
    Capture,
    edge_data,
    evaluating,
    flattened,
    load_torch,
)
from fuseloom.frontends.torch.recording import record


def differences(old: Capture, new: Capture) -> bool:
    """Return whether two recordings of a module have different operations."""
    torch = load_torch()

    def text(node: Any) -> tuple[str, ...]:
        made = [t for t in flattened(node.meta.get("val")) if isinstance(t, torch.Tensor)]
        shapes = [(tuple(t.shape), t.dtype) for t in made]
        return str(node.target), repr(node.args), repr(node.kwargs), repr(shapes)

    if len(old.nodes) != len(new.nodes) or any(
        text(a) != text(b) for a, b in zip(old.nodes, new.nodes, strict=True)
    ):
        return True
    return not all(
        name in new.constants and _equal(torch, held, new.constants[name])
        for name, held in old.constants.items()
    )


def _equal(torch: Any, a: Any, b: Any) -> bool:
    return a is b or a.data_ptr() == b.data_ptr() or bool(torch.equal(a, b))


def check_same(capture: Capture, module: Any, inputs: tuple[Any, ...]) -> None:
    """Refuse inputs by which a module does something else than what was recorded of it.

    Raises
    ------
    DataError
        They lead to other operations or sizes.
    """
    given = flattened(inputs)
    if not capture.recorded or len(given) != len(capture.arguments):
        return
    with evaluating(module):
        new = again(capture, module, inputs)
    if differences(capture, new):
        decides = ", or chooses other elements" if capture.decisions else ""
        raise DataError(
            f"with these inputs the module does other operations, or on other sizes{decides}, than "
            "with those that the program was made for",
            hint="import the module again with these inputs",
        )


def again(capture: Capture, module: Any, inputs: tuple[Any, ...]) -> Capture:
    """Record a module that is in eval mode once more, with what was frozen frozen again."""
    return record(module, inputs, edge_data(inputs), frozen=capture.frozen, seed=capture.seed)
