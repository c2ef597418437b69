"""Nest classes against all orders, listed one by one."""

from __future__ import annotations

import random
from collections import Counter
from itertools import islice, permutations

import pytest

from fuseloom.dataflow.fusion.classes import nest_classes
from fuseloom.dataflow.fusion.fuse import fuse
from fuseloom.dataflow.fusion.nests import nest_class
from fuseloom.dataflow.fusion.pog import PartialOrderGraph
from fuseloom.dataflow.fusion.region import FusedRegion
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.errors import OrderError
from fuseloom.models import gcn
from fuseloom.program import parse
from tests.property.programs import make_case


def free(region: FusedRegion) -> FusedRegion:
    """The region without any constraint on its orders."""
    from dataclasses import replace

    return replace(region, pog=PartialOrderGraph(region.indices, ()))


def listed(region: FusedRegion) -> Counter[object]:
    """Count the legal orders of each class by trying them all."""
    found: Counter[object] = Counter()
    for order in region.pog.orders():
        try:
            found[nest_class(region.roots, order)] += 1
        except OrderError:
            continue
    return found


def fused_gcn() -> FusedRegion:
    return free(fuse(gcn().program, Schedule.parse("fuse T1..Y"))[0])


def test_the_classes_of_the_fused_gcn() -> None:
    """136 classes satisfy S3 (docs/spec/fusion.md §2.4); 77, with 131 orders, can be streamed."""
    region = fused_gcn()
    assert len(region.indices) == 6
    every = list(nest_classes(region, buildable=False))
    assert len(every) == len({c.nests for c in every}) == 136
    assert sum(c.orders for c in every) == 209
    built = list(nest_classes(region))
    assert (len(built), sum(c.orders for c in built)) == (77, 131)
    by_hand = listed(region)
    assert Counter({nest_class(region.roots, c.order): c.orders for c in built}) == by_hand


def test_classes_are_yielded_before_all_are_known() -> None:
    """18 free indices have more orders than could ever be listed."""
    text = "\n".join(f"A{k}: 2x2 dense" for k in range(9))
    chain = [f"T{k}[a,b] = {'A0' if k == 1 else f'T{k - 1}'}[a,c] * A{k}[c,b]" for k in range(1, 9)]
    region = fuse(parse(f"{text}\n" + "\n".join(chain)), Schedule.parse("fuse T1..T8"))[0]
    found = list(islice(nest_classes(free(region)), 50))
    assert len({c.nests for c in found}) == 50
    assert all(sorted(c.order) == sorted(region.indices) for c in found)


@pytest.mark.parametrize("seed", range(40))
def test_random_regions(seed: int) -> None:
    """Every legal order that can be built is in one class, counted exactly."""
    case = make_case(random.Random(seed))
    if case is None:
        return
    for compiled in case.compilation.regions:
        region = compiled.region
        if region.pog.count() > 200:
            continue
        built = Counter({nest_class(region.roots, c.order): c.orders for c in nest_classes(region)})
        assert built == listed(region)


def test_a_class_prints_its_nests() -> None:
    text = "A: 4x4 dcsr\nB: 4x4 dcsr\nT[i,j] = A[i,k] * B[k,j]"
    (found,) = nest_classes(fuse(parse(text))[0])
    assert str(found) == "i→k→j and 0 more (T: i,k,j)"


def test_every_order_of_a_product_is_a_class() -> None:
    text = "A: 4x4 dense\nB: 4x4 dense\nT[i,j] = A[i,k] * B[k,j]"
    region = fuse(parse(text))[0]
    orders = [c.order for c in nest_classes(free(region))]
    assert sorted(orders) == sorted(permutations("ijk"))
