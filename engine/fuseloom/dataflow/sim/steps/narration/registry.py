"""Which words tell what a primitive just did.

They are registered under the name of the primitive's catalogue entry, in modules named as those
of the golden models.  Importing :mod:`fuseloom.dataflow.sim.steps.narration` registers all.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

from fuseloom.dataflow.sim.steps.scene import Scene, ending, plain

Narrator = Callable[[Scene], str]
"""Tells what a node did in a cycle, without its name: ``put i = 3 and reference 3``.

It is called for every cycle in which the node took or put a token, in order.  An empty answer
means that there is no more to say than which tokens moved.
"""

_TABLE: dict[str, Narrator] = {}
WORDS = MappingProxyType(_TABLE)
"""Read-only view: catalogue name to words."""


def narrator(*names: str) -> Callable[[Narrator], Narrator]:
    """Decorator: these are the words of the primitives of those names."""

    def register(words: Narrator) -> Narrator:
        _TABLE.update(dict.fromkeys(names, words))
        return words

    return register


def narrate(scene: Scene) -> str:
    """Describe the work of a node in a cycle, in words."""
    words = WORDS[scene.node.op](scene)
    return words or ending(scene) or plain(scene)
