"""Which of a module's parts each operation of its trace belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

MODULE = "module"
"""Of a recorded node's ``meta``: the dotted name of the part that carries it out."""


@contextmanager
def called_parts(module: Any) -> Iterator[list[str]]:
    """The dotted names of the parts that are being called, the innermost last, while in here."""
    called: list[str] = []
    with ExitStack() as hooks:
        for name, part in module.named_modules():
            if not name:
                continue

            def enter(*_: Any, name: str = name) -> None:
                called.append(name)

            def leave(*_: Any) -> None:
                called.pop()

            try:
                hooks.callback(part.register_forward_pre_hook(enter, prepend=True).remove)
                hooks.callback(part.register_forward_hook(leave, always_call=True).remove)
            except RuntimeError:  # a ScriptModule takes no hooks
                continue
        yield called


def part_name(node: Any) -> str:
    """The dotted name of the part of a module that a node belongs to; empty for its own code.

    ``torch.export`` notes calls from the outermost on; recordings note the innermost.
    """
    if MODULE in node.meta:
        return str(node.meta[MODULE])
    stack = node.meta.get("nn_module_stack") or {}
    path, _ = next(reversed(stack.values()), ("", None))
    return str(path).removeprefix("L['self'].").removeprefix("L['self']")
