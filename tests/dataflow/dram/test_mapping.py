"""The mapping of addresses."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import permutations

import pytest

from fuseloom.dataflow.dram import (
    DramAddress,
    Mapping,
    hbm2,
)
from fuseloom.dataflow.dram.config import FIELDS

ORDERS = [" ".join(order) for order in permutations(FIELDS)]

SPLIT = [
    "row bank bankgroup column channel column:2",
    "row:3 bank bankgroup column channel row",
    "channel:1 row bank:1 column:2 bankgroup channel bank column",
]


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize("mapping", ORDERS[::7] + SPLIT)
def test_every_address_has_its_place(mapping: str) -> None:
    config = hbm2(mapping=mapping)
    mapped = Mapping.of(config)
    rng = random.Random(0)
    for _ in range(200):
        address = rng.randrange(config.capacity)
        place = mapped.place(address)
        assert mapped.address(place) == address // 32 * 32
        assert mapped.place(address + config.capacity) == place
    if ":" not in mapping:
        small = replace(config, rows=4, channels=1)
        places = {Mapping.of(small).place(a) for a in range(0, small.capacity, 32)}
        assert len(places) == small.capacity // 32


def test_the_mapping_reads_from_most_to_least_significant() -> None:
    mapped = Mapping.of(hbm2(mapping="row bank column bankgroup channel"))
    assert mapped.place(32) == DramAddress(1, 0, 0, 0, 0)
    assert mapped.place(32 * 16) == DramAddress(0, 1, 0, 0, 0)
    assert mapped.place(32 * 16 * 4) == DramAddress(0, 0, 0, 0, 1)
    assert mapped.place(32 * 16 * 4 * 32) == DramAddress(0, 0, 1, 0, 0)
    assert mapped.place(32 * 16 * 4 * 32 * 4) == DramAddress(0, 0, 0, 1, 0)
    apart = Mapping.of(hbm2(mapping="row bank bankgroup column channel column:2"))
    assert [apart.place(32 * k).channel for k in (0, 3, 4, 63, 64)] == [0, 0, 1, 15, 0]
    assert [apart.place(32 * k).column for k in (0, 3, 4, 63, 64)] == [0, 3, 0, 3, 4]
