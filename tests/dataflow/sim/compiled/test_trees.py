"""Trees of sums by several coordinates, as Python runs their helpers: hash, fold, sort, clear."""

from __future__ import annotations

from collections import defaultdict
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fuseloom.dataflow.sim.compiled import functions, runs, trees
from fuseloom.dataflow.sim.compiled.trees import (
    COUNT,
    KEY,
    KEYS,
    MASK,
    NUMBERS,
    ORDER,
    REHASH,
    ROOM,
    SPARE,
    SUMS,
    TABLE,
    WIDTH,
)

HELPERS = ("address", "_slot_of", "rehash", "accumulate", "first_difference", "_before", "sort",
           "clear", "tile", "unused")  # fmt: skip


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module with its helpers as Python; a hash overflows there as it does in a kernel."""
    for name in HELPERS:
        monkeypatch.setattr(trees, name, getattr(trees, name).py_func)
    monkeypatch.setattr(functions, "larger", functions.larger.py_func)
    with np.errstate(over="ignore"):
        yield trees


def tree(width: int, room: int = 64, slots: int = 256, numbers: int = 1) -> SimpleNamespace:
    """A state whose integers begin with an empty tree's description, and one value channel."""
    layout = KEY + width
    at = {KEYS: layout, TABLE: layout + room * width}
    at[ORDER] = at[TABLE] + slots
    at[SPARE] = at[ORDER] + room
    ints = np.zeros(at[SPARE] + room, np.int64)
    for where, value in at.items():
        ints[where] = value
    ints[[MASK, ROOM, WIDTH, NUMBERS]] = slots - 1, room, width, numbers
    ints[SUMS] = 0
    run = SimpleNamespace(x=runs.LEAF | runs.STEP, v=room * numbers)
    floats = np.zeros(room * numbers + 8, np.float32)
    return SimpleNamespace(ints=ints, floats=floats, run=[run], ch=[SimpleNamespace(val=1)])


def add(plain: Any, s: Any, key: tuple[int, ...], value: float, fold: int = 0) -> None:
    s.ints[KEY : KEY + len(key)] = key
    s.floats[s.run[0].v] = value
    plain.accumulate(s, 0, -1, 0, 0, 1, fold)


def entries(s: Any) -> list[tuple[tuple[int, ...], float]]:
    """Keys and sums in the order that sorting left."""
    width = int(s.ints[WIDTH])
    found = []
    for k in range(int(s.ints[COUNT])):
        e = int(s.ints[s.ints[ORDER] + k])
        at = int(s.ints[KEYS]) + e * width
        found.append((tuple(s.ints[at : at + width].tolist()), float(s.floats[e])))
    return found


@pytest.mark.parametrize("width", [1, 2, 3])
def test_sums_by_key_come_out_in_order(plain: Any, width: int) -> None:
    print("seed", width)
    rng = np.random.default_rng(width)
    s, expected = tree(width), defaultdict(float)
    for value in rng.integers(-9, 10, 150):
        key = tuple(rng.integers(0, 4, width).tolist())
        add(plain, s, key, float(value))
        expected[key] += float(value)
    plain.sort(s, 0)
    assert entries(s) == sorted(expected.items())


def test_a_maximum_keeps_the_largest(plain: Any) -> None:
    s = tree(1)
    for value in (2.0, 5.0, -1.0):
        add(plain, s, (7,), value, fold=1)
    plain.sort(s, 0)
    assert entries(s) == [((7,), 5.0)]


def test_the_first_summand_may_be_added_to_a_zero(plain: Any) -> None:
    """-0 added to 0 is 0: what the reference does to the first value of a sum."""
    kept, added = tree(1), tree(1)
    add(plain, kept, (1,), -0.0)
    add(plain, added, (1,), -0.0, fold=2)
    assert np.signbit(kept.floats[0])
    assert not np.signbit(added.floats[0])


def test_what_is_no_leaf_is_not_folded(plain: Any) -> None:
    s = tree(1)
    s.run[0].x = runs.STOP
    add(plain, s, (1,), 4.0)
    assert s.ints[COUNT] == 0


def test_keys_are_found_again_after_rehashing(plain: Any) -> None:
    """The table doubled, as an engine does it: the same entries, none twice."""
    s = tree(2, slots=256)
    for k in range(30):
        add(plain, s, (k // 6, k % 6), 1.0)
    s.ints[s.ints[TABLE] : s.ints[TABLE] + 256] = -99  # garbage that rehashing must remove
    s.ints[REHASH] = 1
    plain.rehash(s, 0)
    assert s.ints[REHASH] == 0
    for k in range(30):
        add(plain, s, (k // 6, k % 6), 2.0)
    plain.sort(s, 0)
    assert entries(s) == [((k // 6, k % 6), 3.0) for k in range(30)]


@pytest.mark.parametrize("count", [3, 60], ids=["entry by entry", "the whole table"])
def test_clearing_forgets_all(plain: Any, count: int) -> None:
    s = tree(1)
    for k in range(count):
        add(plain, s, (k * 5,), 1.0)
    plain.clear(s, 0)
    assert s.ints[COUNT] == 0
    table = int(s.ints[TABLE])
    assert not s.ints[table : table + 256].any()
    add(plain, s, (5,), 4.0)
    plain.sort(s, 0)
    assert entries(s) == [((5,), 4.0)]


def test_the_first_difference_of_equal_entries_is_their_width(plain: Any) -> None:
    s = tree(3)
    for key in ((1, 2, 3), (1, 2, 4), (0, 2, 3)):
        add(plain, s, key, 1.0)
    assert plain.first_difference(s, 0, 0, 1) == 2
    assert plain.first_difference(s, 0, 0, 2) == 0
    assert plain.first_difference(s, 0, 1, 1) == 3


def test_free_tiles_are_handed_out_once(plain: Any) -> None:
    s = SimpleNamespace(ints=np.array([3, 2, 40, 50, 60], np.int64))
    assert plain.unused(s, 0) == 3
    assert {int(plain.tile(s, 0)) for _ in range(3)} == {40, 50, 60}
    assert plain.unused(s, 0) == 0
