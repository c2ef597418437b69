"""Reading the fields of objects that others may have written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fuseloom.errors import RecordError
from fuseloom.results.check import Against
from fuseloom.results.fields import Fields

READERS: dict[str, Callable[[Fields], Any]] = {
    "text": lambda f: f.text("x"),
    "flag": lambda f: f.flag("x"),
    "number": lambda f: f.number("x"),
    "whole": lambda f: f.whole("x"),
    "mapping": lambda f: f.mapping("x"),
    "mappings": lambda f: f.mappings("x"),
    "texts": lambda f: f.texts("x"),
    "sizes": lambda f: f.sizes("x"),
    "one_of": lambda f: f.one_of("x", Against),
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


@pytest.mark.parametrize("reader", READERS)
def test_each_reader_takes_its_own_type_only(reader: str) -> None:
    taken = []
    for value in VALUES:
        fields = Fields.of({"x": value}, "here", ("x",))
        try:
            taken.append(READERS[reader](fields))
        except RecordError as refused:
            assert str(refused).startswith("here.x")  # noqa: PT017
    assert taken == TAKEN[reader]


def test_null_is_only_what_is_optional() -> None:
    fields = Fields.of({"x": None, "y": 2}, "here", ("x", "y"))
    assert fields.optional("x", fields.whole) is None
    assert fields.optional("y", fields.whole) == 2


def test_names_must_be_the_right_ones() -> None:
    with pytest.raises(RecordError, match="here is list"):
        Fields.of([], "here", ())
    with pytest.raises(RecordError, match="here has no 'y'"):
        Fields.of({"x": 1}, "here", ("x", "y"))
    with pytest.raises(RecordError, match=r"here has an unknown 'z' \(hint: known: x\)"):
        Fields.of({"x": 1, "z": 1}, "here", ("x",))


def test_a_field_may_have_to_have_a_value() -> None:
    fields = Fields.of({"x": 1}, "here", ("x",))
    fields.require("x", 1, "the sum")
    with pytest.raises(RecordError, match=r"here.x is 1 \(hint: 2, the sum\)"):
        fields.require("x", 2, "the sum")
