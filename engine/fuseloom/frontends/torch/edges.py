"""Statements over a list of edges, written over pairs of nodes instead.

Importing writes products with selections: ``G[e,f] = S[e,k] * X[k,f]`` gathers what the edges come
from, ``Y[i,f] = R[e,i] * M[e,f]`` adds up where they go.  Here each index over edges becomes a pair
``i,j`` of their ends (:mod:`~fuseloom.frontends.torch.pairs`): the gather is ``P[i,j] * X[j,f]``
with the pattern P of the graph, what is added up is ``sum[j] M[i,j,f]``, functions act on the
elements that there are.  A chain of nothing but products becomes one product with an adjacency
matrix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fuseloom.frontends.torch.builder import LETTERS, TorchBuilder
from fuseloom.frontends.torch.finish import live
from fuseloom.frontends.torch.folding import Folding
from fuseloom.frontends.torch.pairs import pairs_of, pattern, spread_feed
from fuseloom.frontends.torch.values import Support
from fuseloom.program import Access, Op, Statement
from fuseloom.wording import counted

Axis = tuple[str, int]


class _KeptError(Exception):
    """The edges have to stay a list."""


def over_pairs(b: TorchBuilder, env: Mapping[str, Any], outputs: Sequence[str]) -> list[str]:
    """Rewrite what a builder has written; notes about it, one for each list of edges."""
    notes: list[str] = []
    seen: set[frozenset[str]] = set()
    while True:
        b.statements = live(b.statements, outputs)
        classes = {frozenset(n for n, _ in c if n in b.selections): c for c in _edge_classes(b)}
        ends = next((names for names in classes if names not in seen), None)
        if ends is None:
            return notes
        seen.add(ends)
        found = classes[ends]
        before = (list(b.statements), dict(b.feeds), dict(b.shapes), dict(b.owners))
        try:
            notes.append(_Rewriting(b, env, outputs, found).run())
        except _KeptError:
            b.statements, b.feeds, b.shapes, b.owners = before  # as a list, then


# Which axes count edges ---------------------------------------------------------------------------


def _axes(b: TorchBuilder) -> tuple[list[set[Axis]], set[Axis]]:
    """Axes that count the same, and those that are counted in another way by some statement."""
    parent: dict[Axis, Axis] = {}
    apart: set[Axis] = set()

    def root(axis: Axis) -> Axis:
        while (up := parent.setdefault(axis, axis)) != axis:
            axis = up
        return axis

    for s in b.statements:
        if s.op is Op.RESHAPE:
            (read,) = s.operands
            kept = dict(_kept(b.shapes[read.tensor], b.shapes[s.out.tensor]))
            for old in range(len(read.indices)):
                if old in kept:
                    parent[root((read.tensor, old))] = root((s.out.tensor, kept[old]))
                else:
                    apart.add((read.tensor, old))
            apart |= {
                (s.out.tensor, n)
                for n in range(len(s.out.indices)) if n not in kept.values()
            }  # fmt: skip
            continue
        first: dict[str, Axis] = {}
        for access in (s.out, *s.operands):
            for place, x in enumerate(access.indices):
                axis = (access.tensor, place)
                if x == s.axis:
                    apart.add(axis)
                    root(axis)
                else:
                    parent[root(axis)] = root(first.setdefault(x, axis))
    classes: dict[Axis, set[Axis]] = {}
    for axis in list(parent):
        classes.setdefault(root(axis), set()).add(axis)
    return list(classes.values()), apart


def _kept(old: Sequence[int], new: Sequence[int]) -> list[tuple[int, int]]:
    """Axes that a reshape leaves alone: of one size, with as many elements before them."""

    def starts(shape: Sequence[int]) -> dict[tuple[int, int], int]:
        before, result = 1, {}
        for place, size in enumerate(shape):
            result[before, size] = place
            before *= size
        return result

    there = starts(new)
    return [(place, there[key]) for key, place in starts(old).items() if key in there]


def _edge_classes(b: TorchBuilder) -> list[frozenset[Axis]]:
    """Sets of axes that count the edges between nodes that two selections name."""
    classes, apart = _axes(b)
    read = {a.tensor for s in b.statements for a in s.operands}
    result = []
    for axes in classes:
        chosen = [n for n, place in axes if n in b.selections and n in read and place == 0]
        tensors = [name for name, _ in axes]
        plain = len(set(tensors)) == len(tensors) and not axes & apart
        if len(chosen) == 2 and plain and not any((n, 1) in axes for n in b.selections):
            result.append(frozenset(axes))
    return result


# Rewriting ----------------------------------------------------------------------------------------


@dataclass
class _Rewriting:
    """One list of edges."""

    b: TorchBuilder
    env: Mapping[str, Any]
    outputs: Sequence[str]
    axes: frozenset[Axis]
    joined: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Tensors that have an index of nodes beside that of edges: its place, and which end it is."""
    spreads: set[str] = field(default_factory=set)
    listed: set[str] = field(default_factory=set)

    def run(self) -> str:
        b = self.b
        self.at = dict(self.axes)
        rows, columns = self._ends()
        self.pairs = pairs_of(b, self.env, rows, columns)
        self.ends = {rows: 0, columns: 1}
        self.pattern = pattern(b, self.pairs)
        for name, axis in self.at.items():
            if name in b.feeds and name not in self.ends:
                feed = b.feeds[name]
                full = b.support_of(name) is Support.FULL
                b.feeds[name] = spread_feed(feed, axis, self.pairs, full)
                b.shapes[name] = b.feeds[name].shape
        old, b.statements = b.statements, []
        for s in old:
            self._statement(s)
        self._lists()
        paired = {*self.at, *self.spreads} - set(self.ends) - self.listed
        return self._note(Folding(b, self.pairs, self.pattern, paired, self.outputs).run())

    def _ends(self) -> tuple[str, str]:
        """The selection by which something is added up, and the other."""
        chosen = sorted(n for n in self.at if n in self.b.selections)
        for s in self.b.statements:
            for access in s.operands:
                added = access.tensor in chosen and access.indices[1] in s.out.indices
                if added and access.indices[0] not in s.out.indices:
                    return access.tensor, next(n for n in chosen if n != access.tensor)
        return chosen[0], chosen[1]

    # Statements.

    def _statement(self, s: Statement) -> None:
        names = {a.indices[self.at[a.tensor]] for a in (s.out, *s.operands) if a.tensor in self.at}
        if not names:
            self.b.statements.append(s)
            return
        if len(names) > 1:
            raise _KeptError
        (edge,) = names
        ends = self._names(s, edge)
        operands: list[Access] = []
        for access in s.operands:
            if access.tensor not in self.ends:
                operands.append(self._read(access, ends))
            elif s.op not in (Op.MUL, Op.SUM):
                raise _KeptError
        spread = [a for a in s.operands if a.tensor in self.at and a.tensor not in self.ends]
        if not spread:
            operands.append(Access(self.pattern, tuple(ends)))
        if s.op in (Op.ADD, Op.SUB):
            operands = [
                a if old.tensor in self.at else self._spread(s, a, ends)
                for a, old in zip(operands, s.operands, strict=True)
            ]
        if s.op is Op.CONCAT and len(spread) != len(s.operands):
            raise _KeptError
        op = s.op
        if len(s.operands) != len(operands) and len(operands) == 1 and op is Op.MUL:
            op = Op.SUM
        out = self._written(s, ends)
        self.b.statements.append(replace(s, out=out, op=op, operands=tuple(operands)))
        if s.op is Op.RESHAPE:
            self.b.supports[s.out.tensor] = Support.ZERO

    def _names(self, s: Statement, edge: str) -> list[str]:
        """Index names of the ends of an edge: those that selections give them, or new ones."""
        given: dict[int, str] = {}
        for access in s.operands:
            end, name = None, ""
            if access.tensor in self.ends:
                end, name = self.ends[access.tensor], access.indices[1]
            elif access.tensor in self.joined:
                place, end = self.joined[access.tensor]
                name = access.indices[place]
            if end is not None and given.setdefault(end, name) != name:
                raise _KeptError
        if len(set(given.values())) != len(given):
            raise _KeptError
        used = {x for a in (s.out, *s.operands) for x in a.indices} - {edge}
        free = iter([edge, *(x for x in LETTERS if x not in used and x != edge)])
        return [given[n] if n in given else next(free) for n in range(len(self.pairs.shape))]

    def _read(self, access: Access, ends: Sequence[str]) -> Access:
        if access.tensor not in self.at:
            return access
        return Access(access.tensor, self._placed(access, ends))

    def _placed(self, access: Access, ends: Sequence[str]) -> tuple[str, ...]:
        """The indices of a tensor over pairs; the pair stands where its first index stood."""
        edge = self.at[access.tensor]
        node = self.joined.get(access.tensor, (edge, 0))[0]
        result: list[str] = []
        for place, x in enumerate(access.indices):
            if place == min(edge, node):
                result += ends
            elif place not in (edge, node):
                result.append(x)
        return tuple(result)

    def _written(self, s: Statement, ends: Sequence[str]) -> Access:
        name = s.out.tensor
        if name not in self.at:
            return s.out
        edge = self.at[name]
        doubled = [
            (place, ends.index(x))
            for place, x in enumerate(s.out.indices) if place != edge and x in ends
        ]  # fmt: skip
        if len(doubled) > 1:
            raise _KeptError
        if doubled:
            self.joined[name] = doubled[0]
        shape = self.b.shapes[name]
        if s.op is Op.RESHAPE and edge != 0:
            raise _KeptError
        place = min(edge, doubled[0][0]) if doubled else edge
        rest = [n for d, n in enumerate(shape) if d != edge and (not doubled or d != doubled[0][0])]
        self.b.shapes[name] = (*rest[:place], *self.pairs.shape, *rest[place:])
        return Access(name, self._placed(s.out, ends))

    def _spread(self, s: Statement, access: Access, ends: Sequence[str]) -> Access:
        """Spread a value that is the same for all edges to the elements that are edges."""
        out = (*ends, *(x for x in access.indices if x not in ends))
        b = self.b
        name = b.name(f"{s.out.tensor}_spread")
        operands = (Access(self.pattern, tuple(ends)), access)
        self.spreads.add(name)
        b.statements.append(Statement(Access(name, out), Op.MUL, operands))
        sizes = dict(zip(ends, self.pairs.shape, strict=True))
        sizes.update(zip(access.indices, b.shapes[access.tensor], strict=True))
        b.shapes[name] = tuple(sizes[x] for x in out)
        b.owners[name] = b.owners.get(s.out.tensor)
        return Access(name, out)

    # What leaves.

    def _lists(self) -> None:
        """Results that the module returns per edge are read at the edges."""
        b = self.b
        for name in self.outputs:
            if name not in self.at:
                continue
            if name in self.joined or len(self.pairs.shape) > 2 or name in b.feeds:
                raise _KeptError
            edge, pairs = self.at[name], b.name(f"{name}_pairs")
            self.listed.add(name)
            self.spreads.add(pairs)
            b.statements = [_renamed(s, name, pairs) for s in b.statements]
            shape = b.shapes[pairs] = b.shapes.pop(name)
            owner = b.owners[pairs] = b.owners[name]
            names = LETTERS[: len(shape)]
            ends = names[edge : edge + 2]
            e = LETTERS[len(shape)]
            out = (*names[:edge], e, *names[edge + 2 :])
            operands = (
                Access(self.pairs.rows, (e, ends[0])),
                Access(pairs, tuple(names)),
            )
            half = b.name(f"{name}_ends")
            b.statements.append(
                Statement(Access(half, (e, *names[:edge], *names[edge + 1 :])), Op.MUL, operands)
            )
            sizes = dict(zip(names, shape, strict=True)) | {e: self.pairs.edges}
            b.shapes[half] = tuple(sizes[x] for x in (e, *names[:edge], *names[edge + 1 :]))
            b.owners[half] = owner
            last = (
                Access(self.pairs.columns, (e, ends[1])),
                Access(half, (e, *names[:edge], *names[edge + 1 :])),
            )
            b.statements.append(Statement(Access(name, out), Op.MUL, last))
            b.shapes[name] = tuple(sizes[x] for x in out)

    def _note(self, adjacencies: Sequence[str]) -> str:
        pairs = self.pairs
        held = int(self.b.feeds[self.pattern].fetch(self.env)._nnz())
        distinct = held if len(pairs.shape) == 2 else len(set(
            map(tuple, pairs.places(self.env)[:2].t().tolist())
        ))  # fmt: skip
        text = (
            f"{counted(pairs.edges, 'edge')} of {pairs.label} are a matrix of "
            f"{pairs.shape[0]} x {pairs.shape[1]} with {counted(distinct, 'element')}"
        )
        if len(pairs.shape) > 2:
            text += (
                f"; up to {pairs.shape[2]} join the same nodes: they are added up in "
                f"{' and '.join(adjacencies)}" if adjacencies else
                f"; up to {pairs.shape[2]} join the same nodes and have a dimension of their own"
            )  # fmt: skip
        return text


def _renamed(s: Statement, old: str, new: str) -> Statement:
    def read(a: Access) -> Access:
        return replace(a, tensor=new) if a.tensor == old else a

    return replace(s, out=read(s.out), operands=tuple(map(read, s.operands)))
