"""The scanner: places, comments, names, and texts with brackets."""

from __future__ import annotations

import pytest

from fuseloom.errors import ParseError
from fuseloom.stitch.hlo.scanner import HloScanner


def test_comments_are_spaces_and_keep_places() -> None:
    scanner = HloScanner('a /* two\nlines */ b // c\n"// text /* no */" d')
    assert (scanner.name(), scanner.place()) == ("a", (2, 10))
    assert scanner.name() == "b"
    assert scanner.place() == (3, 1)
    assert scanner.balanced() == '"// text /* no */" d'
    assert scanner.ended


@pytest.mark.parametrize(
    ("text", "name"),
    [("%add.1 = ", "add.1"), ("region_0.2", "region_0.2"), ("%0", "0"), ("a-b.c_d(", "a-b.c_d")],
)
def test_names(text: str, name: str) -> None:
    assert HloScanner(text).name() == name


def test_words_are_whole() -> None:
    scanner = HloScanner("ROOTS ROOT")
    assert not scanner.word("ROOT")
    assert scanner.word("ROOTS")
    assert scanner.word("ROOT")


@pytest.mark.parametrize(
    ("text", "value", "rest"),
    [
        ("{0,1}, x", "{0,1}", ","), ("b01f_01io->b01f\ny", "b01f_01io->b01f", "y"),
        ('{a="}," b={1}}}', '{a="}," b={1}}', "}"), ("[2,4]<=[8], x", "[2,4]<=[8]", ","),
        ('"a\\"b,", c', '"a\\"b,"', ","), ("{\n0,\n1}\n", "{\n0,\n1}", ""), ("1", "1", ""),
    ],
)  # fmt: skip
def test_values_end_at_commas_and_lines_without_brackets(text: str, value: str, rest: str) -> None:
    scanner = HloScanner(text)
    assert scanner.balanced() == value
    assert scanner.text[scanner.at :].startswith(rest)


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("a\n/* b", (2, 1), "comment has no end"), ('x "y\nz"', (1, 3), "quotation has no end"),
        ("/*/", (1, 1), "comment has no end"), ('"', (1, 1), "quotation has no end"),
    ],
)  # fmt: skip
def test_what_has_no_end(text: str, place: tuple[int, int], words: str) -> None:
    with pytest.raises(ParseError, match=words) as caught:
        HloScanner(text, "m.hlo")
    assert (caught.value.line, caught.value.column, caught.value.source) == (*place, "m.hlo")


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("{0,1", 1, "bracket has no end"), ("{0)", 3, "'\\)' does not fit"),
        (", 1", 1, "',' does not fit"), ("{" * 65, 65, "more than 64 brackets"),
    ],
)  # fmt: skip
def test_brackets_that_do_not_fit(text: str, column: int, words: str) -> None:
    with pytest.raises(ParseError, match=words) as caught:
        HloScanner(text).balanced()
    assert (caught.value.line, caught.value.column) == (1, column)


def test_integers_have_a_length() -> None:
    assert HloScanner("-12,").integer() == -12
    with pytest.raises(ParseError, match="9 is too large"):
        HloScanner("9" * 19).integer()
    with pytest.raises(ParseError, match="'x' does not fit here"):
        HloScanner("x").integer()


def list_of_pieces(text: str) -> list[str]:
    scanner = HloScanner(text)
    pieces = [scanner.balanced()]
    scanner.demand("=")
    return pieces


@pytest.mark.parametrize("text", ["/*" * 200_000, '"\\' * 200_000, "{" * 200_000, '"" ' * 100_000])
def test_hostile_texts_are_gone_through_once(text: str) -> None:
    with pytest.raises(ParseError):
        list_of_pieces(text)
