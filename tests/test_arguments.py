"""Arguments of another type than declared are refused by name, the way out with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fuseloom as fl
from fuseloom.arguments import ArgumentError, check_arguments, check_fields


@check_arguments
def taking(
    text: str = "",
    size: int = 0,
    share: float | None = 0.0,
    names: Sequence[str] = (),
    pairs: Iterable[tuple[str, int]] = (),
    by_name: Mapping[str, Any] | None = None,
    path: str | Path = "",
    told: Callable[[], None] | None = None,
    strict: bool = False,
    anything: Any = None,
    *,
    numbers: tuple[int, ...] = (),
) -> str:
    return "taken"


@pytest.mark.parametrize(
    "given",
    [
        {"text": "a"}, {"size": np.int64(3)}, {"share": 1}, {"share": None},
        {"share": np.float32(2)}, {"names": ["a", "b"]}, {"pairs": iter([(1, 2, 3)])},
        {"pairs": {("a", 1)}}, {"by_name": {"a": object()}}, {"path": Path("x")}, {"told": print},
        {"strict": np.bool_(True)}, {"anything": object()}, {"numbers": (1, 2, 3)},
    ],
)  # fmt: skip
def test_what_is_declared_is_taken(given: dict[str, Any]) -> None:
    assert taking(**given) == "taken"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"text": 3}, "taking takes text as text, not 3"),
        ({"text": b""}, "not a bytes"),
        ({"size": True}, "an integer as size, not True"),
        ({"size": 2.0}, "an integer as size, not 2.0"),
        ({"size": 10**40}, None),
        ({"share": "1"}, "a number as share, not the text '1'"),
        ({"share": True}, "a number as share, not True"),
        ({"names": "ab"}, "a sequence of text as names, not the text 'ab'"),
        ({"names": ["a", 3]}, "as names, not a list"),
        ({"pairs": [("a", 1, 2)]}, "an iterable as pairs"),
        ({"by_name": {3: 4}}, "a mapping as by_name, not a dict"),
        ({"by_name": [("a", 1)]}, "a mapping as by_name, not a list"),
        ({"path": 3}, "text or a Path as path, not 3"),
        ({"told": 3}, "a function as told"),
        ({"strict": 1}, "True or False as strict, not 1"),
        ({"numbers": (1, "2")}, "a tuple as numbers"),
    ],
)
def test_what_is_not_is_refused(given: dict[str, Any], message: str | None) -> None:
    if message is None:
        assert taking(**given) == "taken"
        return
    with pytest.raises(ArgumentError, match=message.replace("(", "\\(")) as caught:
        taking(**given)
    assert isinstance(caught.value, TypeError)


@dataclass
class Record:
    size: int


def test_fields_of_a_record() -> None:
    wrong: Any = "a"
    check_fields(Record(3))
    with pytest.raises(ArgumentError, match="Record takes an integer as size, not the text 'a'"):
        check_fields(Record(wrong))


def test_the_way_to_what_is_wanted_is_told() -> None:
    text: Any = "y[i] = x[i]"
    with pytest.raises(ArgumentError, match=r"compile takes a Program .*fuseloom\.parse makes"):
        fl.compile(text)
    program: Any = fl.parse("x: 3 dense\ny[i] = 2 * x[i]")
    with pytest.raises(ArgumentError, match=r"takes a Compilation .*fuseloom\.compile makes one"):
        fl.simulate(program, {})


def test_annotations_of_all_public_functions_are_known() -> None:
    """Call each with objects of no type it takes: names in annotations are resolved then."""
    for name in fl.__all__:
        found = getattr(fl, name)
        if callable(found) and not isinstance(found, type) and name != "from_torch":
            assert hasattr(found, "__wrapped__"), f"{name} does not check its arguments"
            assert found.__name__ == name, "messages name the function by another name than users"
            with pytest.raises((ArgumentError, TypeError)):
                found(object(), object())
