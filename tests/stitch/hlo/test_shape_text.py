"""Types of values as text."""

from __future__ import annotations

import pytest

from fuseloom.errors import ParseError
from fuseloom.stitch.hlo.scanner import HloScanner
from fuseloom.stitch.hlo.shape_text import MOST_NESTING, read_shape


@pytest.mark.parametrize(
    ("text", "shape", "layout"),
    [
        ("f32[]", "f32[]", None), ("f32[]{}", "f32[]", None), ("pred[3]{0}", "pred[3]", None),
        ("bf16[2,3]{1,0}", "bf16[2,3]", None), ("s8[2,3]{0,1}", "s8[2,3]", (0, 1)),
        ("f32[8,128]{1,0:T(8,128)}", "f32[8,128]", None), ("u64[0,3]", "u64[0,3]", None),
        ("f32[8,128]{0,1:T(8,128)S(1)}", "f32[8,128]", (0, 1)), ("f32[4]{:T(128)}", "f32[4]", None),
        ("(f32[2]{0}, (s32[], pred[]), c64[1])", "(f32[2], (s32[], pred[]), c64[1])", None),
        ("()", "()", None),
    ],
)  # fmt: skip
def test_types(text: str, shape: str, layout: tuple[int, ...] | None) -> None:
    scanner = HloScanner(text)
    made, order = read_shape(scanner)
    assert (str(made), order, scanner.ended) == (shape, layout, True)


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("f33[2]", 1, "'f33' is no type of elements"), ("f32", 4, "the end does not fit"),
        ("f32[2", 6, "the end does not fit"), ("f32[x]", 5, "'x' does not fit"),
        ("f32[-2]", 1, "negative extent"), ("f32[<=8]", 5, "not known before a run"),
        ("f32[?,2]", 5, "not known before a run"), ("token[]", 1, "side effects"),
        ("opaque[]", 1, "foreign calls"), (f"f32[{'9' * 19}]", 5, "too large"),
        ("f32[1,1,1,1,1,1,1,1,1]", 1, "more than 8 dimensions"), ("[2]", 1, "does not fit"),
        ("f32[2,3]{1,1}", 9, "other dimensions"), ("f32[2,3]{0}", 9, "other dimensions"),
        ("(f32[2]", 8, "the end does not fit"), ("(" * 40, MOST_NESTING + 1, "more than 32 tuples"),
        ("f8e4m3fn[2]", 1, "no type of elements"),
    ],
)  # fmt: skip
def test_types_that_are_none(text: str, column: int, words: str) -> None:
    with pytest.raises(ParseError, match=words) as caught:
        read_shape(HloScanner(text))
    assert (caught.value.line, caught.value.column) == (1, column)
