"""Streams of worked examples as trees, and primitives on them by rule and by golden model.

A tree is written as it nests: ``{0: [3, 7], 2: []}`` has the coordinates 0 and 2, the first with 3
and 7 under it, the second with nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuseloom.dataflow.cost.exact.execution import RULES, ElementBudget, Executed, ExecutionContext
from fuseloom.dataflow.cost.exact.fiber_levels import ROOT, FiberLevel, Ints, StreamContents
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Node, StreamKind
from fuseloom.dataflow.sim.conformance.bench import bench

Tree = Mapping[int, Any] | Sequence[int]


def ints(*numbers: int) -> Ints:
    return np.array(numbers, dtype=np.int64)


def depth_of(tree: Tree) -> int:
    if not isinstance(tree, Mapping):
        return 1
    return 1 + max(map(depth_of, tree.values()), default=0)


def levels(tree: Tree, depth: int = 0) -> list[FiberLevel]:
    """The levels of a tree, the outermost first."""
    made: list[FiberLevel] = []
    fiber_tree, fibers = ROOT, [tree]
    for _ in range(depth or depth_of(tree)):
        fiber_tree = FiberLevel(
            fiber_tree, np.cumsum([0, *map(len, fibers)]), ints(*(c for f in fibers for c in f))
        )
        made.append(fiber_tree)
        fibers = [f[c] if isinstance(f, Mapping) else () for f in fibers for c in f]
    return made


def crds(tree: Tree, depth: int = 0) -> StreamContents:
    """The coordinates of the innermost level."""
    return StreamContents(levels(tree, depth)[-1])


def refs(fiber_tree: FiberLevel, *numbers: int) -> StreamContents:
    """References at the elements of a level; -1 is the empty token."""
    return StreamContents(fiber_tree, ints(*numbers))


def vals(fiber_tree: FiberLevel, here: str) -> StreamContents:
    """Values at the elements of a level: ``*``, or ``N`` for the empty token."""
    return StreamContents(fiber_tree, None, np.array([token == "*" for token in here.split()]))


def tokens(carried: StreamContents, kind: StreamKind) -> str:
    """Return the tokens of a stream; values are ``*``."""
    chain: list[FiberLevel] = []
    fiber_tree: FiberLevel | None = carried.fiber_tree
    while fiber_tree is not None and fiber_tree.parent is not None:
        chain.insert(0, fiber_tree)
        fiber_tree = fiber_tree.parent

    def leaf(k: int) -> str:
        if carried.here is not None and not carried.here[k]:
            return "N"
        if kind in (StreamKind.SIG, StreamKind.VAL):
            return "R" if kind is StreamKind.SIG else "*"
        return str((carried.fiber_tree.crd if carried.refs is None else carried.refs)[k])

    def fiber(level: int, of: int) -> tuple[list[str], int]:
        """The tokens of a fiber, and the level of the stop behind them."""
        begin, end = chain[level].seg[of : of + 2]
        if level == len(chain) - 1:
            return [leaf(k) for k in range(begin, end)], 0
        found: list[str] = []
        stop = len(chain) - 2 - level
        for k in range(begin, end):
            inside, stop = fiber(level + 1, k)
            found += [*inside, *([f"S{stop}"] if k < end - 1 else [])]
        return found, stop + 1

    made, stop = fiber(0, 0) if chain else ([leaf(0)], -1)
    made += [f"S{stop}"] * (stop >= 0) + ["D"]
    return " ".join("S" if kind is StreamKind.SIG and t[0] == "S" else t for t in made)


class Levels:
    """Sources with one level: that of any tensor, and not known to be full."""

    def __init__(self, seg: Sequence[int] = (), crd: Sequence[int] = ()) -> None:
        self.found = ints(*seg), ints(*crd)

    def level(self, key: str, level: int) -> tuple[Ints, Ints]:
        return self.found

    def full(self, key: str, level: int) -> int:
        return 0

    def identity(self, key: str) -> str:
        return key


@dataclass(frozen=True)
class Done:
    """The work of a primitive.

    Attributes
    ----------
    outputs : tuple of str
        The tokens of each output.
    steps : float
        Cycles of its own work.
    made : Executed
        As its rule says it.
    """

    outputs: tuple[str, ...]
    steps: float
    made: Executed


def done(
    op: str,
    *inputs: StreamContents,
    outputs: int | None = None,
    level: Levels | None = None,
    **params: Any,
) -> Done:
    """Execute a primitive on coordinates; its golden model puts the same tokens in equal steps."""
    entry = primitive(op)
    ports = range(outputs or len(entry.outputs))
    sources = level or Levels()
    everything = {"tensor": "A", "level": 0, **params}
    node = Node(0, op, tuple(range(len(inputs))), tuple(ports), everything)
    made = RULES[op].execute(node, inputs, ExecutionContext(sources, ElementBudget(1e6)))
    kinds = [port.kinds[0] for port in entry.output_ports(len(made.outputs))]
    texts = tuple(map(tokens, made.outputs, kinds))
    given = zip(inputs, entry.input_ports(len(inputs)), strict=True)
    seg, crd = sources.found
    run = bench(
        op,
        *(tokens(carried, port.kinds[0]).replace("*", "1") for carried, port in given),
        params=params,
        arrays={"seg": seg, "crd": crd, "vals": np.ones(99, dtype=np.float32)},
        outputs=len(kinds),
    )
    for text, kind, theirs in zip(texts, kinds, run.tokens, strict=True):
        assert text == (theirs if kind is not StreamKind.VAL else _starred(theirs))
    for carried, text in zip(made.outputs, texts, strict=True):
        assert carried.tokens.total + 1 == len(text.split())
    steps = made.work.total + made.final
    assert steps == run.result.busy[0]
    return Done(texts, steps, made)


def _starred(text: str) -> str:
    return " ".join(t if t[0] in "SND" else "*" for t in text.split())
