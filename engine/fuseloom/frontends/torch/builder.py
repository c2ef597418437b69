"""Statements of the program while it is being written, in terms of :class:`Value`.

The rule all of this keeps: filled up with what absent elements stand for, a value equals the
module's own dense tensor.  A function that maps 0 to something else is therefore never applied
to a value that may lack elements; a zero is added to all of them first
(:meth:`TorchBuilder.filled`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

from fuseloom.errors import ProgramError
from fuseloom.frontends.algebra.expressions import Node
from fuseloom.frontends.algebra.tensors import axes_of
from fuseloom.frontends.torch.messages import refusal
from fuseloom.frontends.torch.ones import ones_of, ones_where
from fuseloom.frontends.torch.values import Feed, Fetch, Selection, Support, Value, broadcast_shape
from fuseloom.program import Access, Op, Statement
from fuseloom.program.declarations import RESERVED
from fuseloom.program.limits import MAX_NAME_CHARS
from fuseloom.program.relations import Relation, check_relation

LETTERS = "ijklmnpqstuvwxyzabcdefgh"
SCALAR: tuple[int, ...] = ()


class TorchBuilder:
    """Collects statements; ``node`` is the traced operation they are for.

    Parameters
    ----------
    full : callable
        Whether the storage of a feed holds every element.
    mixed : bool
        The program has masked softmaxes and broadcasts that add rows (``broadcast_add dense``),
        so the former must not broadcast by sums.

    Attributes
    ----------
    step : int
        Which step of an unrolled layer statements are for; presets fuse no two of them.
    checks : dict
        Functions of what is known, by name, that refuse inputs which the program is not for.
    selections : dict
        Inputs that select by an index, and the index.
    conditions : dict
        What was computed, its tree and the operands of that, of each condition by its tensor.
    """

    def __init__(self, full: Callable[[Feed], bool], mixed: bool = False) -> None:
        self.feeds: dict[str, Feed] = {}
        self.statements: list[Statement] = []
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.supports: dict[str, Support] = {}
        self.owners: dict[str, Any] = {}
        self.step = 0
        self.steps: dict[str, int] = {}
        self.dense_broadcast = False
        self.masks = False
        self.mixed = mixed
        self.checks: dict[str, Fetch] = {}
        self.selections: dict[str, Selection] = {}
        self.node: Any = None
        self._full = full
        self._taken: set[str] = set(RESERVED)
        self._constants: dict[float, str] = {}
        self._made: dict[tuple[Relation, tuple[int, ...]], str] = {}
        self._computed: dict[tuple[Statement, tuple[int, ...]], str] = {}
        self.conditions: dict[str, tuple[Value, Node, tuple[Value, ...]]] = {}

    def state(self) -> dict[str, Any]:
        """Return a copy of the statements, inputs and names so far, for :meth:`restore`."""
        collections = (dict, list, set)
        return {n: copy(v) if isinstance(v, collections) else v for n, v in vars(self).items()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take back the statements, inputs and names that were added after :meth:`state`."""
        vars(self).update(state)

    # Names and inputs.

    def name(self, wanted: str) -> str:
        """A free name of the language close to the one wanted."""
        base = re.sub(r"[^A-Za-z0-9_]", "_", wanted).lstrip("_")[: MAX_NAME_CHARS - 6]
        base = base if re.match(r"[A-Za-z]", base) else f"t{base}"
        name, count = base, 0
        while name in self._taken:
            name = f"{base}_{count}"
            count += 1
        self._taken.add(name)
        return name

    def feed(
        self,
        label: str,
        shape: Sequence[int],
        fetch: Fetch,
        origins: tuple[str, ...] = (),
        keep: bool = False,
        relation: Relation | None = None,
    ) -> Value:
        """A new input of the program."""
        name = self.name(label)
        given = Feed(name, tuple(shape), label, fetch, origins, keep, relation)
        self.feeds[name] = given
        self.shapes[name] = given.shape
        return Value(name, tuple(range(len(given.shape))), given.shape, self.support_of(name))

    def made(self, part: str, relation: Relation, shape: Sequence[int]) -> Value:
        """An input that holds ones where a relation holds; equal ones are one.

        Raises
        ------
        ProgramError
            More ones than a declared tensor may have.
        """
        key = relation, tuple(shape)
        if key not in self._made:
            label = self.check_made(part, *key)
            ones = partial(ones_where, *key)
            given = self.feed(label, shape, ones, keep=True, relation=relation)
            self._made[key] = given.tensor
        name = self._made[key]
        return Value(name, tuple(range(len(shape))), key[1], self.support_of(name))

    def check_made(self, part: str, relation: Relation, shape: tuple[int, ...]) -> str:
        """Refuse what :meth:`made` does, before anything is allocated; the input's name if not."""
        label = f"{self.node.name}_{part}"
        try:
            check_relation(label, relation, shape)
        except ProgramError as problem:
            raise self.refuse(problem.message, problem.hint or "make it smaller") from None
        return label

    def support_of(self, name: str) -> Support:
        """Return the support of an input by whether its storage holds every element."""
        return Support.FULL if self._full(self.feeds[name]) else Support.ZERO

    def constant(self, value: float) -> Value:
        """A scalar input that holds a number."""
        if value not in self._constants:
            torch_value = float(value)
            words = {0.0: "zero", 1.0: "one"}
            label = words.get(torch_value, "constant")
            made = self.feed(label, SCALAR, lambda env: torch_value)
            self._constants[value] = made.tensor
        return Value(self._constants[value], (), SCALAR, Support.FULL)

    def refuse(self, what: str, hint: str) -> ProgramError:
        return refusal(self.node, what, hint)

    def axis(self, dim: int, rank: int) -> int:
        """A dimension counted from the front; a scalar has none."""
        if not rank:
            raise self.refuse("a dimension of a scalar", "x.reshape(1) has one")
        return dim % rank

    # Statements.

    def emit(
        self,
        part: str,
        op: Op,
        out: tuple[str, ...],
        operands: Sequence[Access],
        sizes: Mapping[str, int],
        *,
        constant: float | None = None,
        axis: str | None = None,
    ) -> str:
        """Add a statement, or find the same one; the name of what it assigns."""
        shape = tuple(sizes[x] for x in out)
        same = Statement(Access("", out), op, tuple(operands), constant, axis)
        if (same, shape) in self._computed:
            return self._computed[same, shape]
        name = self._computed[same, shape] = self.name(f"{self.node.name}_{part}")
        self.statements.append(replace(same, out=Access(name, out)))
        self.shapes[name] = shape
        self.owners[name] = self.node
        self.steps[name] = self.step
        return name

    def rename(self, old: str, wanted: str, since: int) -> str:
        """Give a tensor another name in the statements from ``since`` on."""
        new = self.name(wanted)

        def read(access: Access) -> Access:
            return replace(access, tensor=new) if access.tensor == old else access

        if old in self.conditions:
            self.conditions[new] = self.conditions.pop(old)
        for n in range(since, len(self.statements)):
            s = self.statements[n]
            shape = self.shapes[s.out.tensor]
            del self._computed[_unnamed(s), shape]
            s = replace(s, out=read(s.out), operands=tuple(map(read, s.operands)))
            self._computed[_unnamed(s), shape] = s.out.tensor
            self.statements[n] = s
        self._taken.discard(old)
        self.shapes[new] = self.shapes.pop(old)
        self.owners[new] = self.owners.pop(old)
        self.steps[new] = self.steps.pop(old)
        return new

    def _result(
        self,
        name: str,
        names: Sequence[str],
        out: tuple[str, ...],
        shape: Sequence[int],
        support: Support,
        mask: Value | None = None,
    ) -> Value:
        support = Support.FULL if not out and support is Support.ZERO else support
        return Value(name, axes_of(names, out), tuple(shape), support, mask)

    def aligned(self, values: Sequence[Value], shape: Sequence[int]) -> list[Value]:
        """Values broadcast to one shape."""
        result = []
        for value in values:
            offset = len(shape) - value.rank
            grown = [
                d for d, axis in enumerate(value.axes)
                if axis is not None and value.shape[d] == 1 and shape[d + offset] != 1
            ]  # fmt: skip
            result.append(self.dropped(value, grown).expanded(shape))
        return result

    def dropped(self, value: Value, dims: Sequence[int]) -> Value:
        """The value with stored dimensions of size 1 turned into repeated ones."""
        dims = [d for d in dims if value.axes[d] is not None]
        if not dims:
            return value
        names = LETTERS[: value.rank]
        operand = value.read(names)
        gone = {names[d] for d in dims}
        out = tuple(x for x in operand.indices if x not in gone)
        sizes = dict(zip(names, value.shape, strict=True))
        name = self.emit("flat", Op.SUM, out, [operand], sizes)
        mask = None if value.mask is None else self.dropped(value.mask, dims)
        return self._result(name, names, out, value.shape, value.support, mask)

    def pointwise(self, part: str, op: Op, values: Sequence[Value], support: Support) -> Value:
        """An operation of values of any shapes that broadcast."""
        shape = broadcast_shape(*(v.shape for v in values))
        operands = self.aligned(values, shape)
        names = LETTERS[: len(shape)]
        accesses = [v.read(names) for v in operands]
        used = {x for a in accesses for x in a.indices}
        out = tuple(x for x in names if x in used)
        name = self.emit(part, op, out, accesses, dict(zip(names, shape, strict=True)))
        return self._result(name, names, out, shape, support)

    def unary(
        self,
        part: str,
        op: Op,
        value: Value,
        constant: float | None = None,
        support: Support | None = None,
    ) -> Value:
        """A function of stored elements; absent ones stand for the same as before."""
        names = LETTERS[: value.rank]
        operand = value.read(names)
        out = tuple(x for x in names if x in operand.indices)
        sizes = dict(zip(names, value.shape, strict=True))
        name = self.emit(part, op, out, [operand], sizes, constant=constant)
        support = support or value.support
        mask = value.mask if support is Support.MASKED else None
        return self._result(name, names, out, value.shape, support, mask)

    # Arithmetic with the meaning of dense tensors.

    def unmasked(self, value: Value, what: str) -> Value:
        """Refuse minus infinity where nothing but a softmax can take it."""
        if value.support is Support.MASKED:
            raise self.refuse(
                f"{what} of a tensor that a mask filled with -inf",
                "mask the logits right before their softmax",
            )
        return value

    def filled(self, value: Value, constant: float = 0.0) -> Value:
        """The value plus a constant, with every element stored."""
        self.unmasked(value, "a function")
        if value.support is Support.FULL:
            return value if constant == 0 else self.unary("shift", Op.SHIFT, value, constant)
        self.dense_broadcast = True
        part = "fill" if constant == 0 else "shift"
        return self.pointwise(part, Op.ADD, [value, self.constant(constant)], Support.FULL)

    def scale(self, value: Value, factor: float, part: str = "scale") -> Value:
        if factor == 1:
            return value
        if factor <= 0:
            self.unmasked(value, f"{factor!r} times the elements")
        return self.unary(part, Op.SCALE, value, factor)

    def shift(self, value: Value, term: float) -> Value:
        if value.support is Support.MASKED:
            return self.unary("shift", Op.SHIFT, value, term)
        return self.filled(value, term)

    def add(self, a: Value, b: Value, part: str = "sum", op: Op = Op.ADD) -> Value:
        """``a + b`` or ``a - b``, broadcast."""
        if a.support is Support.MASKED:
            return self._masked_sum(a, b, part, op)
        if b.support is Support.MASKED:
            if op is Op.SUB:
                self.unmasked(b, "the negative")
            return self._masked_sum(b, a, part, op)
        support = Support.FULL if Support.FULL in (a.support, b.support) else Support.ZERO
        result = self.pointwise(part, op, [a, b], support)
        made = next(s for s in reversed(self.statements) if s.out.tensor == result.tensor)
        left, right = (set(x.indices) for x in made.operands)
        self.dense_broadcast = self.dense_broadcast or left != right
        return result

    def _masked_sum(self, a: Value, b: Value, part: str, op: Op) -> Value:
        if a.mask is None:
            raise self.refuse(
                "a sum with a tensor that a mask filled with -inf", "add first, then mask"
            )
        shape = broadcast_shape(a.shape, b.shape)
        if shape != a.shape:
            raise self.refuse("a broadcast of masked logits", "expand the logits before the mask")
        if b.support is Support.MASKED:
            b = self.unmasked(b, "the sum with another")
        (mask,) = self.aligned([a.mask], shape)
        if b.support is Support.ZERO:
            b = self.filled(b)
        kept = self.pointwise("kept", Op.MUL, [b, mask], Support.ZERO)
        result = self.pointwise(part, op, [a, kept], Support.MASKED)
        return replace(result, mask=mask)

    def mul(self, a: Value, b: Value, part: str = "product") -> Value:
        return self.product([a, b], part)

    def product(self, values: Sequence[Value], part: str = "product") -> Value:
        """The product of values, broadcast."""
        full = all(self.unmasked(x, "a product").support is Support.FULL for x in values)
        return self.pointwise(part, Op.MUL, values, Support.FULL if full else Support.ZERO)

    def div(self, a: Value, b: Value, part: str = "quotient") -> Value:
        """``a / b``; an absent numerator gives 0, so the denominator must not be 0 there."""
        self.unmasked(a, "a quotient"), self.unmasked(b, "a quotient")
        return self.pointwise(part, Op.DIV, [a, self.filled(b)], a.support)

    def apply(self, op: Op, value: Value, part: str | None = None) -> Value:
        """One of the machine's functions."""
        part = part or op.value
        keeps_zero = op.keeps_zero
        if value.support is Support.MASKED:
            if op not in (Op.EXP, Op.SIGMOID, Op.RELU):
                self.unmasked(value, op.value)
            return self.unary(part, op, value, support=Support.ZERO)
        return self.unary(part, op, value if keeps_zero else self.filled(value))

    def at_least(self, value: Value, low: float) -> Value:
        """``max(v, low)``."""
        whole = self.unmasked(value if low <= 0 else self.filled(value), "a bound")
        if low == 0:
            return self.unary("floor", Op.RELU, whole)
        return self.unary("floor", Op.AT_LEAST, whole, low)

    # Reductions and products.

    def reduce(self, op: Op, value: Value, dims: Sequence[int], part: str) -> Value:
        """SUM or MAX over dimensions, which stay with size 1."""
        if op is Op.SUM:
            self.unmasked(value, "a sum")
        elif value.support is Support.ZERO:
            value = self.filled(value)
        kept_shape = tuple(1 if d in dims else size for d, size in enumerate(value.shape))
        repeats = 1
        for d in dims:
            repeats *= value.shape[d] if value.axes[d] is None else 1
        stored = [d for d in dims if value.axes[d] is not None]
        result = value
        if stored:
            names = LETTERS[: value.rank]
            operand = value.read(names)
            gone = {names[d] for d in stored}
            out = tuple(x for x in names if x in operand.indices and x not in gone)
            sizes = dict(zip(names, value.shape, strict=True))
            name = self.emit(part, op, out, [operand], sizes)
            support = value.support
            if not out and support is Support.MASKED:
                raise self.refuse(
                    "a maximum over a whole masked tensor", "keep at least one dimension"
                )
            result = self._result(name, names, out, value.shape, support)
        result = replace(result, shape=kept_shape, mask=None)
        return self.scale(result, float(repeats)) if op is Op.SUM else result

    def contract(
        self, operands: Sequence[tuple[Value, Sequence[str]]], out: Sequence[str], part: str
    ) -> Value:
        """Einstein summation: dimensions with one label run together, labels not in ``out`` sum."""
        sizes: dict[str, int] = {}
        for value, labels in operands:
            self.unmasked(value, "a product")
            for label, size in zip(labels, value.shape, strict=True):
                sizes[label] = max(sizes.get(label, 1), size)
        accesses, full = [], True
        partial = [(v, labels) for v, labels in operands if v.support is not Support.FULL]
        for value, labels in operands:
            small = [d for d, x in enumerate(labels) if value.shape[d] == 1 != sizes[x]]
            shrunk = self.dropped(value, small)
            accesses.append(shrunk.read(labels))
            full = full and shrunk.support is Support.FULL
        used = {x for a in accesses for x in a.indices}
        indices = tuple(x for x in out if x in used)
        repeats = 1
        for label, size in sizes.items():
            repeats *= size if label not in used and label not in out else 1
        shape = tuple(sizes[x] for x in out)
        if len(partial) == 1 and partial[0][0].covered is not None:
            full = full or partial[0][1][partial[0][0].covered] not in out
        support = Support.FULL if full else Support.ZERO
        if len(accesses) == 1 and set(indices) == used:
            value = operands[0][0]
            order = [list(operands[0][1]).index(x) if x in operands[0][1] else None for x in out]
            return self.scale(value.picked(order, shape), float(repeats))
        op = Op.MUL if len(accesses) > 1 else Op.SUM
        name = self.emit(part, op, indices, accesses, sizes)
        return self.scale(self._result(name, out, indices, shape, support), float(repeats))

    def stored_dims(self, value: Value, dims: Sequence[int] | None = None) -> Value:
        """The value with each of ``dims`` (all by default) a dimension of a program's tensor."""
        for d in range(value.rank) if dims is None else dims:
            if value.axes[d] is None:
                size = value.shape[d]
                ones = self.feed("ones", (size,), partial(ones_of, size))
                shape = tuple(n if e == d else 1 for e, n in enumerate(value.shape))
                ones = ones.picked([0 if e == d else None for e in range(value.rank)], shape)
                wide = self.pointwise("repeat", Op.MUL, [value, ones], value.support)
                value = replace(wide, mask=value.mask)
        return value


def _unnamed(statement: Statement) -> Statement:
    """A statement without the name of what it assigns: equal ones compute the same."""
    return replace(statement, out=replace(statement.out, tensor=""))
