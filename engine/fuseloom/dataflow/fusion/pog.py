"""The partial order graph (POG): which index must be iterated outside which, and why.

Rules: ``docs/spec/fusion.md`` §2.2, §2.3, §2.7.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from itertools import islice, pairwise
from math import comb
from random import Random
from typing import TYPE_CHECKING

from fuseloom.dataflow.fusion.views import Instance, Leaf, view_names, walk
from fuseloom.display.shows import Shows
from fuseloom.errors import OrderError
from fuseloom.program.printer import declaration
from fuseloom.program.types import BroadcastAdd, Program
from fuseloom.wording import agreeing, counted, described

if TYPE_CHECKING:
    import networkx as nx
else:
    from fuseloom.program.late import networkx as nx


MOST_COUNTED = 50_000
"""Sets of indices at once in counting the orders of a region; some seconds in all."""


class EdgeOrigin(Enum):
    """The origin of an edge of the POG."""

    MODE = "mode order"
    OUTPUT = "output order"
    BROADCAST = "sparse broadcast"
    USER = "user order"


@dataclass(frozen=True)
class Edge:
    """``outer`` must be iterated outside ``inner``."""

    outer: str
    inner: str
    origin: EdgeOrigin
    reason: str
    owner: str = ""  # the view that asks for it
    way: str = field(default="", compare=False)  # how to store a tensor as the user's order wants

    @property
    def hard(self) -> bool:
        """Soft edges are wishes of the user; every other edge is a must."""
        return self.origin is not EdgeOrigin.USER

    def __str__(self) -> str:
        return f"{self.outer}→{self.inner} ({self.reason})"


@dataclass(frozen=True)
class PartialOrderGraph(Shows, html="fuseloom.dataflow.fusion.display:order_html"):
    """Index variables in order of first appearance, and the edges between them."""

    indices: tuple[str, ...]
    edges: tuple[Edge, ...]

    def __repr__(self) -> str:
        return described(self, f"of {','.join(self.indices)}: {counted(len(self.edges), 'edge')}")

    @cached_property
    def _network(self) -> nx.DiGraph:
        network = nx.DiGraph()
        network.add_nodes_from(self.indices)
        network.add_edges_from((e.outer, e.inner) for e in self.edges)
        return network

    @property
    def cyclic(self) -> frozenset[str]:
        """All indices that lie on a cycle."""
        parts = nx.strongly_connected_components(self._network)
        return frozenset(x for part in parts if len(part) > 1 for x in part)

    def cycle(self) -> frozenset[str]:
        """Indices that are each to be iterated outside the other; empty if an order exists."""
        parts = nx.strongly_connected_components(self._network)
        cyclic = [part for part in parts if len(part) > 1]
        place = {x: k for k, x in enumerate(self.indices)}
        return frozenset(min(cyclic, key=lambda part: min(place[x] for x in part), default=()))

    def edges_between(self, outer: str, inner: str) -> tuple[Edge, ...]:
        return tuple(e for e in self.edges if (e.outer, e.inner) == (outer, inner))

    def verify(self) -> None:
        """Check that some order satisfies every edge.

        Raises
        ------
        OrderError
            Naming the edges of a cycle and where each comes from.
        """
        if nx.is_directed_acyclic_graph(self._network):
            return
        cycle = nx.find_cycle(self._network)
        named = [min(self.edges_between(a, b), key=lambda e: not e.hard) for a, b in cycle]
        hint = "cut the region between these statements"
        if any(not e.hard for e in named):
            ways = dict.fromkeys(e.way for e in self.edges if e.way)
            hint = f"{' and '.join(ways) or hint}, or drop the user order"
        elif any(e.origin in (EdgeOrigin.MODE, EdgeOrigin.OUTPUT) for e in named):
            hint = "store one of these tensors in another mode order, or " + hint
        raise OrderError(
            "no dataflow order satisfies these constraints: " + "; ".join(map(str, named)),
            hint=hint,
        )

    def check(self, order: Sequence[str]) -> None:
        """Check one order against every edge.

        Raises
        ------
        OrderError
            Naming the first index that is missing, unknown or out of place, and the edge.
        """
        if sorted(order) != sorted(self.indices):
            missing = [x for x in self.indices if x not in order]
            unknown = [x for x in order if x not in self.indices]
            what = f"lacks {', '.join(missing)}" if missing else f"names {', '.join(unknown)}"
            if not missing and not unknown:
                what = "names an index twice"
            raise OrderError(
                f"order {'→'.join(order)} {what}",
                hint=f"the region's indices are {', '.join(self.indices)}",
            )
        place = {x: k for k, x in enumerate(order)}
        for edge in self.edges:
            if place[edge.outer] > place[edge.inner]:
                raise OrderError(
                    f"order {'→'.join(order)} rejected: {edge.outer} must stay outside "
                    f"{edge.inner}, because {edge.reason}",
                    hint=f"move {edge.outer} before {edge.inner}",
                )

    def orders(self, limit: int | None = None) -> Iterator[tuple[str, ...]]:
        """Yield linear extensions, lexicographic by first appearance of the indices.

        Raises
        ------
        OrderError
            If the edges form a cycle.
        """
        self.verify()
        rank = {x: k for k, x in enumerate(self.indices)}
        before = {x: set(self._network.predecessors(x)) for x in self.indices}

        def extend() -> Iterator[tuple[str, ...]]:
            left = tuple(sorted(self.indices, key=rank.__getitem__))
            frames: list[tuple[tuple[str, ...], tuple[str, ...], Iterator[str]]]
            frames = [((), left, iter(left))]
            while frames:
                done, left, rest = frames[-1]
                x = next((x for x in rest if before[x].isdisjoint(left)), None)
                if x is not None:
                    left = tuple(y for y in left if y != x)
                    frames.append(((*done, x), left, iter(left)))
                    continue
                if not left:
                    yield done
                frames.pop()

        yield from islice(extend(), limit)

    def preferring(self, chains: Iterable[Sequence[str]]) -> PartialOrderGraph:
        """The graph with as many of the chains' edges as can be added without a cycle."""
        network = self._network.copy()
        added: dict[tuple[str, str], Edge] = {}
        for chain in chains:
            for outer, inner in pairwise(chain):
                if network.has_edge(outer, inner) or nx.has_path(network, inner, outer):
                    continue
                network.add_edge(outer, inner)
                added[outer, inner] = Edge(outer, inner, EdgeOrigin.USER, "as the statement reads")
        return PartialOrderGraph(self.indices, (*self.edges, *added.values()))

    def ancestors(self) -> dict[str, frozenset[str]]:
        """Per index, in order of first appearance, those that every order puts outside it.

        Raises
        ------
        OrderError
            If the edges form a cycle.
        """
        self.verify()
        return {x: frozenset(nx.ancestors(self._network, x)) for x in self.indices}

    def count(self) -> int:
        """The exact number of linear extensions, by dynamic programming over down-sets.

        Parts without edges between them, and parts wholly before one another, are counted
        apart and combined, so the state space stays small (``docs/spec/fusion.md`` §2.7).
        """
        count = self.count_within(None)
        assert count is not None
        return count

    def count_within(self, most: int | None) -> int | None:
        """:meth:`count`, or None where it takes more than that many down-sets at once."""
        self.verify()
        return _count(frozenset(self.indices), self._closure, most)

    def sample(self, random: Random) -> tuple[str, ...]:
        """One linear extension, each with the same probability.

        The next index is drawn with the share of the orders that begin with it; counting them
        is exact, so the draw is too.

        Raises
        ------
        OrderError
            If the edges form a cycle.
        """
        self.verify()
        left = frozenset(self.indices)
        order: list[str] = []
        while left:
            weights = self._orders_by_first(left)
            pick = random.randrange(sum(weights.values()))
            for x, weight in weights.items():
                pick -= weight
                if pick < 0:
                    order.append(x)
                    left -= {x}
                    break
        return tuple(order)

    @cached_property
    def _closure(self) -> nx.DiGraph:
        return nx.transitive_closure_dag(self._network)

    @cached_property
    def _counted(self) -> dict[frozenset[str], dict[str, int]]:
        return {}

    def _orders_by_first(self, left: frozenset[str]) -> dict[str, int]:
        """Per index that may come first of these, the number of orders that begin with it."""
        if left not in self._counted:
            pred = self._closure.pred
            first = [x for x in self.indices if x in left and left.isdisjoint(pred[x])]
            self._counted[left] = {x: _count(left - {x}, self._closure) or 0 for x in first}
        return self._counted[left]


def count_text(count: int | None) -> str:
    """A number of orders; ``very many`` where they were not counted.

    >>> count_text(1234), count_text(None)
    ('1,234', 'very many')
    """
    return "very many" if count is None else f"{count:,}"


def orders_text(count: int | None) -> str:
    """Return a number of legal orders with its noun.

    >>> orders_text(1), orders_text(1234), orders_text(None)
    ('1 legal order', '1,234 legal orders', 'very many legal orders')
    """
    return f"{count_text(count)} legal {agreeing(count or 0, 'order', 'orders')}"


def _count(nodes: frozenset[str], closure: nx.DiGraph, most: int | None = None) -> int | None:
    """Linear extensions of these nodes of an order; None where counting is given up."""
    if len(nodes) <= 1:
        return 1
    part = closure.subgraph(nodes)
    parallel = list(nx.weakly_connected_components(part))
    incomparable = nx.complement(part.to_undirected())
    series = [*nx.connected_components(incomparable)] if len(parallel) == 1 else []
    if len(parallel) == 1 == len(series):
        return _count_down_sets(tuple(nodes), part, most)
    total, placed = 1, 0
    for component in series or parallel:
        count = _count(frozenset(component), closure, most)
        if count is None:
            return None
        placed += len(component)
        total *= count if series else count * comb(placed, len(component))
    return total


def _count_down_sets(nodes: tuple[str, ...], part: nx.DiGraph, most: int | None) -> int | None:
    """Ways to grow each down-set from the empty one, level by level."""
    bit = {x: 1 << k for k, x in enumerate(nodes)}
    need = [(bit[x], sum(bit[p] for p in part.predecessors(x))) for x in nodes]
    ways = {0: 1}
    for _ in nodes:
        grown: dict[int, int] = {}
        for done, count in ways.items():
            for mine, before in need:
                if not done & mine and done & before == before:
                    key = done | mine
                    grown[key] = grown.get(key, 0) + count
        ways = grown
        if most is not None and len(ways) > most:
            return None
    return next(iter(ways.values()))


@dataclass(frozen=True)
class Changes:
    """The changes that make a region's constraints consistent (``docs/spec/fusion.md`` §2.3).

    Attributes
    ----------
    copies : mapping
        Leaf views that are stored a second time, by name; to a given order of indices, or (None)
        to whichever the chosen dataflow order wants.
    produced : mapping
        Intermediate views and the order of indices the user wants them produced in.
    dropped : set of (view, outer, inner)
        Wishes of the user that are not followed.
    strict : bool
        Whether all-dense tensors keep their mode order, too.
    """

    copies: Mapping[str, tuple[str, ...] | None] = field(default_factory=dict)
    produced: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    dropped: frozenset[tuple[str, str, str]] = frozenset()
    strict: bool = False


def build_pog(
    program: Program,
    roots: tuple[Instance, ...],
    extents: dict[str, int],
    user_orders: dict[str, tuple[str, ...]],
    *,
    origins: Iterable[EdgeOrigin] = EdgeOrigin,
    changes: Changes | None = None,
) -> PartialOrderGraph:
    """Collect every ordering constraint of a region.

    Parameters
    ----------
    user_orders : dict
        Tensor name of a statement to its dataflow order, in the statement's own index names.
    origins : iterable of EdgeOrigin
        Which kinds of edges to keep; all by default.
    changes : Changes, optional
        What was changed to make the constraints agree.
    """
    wanted = set(origins)
    changes = changes or Changes()
    edges: dict[Edge, None] = {}
    names = {id(view): name for name, view in view_names(roots).items()}

    wishes = dict(_wishes(roots, user_orders, names))

    def chain(
        indices: Sequence[str], origin: EdgeOrigin, reason: str, owner: str = "", way: str = ""
    ) -> None:
        if origin not in wanted:
            return
        for outer, inner in pairwise(indices):
            if (owner, outer, inner) in changes.dropped:
                continue
            edges[Edge(outer, inner, origin, reason, owner, way)] = None

    for view in walk(*roots):
        name = names[id(view)]
        if isinstance(view, Leaf):
            tensor = program.tensor(view.tensor)
            if name in changes.copies:
                modes = changes.copies[name] or ()
                chain(modes, EdgeOrigin.MODE, f"{name} is copied to ({', '.join(modes)})")
            elif changes.strict or not tensor.format.all_dense:
                modes = tuple(view.indices[m] for m in tensor.format.mode_order)
                other = wishes.get(name, modes)
                way = f"'permute {name} to {','.join(other)}'" if other != modes else ""
                reason = f"{view.tensor} is stored ({', '.join(modes)})"
                chain(modes, EdgeOrigin.MODE, reason, name, way)
            continue
        rename = dict(view.renaming)
        statement = view.statement
        if statement.op.joins_by_union and program.broadcast_add is BroadcastAdd.SPARSE:
            spread = any(set(o.indices) != set(view.local) for o in view.operands)
            if spread:
                chain(
                    view.local,
                    EdgeOrigin.BROADCAST,
                    f"{view.tensor} adds an operand that lacks an index, row by row",
                )
        if name in changes.produced:
            order = changes.produced[name]
            chain(order, EdgeOrigin.USER, f"the schedule permutes {name} to {', '.join(order)}")
        elif wish := user_orders.get(view.tensor):
            chain(
                tuple(rename[x] for x in wish),
                EdgeOrigin.USER,
                f"the schedule orders {view.tensor} as {', '.join(wish)}",
                name,
            )
    for root in roots:
        tensor = program.tensor(root.tensor)
        modes = tuple(root.indices[m] for m in tensor.format.mode_order)
        way = ""
        wish = wishes.get(names[id(root)], modes)
        if wish != modes:
            fmt = replace(tensor.format, mode_order=tuple(map(root.indices.index, wish)))
            way = f"declare '{declaration(replace(tensor, format=fmt))}'"
            if root.tensor not in program.outputs:  # of a compound line it is no name of the text
                way += f" (with a line of its own that assigns {root.tensor})"
        chain(modes, EdgeOrigin.OUTPUT, f"{root.tensor} is written ({', '.join(modes)})", way=way)
    return PartialOrderGraph(tuple(extents), tuple(edges))


def _wishes(
    roots: tuple[Instance, ...],
    user_orders: Mapping[str, tuple[str, ...]],
    names: Mapping[int, str],
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Per view that a statement with a user's order reads or writes: its indices in that order."""
    for view in walk(*roots):
        if isinstance(view, Leaf) or view.tensor not in user_orders:
            continue
        rename = dict(view.renaming)
        rank = {rename[x]: k for k, x in enumerate(user_orders[view.tensor])}
        for near in (view, *view.operands):
            if set(near.indices) <= set(rank):
                yield names[id(near)], tuple(sorted(near.indices, key=rank.__getitem__))
