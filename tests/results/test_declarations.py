"""Declarations: what of others' data is taken, and what is said of the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta

from fuseloom.errors import RecordError
from fuseloom.results.check import Against
from fuseloom.results.declarations import (
    Amount,
    Count,
    Record,
    Share,
    declared,
    descriptions,
    read,
    wanted,
)

TYPES: dict[str, Any] = {
    "text": str,
    "flag": bool,
    "number": Amount,
    "whole": Count,
    "mapping": Mapping[str, Any],
    "mappings": tuple[Mapping[str, Any], ...],
    "texts": tuple[str, ...],
    "sizes": tuple[Count, ...],
    "one_of": Against,
}
VALUES: list[Any] = [
    "a", True, 1.5, 3, {"a": 1}, [{"a": 1}], ["a"], [3], "the dense reference", None, -1, [None],
    float("inf"), float("nan"), [True], object(),
]  # fmt: skip
TAKEN = {
    "text": ["a", "the dense reference"],
    "flag": [True],
    "number": [1.5, 3],
    "whole": [3],
    "mapping": [{"a": 1}],
    "mappings": [({"a": 1},)],
    "texts": [("a",)],
    "sizes": [(3,)],
    "one_of": [Against.REFERENCE],
}


@dataclass(frozen=True)
class Box(Record):
    """A box.

    Attributes
    ----------
    size, weight : int
        Of the box itself; None
        for none, see :class:`~fuseloom.errors.RecordError`.
    lid : Box or None
        On top.

    Notes
    -----
    inner : str
        No attribute.
    """

    size: Count
    weight: Amount
    lid: Box | None = None
    label: Annotated[str, "What is written on it."] = ""

    derived = ("both",)

    @property
    def both(self) -> Amount:
        """The sum of its figures.

        Of nothing else.
        """
        return self.size + self.weight


BOX = Box(3, 10**30, Box(1, 0.5))


@pytest.mark.parametrize("kind", TYPES)
def test_each_type_takes_its_own_values_only(kind: str) -> None:
    taken, refused = [], []
    for value in VALUES:
        try:
            taken.append(read(TYPES[kind], value, "here"))
        except RecordError as problem:
            refused.append(str(problem))
    assert taken == TAKEN[kind]
    assert all(text.startswith("here") for text in refused)


def test_what_is_written_is_read_back() -> None:
    written = BOX.to_dict()
    assert written["both"] == 3 + 10**30
    assert written["lid"] == {"both": 1.5, "size": 1, "weight": 0.5, "lid": None, "label": ""}
    assert read(Box, written, "box") == BOX


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"size": None}, "box.size is None (hint: an integer that is not negative)"),
        ({"lid": 3}, "box.lid is 3 (hint: an object)"),
        ({"both": 4}, "box.both is 4 (hint: 5, the sum of its figures)"),
        ({"both": True}, "box.both is True"),
        ({"colour": "red"}, "box has an unknown 'colour' (hint: known: both, size, weight, lid"),
        ({"lid": {}}, "box.lid has no 'size'"),
        ({"lid": {"size": 1, "weight": 1}}, "box.lid has no 'both'"),
    ],
)
def test_what_is_wrong_is_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(RecordError) as refused:
        read(Box, {**Box(2, 3).to_dict(), **change}, "box")
    assert str(refused.value).startswith(message)


def test_the_key_at_fault_is_found() -> None:
    boxes = {"a": Box(1, 1).to_dict(), "b": {**Box(1, 1).to_dict(), "lid": {"size": "x"}}}
    with pytest.raises(RecordError, match=r"boxes\.b\.lid\.size is 'x'"):
        read(dict[str, Box], boxes, "boxes")
    with pytest.raises(RecordError, match=r"boxes is dict \(hint: a list\)"):
        read(list[Box], boxes, "boxes")


def test_what_is_nested_without_end_is_refused() -> None:
    deep: Any = Box(1, 1).to_dict()
    for _ in range(100_000):
        deep = {**Box(1, 1).to_dict(), "lid": deep}
    with pytest.raises(RecordError, match="too deeply"):
        read(Box, deep, "box")


def test_docstrings_describe_fields() -> None:
    assert list(declared(Box)) == ["both", "size", "weight", "lid", "label"]
    both = "Of the box itself; null for none, see RecordError."
    assert descriptions(Box) == {
        "both": "The sum of its figures.",
        "size": both,
        "weight": both,
        "lid": "On top.",
        "label": "What is written on it.",
    }


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Share, "a number from 0 to 1"),
        (Amount | None, "a number that is not negative"),
        (Annotated[float, Meta(gt=0)], "a number above 0"),
        (Annotated[int, Meta(ge=2)], "an integer from 2"),
        (Annotated[str, Meta(pattern="^a$")], "a text that matches ^a$"),
        (Literal["a", "b"], "'a' or 'b'"),
        (tuple[int, str], "a list of 2"),
        (str | bool, "a text or true or false"),
    ],
)
def test_types_have_words(kind: Any, words: str) -> None:
    assert wanted(kind) == words
