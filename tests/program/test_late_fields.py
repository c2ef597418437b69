"""Records whose fields are made when somebody looks at one of them."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, field, replace

import pytest

from fuseloom.program.late_fields import LateFields


@dataclass(frozen=True)
class Pair(LateFields):
    left: int
    right: int
    names: tuple[str, ...] = field(default_factory=tuple)


def late(looks: list[int]) -> Pair:
    def make() -> Pair:
        looks.append(1)
        return Pair(1, 2, ("a",))

    return Pair.late(make, left=1)


def test_what_is_known_makes_nothing_and_the_rest_is_made_once() -> None:
    looks: list[int] = []
    pair = late(looks)
    assert pair.left == 1
    assert not looks
    assert (pair.right, pair.names) == (2, ("a",))
    assert looks == [1]


def test_it_is_equal_to_and_copied_as_what_it_stands_for() -> None:
    whole = Pair(1, 2, ("a",))
    assert late([]) == whole
    assert hash(late([])) == hash(whole)
    assert repr(late([])) == repr(whole)
    assert replace(late([]), left=7) == Pair(7, 2, ("a",))
    assert pickle.loads(pickle.dumps(replace(late([])))) == whole
    assert copy.copy(late([])) == whole


def test_what_cannot_be_made_fails_again_and_other_names_make_nothing() -> None:
    def fail() -> Pair:
        raise ValueError("no")

    pair = Pair.late(fail, left=1)
    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            _ = pair.right
    with pytest.raises(AttributeError, match="'Pair' object has no attribute 'other'"):
        _ = pair.other  # type: ignore[attr-defined]
