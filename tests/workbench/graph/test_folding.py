"""Folding loses nothing: every edge is in one bundle or in one box."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from fuseloom_workbench.graph.folding import (
    FoldableGraph,
    Group,
    GroupEdge,
    GroupLevel,
    Item,
    closed_groups,
    fold,
)


def random_net(seed: int, nodes: int = 30) -> FoldableGraph:
    """Nodes in kernels, kernels in regions; some nodes in no kernel."""
    rng = random.Random(seed)
    groups = {f"r{k}": Group(f"r{k}", f"region {k}", GroupLevel.REGION) for k in range(3)}
    groups |= {f"k{k}": Group(f"k{k}", f"kernel {k}", GroupLevel.KERNEL) for k in range(6)}
    items = []
    for n in range(nodes):
        kernel = rng.randrange(7)
        region = f"r{rng.randrange(3)}" if kernel == 6 else f"r{kernel // 2}"
        items.append(Item(f"n{n}", (region,) if kernel == 6 else (region, f"k{kernel}")))
    lines = [
        GroupEdge(f"e{k}", f"n{rng.randrange(nodes)}", f"n{rng.randrange(nodes)}")
        for k in range(2 * nodes)
    ]
    return FoldableGraph(tuple(items), tuple(lines), groups)


@pytest.mark.parametrize("seed", range(5))
def test_every_edge_is_in_one_bundle_or_inside_one_box(seed):
    net = random_net(seed)
    closed = set(random.Random(seed).sample(sorted(net.groups), 4))
    folded = fold(net, closed)
    where = Counter(x for bundle in folded.bundles for x in bundle.lines)
    where.update(x for box in folded.boxes for x in box.inside)
    assert where == Counter(line.key for line in net.lines), seed
    members = [key for box in folded.boxes for key in box.members]
    assert Counter(members + [i.key for i in folded.items]) == Counter(i.key for i in net.items)
    owner = {key: box.key for box in folded.boxes for key in box.members}
    ends = {line.key: (owner.get(line.start, line.start), owner.get(line.end, line.end))
            for line in net.lines}  # fmt: skip
    assert all(ends[x] == (b.start, b.end) for b in folded.bundles for x in b.lines)
    pairs = [(b.start, b.end) for b in folded.bundles if {b.start, b.end} & closed]
    assert len(pairs) == len(set(pairs)), "bundles to and from boxes are one per pair"
    outer = {g for box in folded.boxes for g in box.around} | {
        g for item in folded.items for g in item.groups
    }
    assert not outer & closed, "nothing is drawn in a folded group"


def test_unfolding_all_gives_the_graph_back():
    net = random_net(7)
    folded = fold(net, ())
    assert folded.items == net.items
    assert not folded.boxes
    assert [(b.start, b.end, b.lines) for b in folded.bundles] == [
        (line.start, line.end, (line.key,)) for line in net.lines
    ]


def test_kernels_and_then_regions_fold_by_themselves_unless_chosen():
    net = random_net(1, nodes=200)
    assert closed_groups(net, {}, most=200) == (frozenset(), None)
    closed, level = closed_groups(net, {}, most=150)
    assert level is GroupLevel.KERNEL
    assert closed == {key for key in net.groups if key.startswith("k")}
    closed, level = closed_groups(net, {"k0": False}, most=20)
    assert level is GroupLevel.REGION
    assert "k0" not in closed
    assert {"r0", "r1", "r2"} < closed
    chosen = dict.fromkeys(net.groups, False)
    assert closed_groups(net, chosen, most=20) == (frozenset(), None)
    assert closed_groups(net, {"k1": True}, most=1000) == ({"k1"}, None)
