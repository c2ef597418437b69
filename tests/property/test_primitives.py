"""Primitives against plain nested lists: any nesting, empty fibers at every level."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.conformance.bench import bench

VALUES = st.integers(-3, 3)
CAPACITIES = st.sampled_from([1, 2, 3, 16, None])


def stream(nest: Any, depth: int) -> str:
    """The tokens of a nested list (docs/spec/machine.md §1)."""

    def walk(part: Any, levels: int) -> list[str]:
        if levels == 0:
            return ["N" if part is None else str(part)]
        tokens = [token for child in part for token in walk(child, levels - 1)]
        if levels > 1 and part:
            tokens[-1] = f"S{levels - 1}"  # merges with the stop of the last child
        else:
            tokens.append(f"S{levels - 1}")
        return tokens

    return " ".join([*walk(nest, depth), "D"])


def shape(nest: Any, depth: int) -> Any:
    """Coordinates 0, 1, 2, ... in place of the elements ``depth`` levels down."""
    if depth == 1:
        return list(range(len(nest)))
    return [shape(child, depth - 1) for child in nest]


def nests(depth: int, leaf: st.SearchStrategy[Any] = VALUES) -> st.SearchStrategy[Any]:
    result = leaf
    for _ in range(depth):
        result = st.lists(result, max_size=3)
    return result


def at(nest: Any, depth: int, change: Any) -> Any:
    """The nested list with every part ``depth`` levels down changed."""
    return change(nest) if depth == 0 else [at(child, depth - 1, change) for child in nest]


def total(values: list[int | None]) -> int | None:
    present = [v for v in values if v is not None]
    return sum(present) if present else None


@given(nests(3, st.none() | VALUES), CAPACITIES)
def test_guided_reduce(nest: Any, capacity: int | None) -> None:
    run = bench(
        "reduce", stream(nest, 3), stream(shape(nest, 2), 2), params={"fn": "add"},
        capacity=capacity,
    )  # fmt: skip
    assert run.tokens == (stream(at(nest, 2, total), 2),)


def sorted_fibers(depth: int) -> st.SearchStrategy[Any]:
    fiber = st.sets(st.integers(0, 4), max_size=3).map(sorted)
    return nests(depth - 1, fiber)


@given(sorted_fibers(3), st.data(), CAPACITIES)
def test_spacc1(crds: Any, data: st.DataObject, capacity: int | None) -> None:
    values = at(crds, 3, lambda _: data.draw(st.none() | VALUES))
    run = bench(
        "spacc1", stream(shape(crds, 2), 2), stream(crds, 3), stream(values, 3),
        params={"fn": "add"}, capacity=capacity,
    )  # fmt: skip
    keys, sums = [], []
    for rows, row_values in zip(crds, values, strict=True):
        row: dict[int, int] = {}
        for fiber, fiber_values in zip(rows, row_values, strict=True):
            for key, value in zip(fiber, fiber_values, strict=True):
                if value is not None:
                    row[key] = row.get(key, 0) + value
        keys.append(sorted(row))
        sums.append([row[key] for key in sorted(row)])
    assert run.tokens == (stream(keys, 2), stream(sums, 2))


@given(sorted_fibers(3))
def test_crddrop_feeds_the_level_writer(crds: Any) -> None:
    run = bench("crddrop", stream(crds, 3), stream(shape(crds, 2), 2))
    kept = [[k for k, fiber in enumerate(row) if fiber] for row in crds]
    assert run.tokens[1] == stream(kept, 2)
    written = bench("crdwrite", run.tokens[0], params={"tensor": "X", "level": 1}).written
    fibers = [fiber for row in crds for fiber in row if fiber]
    assert written["crd"].tolist() == [c for fiber in fibers for c in fiber]
    assert written["seg"].tolist() == [sum(map(len, fibers[:k])) for k in range(len(fibers) + 1)]


@given(nests(2, st.none() | VALUES))
def test_valdrop(nest: Any) -> None:
    run = bench("valdrop", stream(nest, 2), stream(shape(nest, 2), 2))
    kept = [[(k, v) for k, v in enumerate(row) if v is not None] for row in nest]
    assert run.tokens == (
        stream([[v for _, v in row] for row in kept], 2),
        stream([[k for k, _ in row] for row in kept], 2),
    )


@given(nests(2, st.none() | st.integers(0, 3)), st.lists(st.integers(0, 3), min_size=4, max_size=4))
def test_scan(refs: Any, lengths: list[int]) -> None:
    seg = [sum(lengths[:k]) for k in range(5)]
    crd = [k for length in lengths for k in range(length)]
    run = bench("scan", stream(refs, 2), arrays={"seg": seg, "crd": crd})
    found = at(refs, 2, lambda r: [] if r is None else list(range(lengths[r])))
    positions = at(refs, 2, lambda r: [] if r is None else list(range(seg[r], seg[r + 1])))
    assert run.tokens == (stream(found, 3), stream(positions, 3))


@given(nests(3), CAPACITIES)
def test_repeat(nest: Any, capacity: int | None) -> None:
    signal = bench("repsig", stream(nest, 3)).tokens[0]
    held = shape(nest, 2)
    run = bench("repeat", stream(held, 2), signal, capacity=capacity)
    expected = [[[k] * len(fiber) for k, fiber in enumerate(row)] for row in nest]
    assert run.tokens == (stream(expected, 3),)


@given(st.lists(st.tuples(*[st.sets(st.integers(0, 5), max_size=4)] * 3), max_size=3))
def test_joiners(fibers: list[tuple[set[int], ...]]) -> None:
    crds = [[sorted(f[k]) for f in fibers] for k in range(3)]
    inputs = [x for operand in crds for x in (stream(operand, 2), stream(operand, 2))]
    met = [sorted(set.intersection(*f)) for f in fibers]
    either = [sorted(set.union(*f)) for f in fibers]
    one = bench("intersect", *inputs, outputs=4)
    both = bench("union", *inputs, outputs=4, params={"gate": 0})
    assert one.tokens == (stream(met, 2),) * 4
    assert both.tokens[0] == stream(either, 2)
    for k in range(3):
        present = [[c if c in f[k] else None for c in sorted(set.union(*f))] for f in fibers]
        assert both.tokens[k + 1] == stream(present, 2)
    assert one.clock == both.clock
    gated = bench("union", *inputs, outputs=4, params={"gate": 2})
    opened = [sorted(set.union(*f)) if f[0] | f[1] else [] for f in fibers]
    assert gated.tokens[0] == stream(opened, 2)
    assert gated.clock == both.clock


@given(nests(3), st.integers(1, 4), st.integers(0, 1))
def test_fork_and_ordered_join(nest: Any, lanes: int, levels: int) -> None:
    guide = stream(shape(nest, 2), 2)
    forked = bench("fork", guide, outputs=lanes).tokens
    order = [fiber for row in nest for fiber in row]
    if levels == 0:
        joined = bench("ordered_join", guide, *forked, params={"levels": 0})
        assert joined.tokens == (guide,)
        return
    below: list[Any] = []
    for lane in range(lanes):
        fibers = iter(range(len(order)))
        below.append([[order[k] for k in (next(fibers) for _ in row) if k % lanes == lane]
                      for row in nest])  # fmt: skip
    texts = [stream(rows, 3) for rows in below]
    joined = bench("ordered_join", guide, *texts, params={"levels": 1})
    assert joined.tokens == (stream(nest, 3),)


@settings(max_examples=50)
@given(nests(2), st.data())
def test_room_changes_times_only_and_never_for_the_worse(nest: Any, data: st.DataObject) -> None:
    times = sorted(data.draw(st.lists(st.integers(1, 40), min_size=40, max_size=40)))
    items = stream(nest, 2).split()
    text = " ".join(f"{token}@{time}" for token, time in zip(items, times, strict=False))
    clocks = []
    for capacity in (1, 2, 3, 64, None):
        run = bench("binary", text, text, params={"fn": "add"}, capacity=capacity)
        assert run.tokens == (stream(at(nest, 2, lambda v: v + v), 2),)
        clocks.append(run.clock)
    assert clocks == sorted(clocks, reverse=True)


@given(nests(3))
def test_quirks_change_nothing_where_no_operand_is_empty(nest: Any) -> None:
    full = [row for row in ([fiber for fiber in row if fiber] for row in nest) if row]
    if not full:
        return
    crds = at(full, 2, lambda fiber: list(range(len(fiber))))
    for op, inputs in (
        ("spacc1", (stream(shape(full, 2), 2), stream(crds, 3), stream(full, 3))),
        ("reduce", (stream(full, 3),)),
        ("crddrop", (stream(crds, 3), stream(shape(full, 2), 2))),
    ):
        ours = bench(op, *inputs, params={"fn": "add"})
        theirs = bench(op, *inputs, params={"fn": "add"}, machine=Machine.comal())
        assert ours.outputs == theirs.outputs
        assert ours.clock == theirs.clock


@given(st.integers(2, 4), st.data(), st.sampled_from([None, 64]))
def test_accumulators_of_any_order(order: int, data: st.DataObject, capacity: int | None) -> None:
    """Equal inner coordinates are folded per outermost fiber, whatever is empty."""
    depth = order + 2  # a level outside, the reduced one, and the levels that come out

    def fibers(level: int) -> Any:
        if level == depth:
            return data.draw(st.sampled_from([None, 1, 2, 3]))
        crds = sorted(data.draw(st.sets(st.integers(0, 2), max_size=2)))
        return [(crd, fibers(level + 1)) for crd in crds]

    tree = fibers(0)

    def nest(part: Any, levels: int) -> Any:
        """Coordinates of the level that many levels inside."""
        if levels == 0:
            return [crd for crd, _ in part]
        return [nest(inside, levels - 1) for _, inside in part]

    def values(part: Any, levels: int) -> Any:
        return [inside if levels == 1 else values(inside, levels - 1) for _, inside in part]

    def folded(part: Any) -> dict[tuple[int, ...], int]:
        sums: dict[tuple[int, ...], int] = {}

        def add(inner: Any, key: tuple[int, ...]) -> None:
            for crd, inside in inner:
                if len(key) == order - 1:
                    if inside is not None:
                        sums[*key, crd] = sums.get((*key, crd), 0) + inside
                else:
                    add(inside, (*key, crd))

        for _, inside in part:
            add(inside, ())
        return sums

    def rebuilt(sums: dict[tuple[int, ...], int], key: tuple[int, ...], leaf: int) -> Any:
        """Return the output: coordinates of the level ``leaf``, or values."""
        at = len(key)
        heads = sorted({k[at] for k in sums if k[:at] == key})
        if at == order - 1:
            return heads if leaf == at else [sums[*key, head] for head in heads]
        return heads if leaf == at else [rebuilt(sums, (*key, head), leaf) for head in heads]

    inputs = [stream(nest(tree, k), k + 1) for k in range(1, depth)]
    inputs.append(stream(values(tree, depth), depth))
    run = bench(f"spacc{order}", *inputs, params={"fn": "add"}, capacity=capacity)
    sums = [folded(part) for _, part in tree]
    for k in range(order + 1):
        leaf = min(k, order)
        expected = stream([rebuilt(s, (), leaf) for s in sums], min(k, order - 1) + 2)
        assert run.tokens[k] == expected


@given(st.data(), st.integers(1, 2), st.sampled_from([None, 64]))
def test_fiber_align(data: st.DataObject, levels: int, capacity: int | None) -> None:
    """One subtree per coordinate after the join; those of dropped coordinates are gone."""
    small = st.sets(st.integers(0, 4), max_size=3).map(sorted)
    before = data.draw(st.lists(small, max_size=3))
    after = [data.draw(small) for _ in before]
    subtree = st.lists(st.integers(0, 9), max_size=2)
    if levels == 2:
        subtree = st.lists(subtree, max_size=2)
    trees = [{crd: data.draw(subtree) for crd in fiber} for fiber in before]
    run = bench(
        "fiber_align",
        stream(before, 2),
        stream(after, 2),
        stream([list(tree.values()) for tree in trees], 2 + levels),
        params={"levels": levels},
        capacity=capacity,
    )
    expected = [
        [tree.get(crd, []) for crd in fiber] for tree, fiber in zip(trees, after, strict=True)
    ]
    assert run.tokens[0] == stream(expected, 2 + levels)
