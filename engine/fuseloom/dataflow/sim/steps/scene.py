"""The work of one node in one cycle, and the words for it and its tokens."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.graph import Node, Stream, StreamKind
from fuseloom.dataflow.samml.registry import Registry
from fuseloom.dataflow.sim.steps.recording import Recording
from fuseloom.dataflow.sim.tokens import DONE, Stop, Token, is_number

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_NOUNS = {
    StreamKind.CRD: "coordinate",
    StreamKind.REF: "reference",
    StreamKind.VAL: "value",
    StreamKind.SIG: "signal",
}
LISTED = 4
"""Tokens named one by one; of more, their number is told."""


def short(token: Token) -> str:
    """A token as it stands on an edge: a few characters."""
    if isinstance(token, np.ndarray):
        return "×".join(map(str, token.shape)) + " tile"
    return number(token) if isinstance(token, (int, np.float32)) else str(token)


def number(value: Any) -> str:
    """A value in words: up to five significant digits, a true minus sign."""
    if isinstance(value, np.ndarray):
        return f"a tile of {' × '.join(map(str, value.shape))}"
    return f"{value:,}" if isinstance(value, int) else f"{value:.5g}".replace("-", "−")


def ordinal(position: int) -> str:
    """``first``, ``second``, ... from 0 on."""
    return _ORDINALS[position] if position < len(_ORDINALS) else f"{position + 1}th"


def listed(items: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``; of many, the first and how many more."""
    if len(items) > LISTED:
        return f"{', '.join(items[: LISTED - 1])} and {len(items) - LISTED + 1:,} more"
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))


def noun(stream: Stream | None, many: bool = False) -> str:
    """Return the noun for the numbers of a stream."""
    return (_NOUNS[stream.kind] if stream else "token") + ("s" if many else "")


def named(token: Token, stream: Stream | None) -> str:
    """A token with what it is: ``k = 3``, ``reference 40``, ``value 2.5``, ``S0``."""
    if not is_number(token) or stream is None:
        return short(token)
    if stream.kind is StreamKind.CRD and stream.indices:
        return f"{stream.indices[-1]} = {short(token)}"
    if isinstance(token, np.ndarray):
        return number(token)
    return f"{noun(stream)} {number(token)}"


def closes(stop: Stop) -> str:
    """Describe the fibers that a stop ends."""
    if stop.level == 0:
        return "ends the fiber"
    return f"ends the fiber and {'the one' if stop.level == 1 else stop.level} around it"


@dataclass
class Scene:
    """One node in one cycle.

    Attributes
    ----------
    ins, outs : tuple of Stream
        Streams of its ports; None for an output that nobody reads.
    taken, put : tuple
        Per input, the tokens taken; per output, those put.
    heads : tuple
        Per input, the token seen next and not yet taken, or None.
    state : dict
        What its words keep from one cycle to the next.
    left : tuple of deque
        Per input, tokens taken that no sentence has told of yet.
    """

    node: Node
    machine: Machine
    ins: tuple[Stream, ...]
    outs: tuple[Stream | None, ...]
    state: dict[str, Any] = field(default_factory=dict)
    left: tuple[deque[Token], ...] = ()
    cycle: int = 0
    taken: tuple[tuple[Token, ...], ...] = ()
    put: tuple[tuple[Token, ...], ...] = ()
    heads: tuple[Token | None, ...] = ()

    def read(self, port: int, token: Token) -> str:
        """A token of an input, named."""
        return named(token, self.ins[port])

    def wrote(self, port: int, token: Token) -> str:
        """A token of an output, named."""
        return named(token, self.outs[port])

    def rounds(self) -> Iterator[tuple[Token, ...]]:
        """Tokens taken, one of each input at a time, each once it has come on all inputs."""
        while self.left and all(self.left):
            yield tuple(queue.popleft() for queue in self.left)

    @property
    def results(self) -> deque[Token]:
        """The tokens put on the first output that has a reader."""
        used = [tokens for stream, tokens in zip(self.outs, self.put, strict=True) if stream]
        return deque(used[0] if used else ())

    @property
    def moved(self) -> Iterable[Token]:
        """All tokens taken and put."""
        return [token for tokens in (*self.taken, *self.put) for token in tokens]


def scenes(recording: Recording, node: int) -> Iterator[Scene]:
    """Yield the scenes of a node, cycle by cycle.

    It is one scene that moves on: who wants to keep it takes a copy.
    """
    known = recording.graph.nodes[node]
    streams = recording.graph.streams
    scene = Scene(
        known,
        recording.machine,
        tuple(streams[s] for s in known.inputs),
        tuple(None if s is None else streams[s] for s in known.outputs),
        left=tuple(deque() for _ in known.inputs),
    )
    ins = [_Reel(recording, s, taken=True) for s in known.inputs]
    outs = [None if s is None else _Reel(recording, s, taken=False) for s in known.outputs]
    for cycle in recording.acts(node).tolist():
        scene.cycle = cycle
        scene.taken = tuple(reel.until(cycle) for reel in ins)
        scene.put = tuple(() if reel is None else reel.until(cycle) for reel in outs)
        scene.heads = tuple(reel.head(cycle) for reel in ins)
        for queue, tokens in zip(scene.left, scene.taken, strict=True):
            queue.extend(tokens)
        yield scene


class _Reel:
    """The tokens of one stream, in the order in which one of its ends moves them."""

    def __init__(self, recording: Recording, stream: int, taken: bool) -> None:
        record = recording.streams[stream]
        self.tokens = record.tokens
        self.visible = record.visible.tolist()
        self.clocks = (record.taken if taken else record.put).tolist()
        self.at = 0

    def until(self, cycle: int) -> tuple[Token, ...]:
        """The tokens moved since the last call."""
        first = self.at
        while self.at < len(self.clocks) and self.clocks[self.at] <= cycle:
            self.at += 1
        return self.tokens[first : self.at]

    def head(self, cycle: int) -> Token | None:
        """The next token, if it can be seen."""
        seen = self.at < len(self.tokens) and self.visible[self.at] <= cycle
        return self.tokens[self.at] if seen else None


def plain(scene: Scene) -> str:
    """Describe the tokens that a node took and put."""
    said = []
    for port, tokens in enumerate(scene.taken):
        if tokens:
            where = f" on its {ordinal(port)} input" if len(scene.ins) > 1 else ""
            said.append(f"took {listed([scene.read(port, t) for t in tokens])}{where}")
    put = [(port, tokens) for port, tokens in enumerate(scene.put) if tokens]
    same = len(put) > 1 and len({tuple(map(short, tokens)) for _, tokens in put}) == 1
    for port, tokens in put[:1] if same else put:
        where = f" on its {ordinal(port)} output" if len(scene.outs) > 1 else ""
        where = " on all its outputs" if same and len(put) == len(scene.outs) else where
        said.append(f"put {listed([scene.wrote(port, t) for t in tokens])}{where}")
    return ", ".join(said)


def ending(scene: Scene) -> str | None:
    """Describe a cycle in which only ends of streams moved."""
    if any(token is not DONE for token in scene.moved):
        return None
    if not any(scene.put):
        return "took D: the stream has ended"
    return "put D and ended: there is nothing left to do"


Narrator = Callable[[Scene], str]
"""Tells what a node did in a cycle, without its name: ``put i = 3 and reference 3``.

It is called for every cycle in which the node took or put a token, in order.  An empty answer
means that there is no more to say than which tokens moved.
"""

NARRATORS: Registry[Narrator] = Registry("narration", "sentence", lambda entry: {entry.name})
"""Every primitive's words, by its name."""


def narrator(*names: str) -> Callable[[Narrator], Narrator]:
    """Decorator: these are the words of the primitives of those names."""
    return NARRATORS.registers(*names)


def result_text(results: deque[Token]) -> str:
    """The next result, if it was put in this cycle."""
    token = results.popleft() if results else None
    return "" if token is None else number(token) if is_number(token) else str(token)


def passing(token: Token) -> str:
    """A stop or an empty token that passes unchanged."""
    if isinstance(token, Stop):
        return f"passed {token} on: it {closes(token)}"
    return f"passed {token} on"


def narrate(scene: Scene) -> str:
    """Describe the work of a node in a cycle, in words."""
    words = NARRATORS[scene.node.op](scene)
    return words or ending(scene) or plain(scene)
