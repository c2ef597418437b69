"""Products over pairs of nodes, put together: to gather, weigh and add up is one product."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from fuseloom.frontends.torch.builder import TorchBuilder
from fuseloom.frontends.torch.finish import live
from fuseloom.frontends.torch.pairs import Pairs, adjacency
from fuseloom.program import Access, Op, Statement

_LINEAR = (Op.MUL, Op.SUM, Op.SCALE)


@dataclass(frozen=True)
class FoldedProduct:
    """The planned contents of an input: known factors, a number, and separate edges or not."""

    weights: tuple[str, ...]
    constant: float
    numbered: bool


@dataclass
class Folding:
    """Puts products that follow one another together, as far as two factors remain.

    Known factors that have indices of pairs alone become one input, in which edges that join the
    same nodes are added up where nothing tells them apart.

    Attributes
    ----------
    paired : collection of str
        Tensors that have elements at edges only.
    """

    b: TorchBuilder
    pairs: Pairs
    pattern: str
    paired: Collection[str]
    outputs: Sequence[str]
    products: dict[str, FoldedProduct] = field(default_factory=dict)

    def run(self) -> list[str]:
        """Rewrite the builder's statements; names of the inputs that were made."""
        b = self.b
        self.known = {
            n for n, f in b.feeds.items()
            if n in self.paired and f.shape == self.pairs.shape
        } | {self.pattern}  # fmt: skip
        self.readers: dict[str, int] = {}
        for s in b.statements:
            for name in {a.tensor for a in s.operands}:
                self.readers[name] = self.readers.get(name, 0) + 1
        done: dict[str, Statement] = {}
        for s in b.statements:
            if s.op in _LINEAR:
                s = self._folded(s, done)
            elif s.op is Op.MAX:
                s = self._of_original(s, done)
            done[s.out.tensor] = s
        b.statements = live(list(done.values()), self.outputs)
        return self._made()

    def _made(self) -> list[str]:
        """Make the inputs that the statements read."""
        b = self.b
        read = dict.fromkeys(a.tensor for s in b.statements for a in s.operands)
        names = {
            name: adjacency(b, p.weights, self.pairs, p.constant, p.numbered)
            for name, p in self.products.items() if name in read
        }  # fmt: skip
        b.statements = [
            replace(
                s,
                operands=tuple(
                    replace(a, tensor=names.get(a.tensor, a.tensor)) for a in s.operands
                ),
            )
            for s in b.statements
        ]
        return list(names.values())

    def _folded(self, s: Statement, done: dict[str, Statement]) -> Statement:
        while True:
            for access in s.operands:
                inner = done.get(access.tensor)
                new = None if inner is None else self._inlined(s, access, inner)
                if new is not None:
                    s = new
                    break
            else:
                return self._merged(s) or s

    def _of_original(self, s: Statement, done: dict[str, Statement]) -> Statement:
        """Read what a copy is of."""
        (access,) = s.operands
        inner = done.get(access.tensor)
        if inner is None or inner.op is not Op.SUM or inner.reduced:
            return s
        names = dict(zip(inner.out.indices, access.indices, strict=True))
        (read,) = inner.operands
        return replace(s, operands=(replace(read, indices=tuple(names[x] for x in read.indices)),))

    def _inlined(self, s: Statement, access: Access, inner: Statement) -> Statement | None:
        """With the factors of a factor in its place; None if too much would be left to compute."""
        if inner.op not in _LINEAR or inner.reduced or s.operands.count(access) > 1:
            return None
        known = any(a.tensor in self.known for a in inner.operands)
        if not known and (s.op is not Op.SUM or self.readers[access.tensor] > 1):
            return None
        if not known and inner.op is Op.SCALE:
            return None
        names = dict(zip(inner.out.indices, access.indices, strict=True))
        factors = [replace(a, indices=tuple(names[x] for x in a.indices)) for a in inner.operands]
        constant = (s.constant or 1.0) * (inner.constant or 1.0)
        rest = [a for a in s.operands if a is not access]
        new = replace(s, op=Op.MUL, operands=(*rest, *factors), constant=constant)
        merged = self._merged(new)
        return None if merged is None or len(merged.operands) > 2 else new

    def _merged(self, s: Statement) -> Statement | None:
        """With one known factor, or none if another has elements at edges only anyway."""
        known = [a for a in s.operands if a.tensor in self.known]
        constant = s.constant if s.constant is not None else 1.0
        if s.op is Op.SCALE and not known:
            return s
        if not known:
            return replace(s, constant=None) if constant == 1 else None
        ends = known[0].indices
        if any(a.indices != ends for a in known):
            return None
        rest = [a for a in s.operands if a.tensor not in self.known]
        weights: tuple[str, ...] = ()
        for a in known:
            own = self.products.get(a.tensor, FoldedProduct((a.tensor,), 1.0, True))
            weights += tuple(n for n in own.weights if n != self.pattern)
            constant *= own.constant
        weights = tuple(sorted(weights))
        sparse = any(a.tensor in self.paired and set(ends) <= set(a.indices) for a in rest)
        if sparse and not weights and constant == 1:
            return self._statement(s, rest)
        numbered = len(ends) > 2 and (
            ends[2] in s.out.indices or any(ends[2] in a.indices for a in rest)
        )
        if not weights and constant == 1 and (numbered or len(ends) == 2):
            name = self.pattern
        else:
            name = self._product(FoldedProduct(weights, constant, numbered))
        indices = ends if numbered else ends[:2]
        return self._statement(s, [Access(name, indices), *rest])

    def _product(self, wanted: FoldedProduct) -> str:
        """A name for an input that is made if it is needed in the end."""
        for name, made in self.products.items():
            if made == wanted:
                return name
        name = f"?{len(self.products)}"
        self.products[name] = wanted
        if wanted.numbered or len(self.pairs.shape) == 2:
            self.known.add(name)
        return name

    def _statement(self, s: Statement, operands: Sequence[Access]) -> Statement:
        op = Op.MUL if len(operands) > 1 else Op.SUM
        return replace(s, op=op, operands=tuple(operands), constant=None)
