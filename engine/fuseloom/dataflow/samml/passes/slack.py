"""The slack of one node ahead of another: the arithmetic of buffer sizes.

A slack counts, per level of nesting, elements of that level.  It is read from the finest level
outwards: a slack of one at level 1 and one at level 3 is "to the end of the next element of
level 1, and then the first token of level 3".  Level 0 is the whole stream.  An element means a
coordinate with the stop that follows it, or a stop on its own; so every element of a level
gives at least one token on each stream below it (its stop), and a slack of n tokens crosses at
most n ends of fibers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.samml.primitive import Nesting


@dataclass(frozen=True)
class Slack:
    """A slack over some reference point.

    Attributes
    ----------
    ahead : tuple of int
        Elements per level.
    passed : tuple of int
        Elements of finer levels by which a coarser one was reached: they lie before it, and
        take room on channels that deep.
    cause : tuple of int
        Per level, the node that asks for elements of it; -1 for the reference point.
    """

    ahead: tuple[int, ...]
    passed: tuple[int, ...]
    cause: tuple[int, ...]

    @classmethod
    def nothing(cls, levels: int) -> Slack:
        return cls((0,) * levels, (0,) * levels, (-1,) * levels)

    def plus(self, level: int, count: int, cause: int = -1) -> Slack:
        """More elements of a level."""
        ahead, causes = list(self.ahead), list(self.cause)
        ahead[level] += count
        if cause >= 0 and count:
            causes[level] = cause
        return Slack(tuple(ahead), self.passed, tuple(causes))

    def shared(self, level: int, lanes: int) -> Slack:
        """One lane's share of the elements of a level."""
        share = -(-self.ahead[level] // lanes)
        return self.plus(level, share - self.ahead[level])

    def finer(self, level: int) -> int:
        """Elements of levels inside that one."""
        return sum(self.ahead[level + 1 :])

    def coarsened(self, level: int) -> Slack:
        """Only whole elements down to that level; what was finer is passed on the way."""
        ahead = self.ahead[: level + 1] + (0,) * (len(self.ahead) - level - 1)
        gone = (0,) * (level + 1) + self.ahead[level + 1 :]
        passed = tuple(a + b for a, b in zip(self.passed, gone, strict=True))
        return replace(self, ahead=ahead, passed=passed)

    def __or__(self, other: Slack) -> Slack:
        """A slack that covers both."""
        pairs = zip(self.ahead, other.ahead, self.cause, other.cause, strict=True)
        chosen = [(a, x) if a >= b else (b, y) for a, b, x, y in pairs]
        passed = tuple(map(max, self.passed, other.passed))
        return Slack(tuple(a for a, _ in chosen), passed, tuple(x for _, x in chosen))

    def tokens(self, extents: Sequence[int]) -> int:
        """Most tokens of a stream with these extents, outermost level first, that make a slack.

        One element of the stream's own level more than the slack has, for the one that the
        reference point is in the middle of.
        """
        depth = len(extents)
        total = 2
        for level, (a, b) in enumerate(zip(self.ahead, self.passed, strict=True)):
            total += (a + b) * element_tokens(extents[min(level, depth) :])
        return total

    def largest(self, extents: Sequence[int]) -> int:
        """The level whose elements take most of the room."""
        depth = len(extents)
        sizes = [a * element_tokens(extents[min(k, depth) :]) for k, a in enumerate(self.ahead)]
        return max(range(len(sizes)), key=sizes.__getitem__)


def element_tokens(inner: Sequence[int]) -> int:
    """Most tokens of one element, given the extents of the levels inside it.

    Leaves, and one stop per innermost fiber.  An empty fiber has a stop of its own, but takes
    the place of at least one leaf with a fiber, so full fibers make most.
    """
    if not inner:
        return 2
    fibers = 1
    for extent in inner[:-1]:
        fibers *= extent
    return fibers * inner[-1] + fibers


def asked(node: Node, need: Slack, kept: int, depth: int, out: int) -> Slack:
    """Return the slack that a node needs on an input before it supplies what its outputs need.

    Parameters
    ----------
    need : Slack
        On its outputs.
    kept : int
        Outer levels that its outputs share with its inputs.
    depth, out : int
        Depth of the input and of the deepest output.
    """
    nesting = primitive(node.op).nesting
    if nesting is Nesting.DEALS:
        # A lane's next token is its next element, or the end of a fiber behind the others'.
        lanes = len(node.outputs)
        return need.plus(depth, (need.ahead[depth] + 1) * (lanes - 1), node.id)
    if nesting is Nesting.COLLECTS:
        level = out - int(node.params["levels"])
        if depth == level:  # the guide, which is looked at before the lanes
            return need.coarsened(level).plus(level, need.finer(level) + 1)
        return need.shared(level, len(node.inputs) - 1)
    kept = min(kept, out)
    if depth < out and depth <= kept:
        # A fiber's end is not known before the next element is seen; any token may be an end.
        return need.coarsened(depth).plus(depth, max(1, need.finer(depth)), node.id)
    if depth <= kept:
        return need
    # Any element of a level that the node makes may take the rest of the outer element, and it
    # looks at the first tokens of what follows; a reducer makes none and looks at nothing.
    more = need.coarsened(kept).plus(kept, need.finer(kept), node.id)
    if out == kept:
        return replace(more, cause=(*more.cause[:kept], node.id, *more.cause[kept + 1 :]))
    for level in range(kept + 1, depth + 1):
        more = more.plus(level, 1)
    return more
