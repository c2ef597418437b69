"""Sparse accumulators of any order (``docs/spec/machine.md`` §6.3, §6.4)."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from itertools import groupby
from typing import Any

import numpy as np

from fuseloom.dataflow.primitives.reducers.golden import FOLDS
from fuseloom.dataflow.sim.golden.registry import golden_model
from fuseloom.dataflow.sim.process import Behaviour, Channel, Process, Request
from fuseloom.dataflow.sim.tokens import DONE, EMPTY, Stop, is_leaf, is_number, same
from fuseloom.dataflow.table.cells import MAX_ACCUMULATOR_ORDER

F32 = np.float32


@golden_model("spacc1")
def spacc1(node: Process) -> Behaviour:
    """Per fiber of outer coordinates, fold values by inner coordinate; put them in order.

    A whole row leaves in one cycle, and not before the next row's first inner coordinate has
    arrived.  The inner stop of an empty outer fiber is consumed as soon as the outer stop
    that makes it empty is seen.  Inner coordinates lie below the parameter ``dim``, where given.
    """
    outer, inner, values = node.inputs
    crd_out, val_out = node.outputs
    strict = node.quirks.spacc_strict
    fold = FOLDS[node.param("fn")]
    row: dict[int, F32] = {}
    dim = node.param("dim")

    if not strict and isinstance((yield outer.peek), Stop):  # leading empty outer fiber
        yield inner.take
        yield values.take
    while True:
        head = yield outer.peek
        crd = yield inner.peek
        value = yield values.peek
        if isinstance(head, Stop):
            for key in sorted(row):
                yield crd_out.put(key)
                yield val_out.put(row[key])
            yield val_out.put(head)
            yield crd_out.put(head)
            row.clear()
            yield outer.take
            if isinstance(crd, Stop):
                following = yield outer.peek
                if isinstance(following, Stop):
                    if crd.level == following.level + 1:
                        yield inner.take
                        yield values.take
                    elif not strict:
                        node.fail("outer and inner disagree on an empty fiber", following, crd)
                elif strict and crd.level > 0:
                    node.fail("a row starts with an empty fiber of that level", crd)
        elif head is DONE and crd is DONE:
            if value is not DONE:
                node.fail("inner coordinates and values disagree", crd, value)
            yield crd_out.put(DONE)
            yield val_out.put(DONE)
            return
        else:
            if isinstance(crd, Stop) and same(crd, value):
                if head is not DONE:
                    yield outer.take
                elif not strict:
                    node.fail("the outer coordinates end before the inner", head, crd)
            elif not is_number(crd) or not is_leaf(value) or head is DONE:
                node.fail("outer, inner and values disagree", head, crd, value)
            elif value is EMPTY:
                if strict:
                    node.fail("an empty value", head, crd, value)
            elif dim is not None and not 0 <= crd < dim:
                node.fail(f"coordinate outside the accumulator's dimension {dim}", crd)
            elif crd in row:
                row[crd] = fold.join(row[crd], value)
            else:
                row[crd] = value
            yield inner.take
            yield values.take
        node.clock += 1


@golden_model("spacc2")
def spacc2(node: Process) -> Behaviour:
    """Order 2: as the reference does it, on its machine."""
    return _reference_spacc2(node) if node.quirks.spacc_strict else accumulate(node)


def _reference_spacc2(node: Process) -> Behaviour:
    """Per fiber of the outermost coordinates, add values by the two inner coordinates.

    As in the reference, a fiber without values gives its stop on the outer output only, and the
    inner stops of empty fibers stay unread (``docs/spec/comal.md`` §2.6).
    """
    crd2, crd1, crd0, values = node.inputs
    crd1_out, crd0_out, val_out = node.outputs
    rows: dict[int, dict[int, F32]] = {}
    while True:
        head2 = yield crd2.peek
        head1 = yield crd1.peek
        head0 = yield crd0.peek
        value = yield values.peek
        if isinstance(head2, Stop):
            for key in sorted(rows):
                yield crd1_out.put(key)
                for inner in sorted(rows[key]):
                    yield val_out.put(rows[key][inner])
                    yield crd0_out.put(inner)
                stop = Stop(head2.level + 1 if key == max(rows) else 0)
                yield val_out.put(stop)
                yield crd0_out.put(stop)
            yield crd1_out.put(head2)
            rows.clear()
            yield crd2.take
        elif head2 is DONE:
            if isinstance(head1, Stop):
                yield crd1.take
            elif head1 is DONE and head0 is DONE and value is DONE:
                for out in (crd0_out, crd1_out, val_out):
                    yield out.put(DONE)
                return
            else:
                node.fail("the outermost coordinates end first", head1, head0, value)
        elif isinstance(head1, Stop):
            yield crd1.take
            yield crd2.take
        else:
            yield crd0.take
            yield values.take
            if isinstance(value, Stop) and head0 == value:
                yield crd1.take
            elif not (is_number(head1) and is_number(head0) and is_number(value)):
                node.fail("coordinates and values disagree", head1, head0, value)
            else:
                row = rows.setdefault(head1, {})
                row[head0] = row.get(head0, F32(0)) + value
        node.clock += 1


Tuples = dict[tuple[int, ...], F32]


def accumulate(node: Process) -> Behaviour:
    """Per fiber of the outermost coordinates, fold values by all inner coordinates.

    A cycle per value or stop of the values and one per flush, which puts the whole tree; an
    empty value makes no coordinate, and an empty fiber leaves only its stops.
    """
    outer, inner = node.inputs[0], node.inputs[1:]
    fold = FOLDS[node.param("fn", "add")]
    tree: Tuples = {}

    def add(key: tuple[int, ...], value: Any) -> None:
        if is_number(value):
            tree[key] = fold.join(tree[key], value) if key in tree else value

    while True:
        head = yield outer.take
        if head is DONE:
            for channel in inner:
                if (token := (yield channel.take)) is not DONE:
                    node.fail("the outermost coordinates end first", token)
            for out in node.outputs:
                yield out.put(DONE)
            return
        if isinstance(head, Stop):  # an empty fiber, which leaves a stop on every inner stream
            for depth, channel in enumerate(inner):
                below = min(depth, len(inner) - 2)
                token = yield channel.take
                if not same(token, Stop(head.level + below + 1)):
                    node.fail("an inner stream disagrees on an empty fiber", head, token)
            node.clock += 1
            yield from _flush(node, tree, head)
            continue
        over = yield from _subtree(node, inner, (), add)
        if over > 0:
            closing = yield outer.take
            if closing != Stop(over - 1):
                node.fail("outer and inner disagree on where fibers end", closing)
            yield from _flush(node, tree, closing)


def _subtree(
    node: Process, inner: tuple[Channel, ...], key: tuple[int, ...], add: Any
) -> Generator[Request, Any, int]:
    """Take what one coordinate opened; how many fibers outside it the last stop closed too."""
    crds, values = inner[len(key)], inner[-1]
    innermost = len(key) == len(inner) - 2
    while True:
        crd = yield crds.take
        if isinstance(crd, Stop):  # of an empty fiber; it shows on what is inside as well
            deeper = inner[len(key) + 1 :]
            for depth, channel in enumerate(deeper):
                below = min(depth + 1, len(deeper) - 1)
                token = yield channel.take
                if not same(token, Stop(crd.level + below)):
                    node.fail("streams disagree on where a fiber ends", crd, token)
            node.clock += 1
            return crd.level
        if not is_number(crd):
            node.fail("coordinates end inside a fiber", crd)
        if innermost:
            value = yield values.take
            if not is_leaf(value):
                node.fail("coordinates and values disagree", crd, value)
            add((*key, crd), value)
            node.clock += 1
            continue
        over = yield from _subtree(node, inner, (*key, crd), add)
        if over > 0:
            closing = yield crds.take
            if closing != Stop(over - 1):
                node.fail("coordinate streams disagree on where fibers end", closing)
            return over - 1


def _flush(node: Process, tree: Tuples, closing: Stop) -> Generator[Request, Any, None]:
    """Put the tree in coordinate order, closed by that stop and deeper ones inside."""
    order = len(node.outputs) - 1
    crds, values = node.outputs[:-1], node.outputs[-1]

    def put(keys: list[tuple[int, ...]], depth: int, last: int) -> Iterable[Request]:
        groups = [(crd, list(group)) for crd, group in groupby(keys, lambda key: key[depth])]
        for k, (crd, group) in enumerate(groups):
            yield crds[depth].put(crd)
            if depth == order - 1:
                yield values.put(tree[group[0]])
            else:
                yield from put(group, depth + 1, last + 1 if k == len(groups) - 1 else 0)
        yield crds[depth].put(Stop(last))
        if depth == order - 1:
            yield values.put(Stop(last))

    if tree:
        yield from put(sorted(tree), 0, closing.level)
    else:
        for depth, out in enumerate(node.outputs):
            yield out.put(Stop(closing.level + min(depth, order - 1)))
    tree.clear()
    node.clock += 1


for _order in range(3, MAX_ACCUMULATOR_ORDER + 1):
    golden_model(f"spacc{_order}")(accumulate)
