"""A position in tokens: what it takes, what it wanted instead, what it skips."""

from __future__ import annotations

import pytest

from fuseloom.errors import ParseError
from fuseloom.frontends.mlir.cursor import Cursor, integer
from fuseloom.program.limits import MAX_DIMENSION


def test_tokens_are_taken_one_after_another_up_to_the_end() -> None:
    at = Cursor("a , b")
    assert at.take("x", "y") is None
    assert at.take("a", "x") is not None
    assert at.need(",").text == ","
    assert at.kind("word", "a name").text == "b"
    assert at.advance().kind == "end"
    assert at.advance().kind == "end"  # it goes no further
    assert not at.sees("")


def test_a_string_is_no_sign_whatever_it_holds() -> None:
    assert not Cursor('","').sees('","', ",")


@pytest.mark.parametrize(
    ("step", "hint"),
    [
        (lambda at: at.need(")"), "here can stand ')'"),
        (lambda at: at.need(")", "an operand"), "here can stand an operand"),
        (lambda at: at.kind("ssa", "a value"), "here can stand a value"),
    ],
)
def test_what_was_wanted_is_said_with_the_place(step, hint: str) -> None:
    at = Cursor("\n  b")
    with pytest.raises(ParseError, match="'b' is not expected here") as caught:
        step(at)
    assert (caught.value.line, caught.value.column) == (2, 3)
    assert caught.value.hint == hint


def test_lists_of_names() -> None:
    assert [t.text for t in Cursor("i, j, k]").words("]", "an index")] == ["i", "j", "k"]
    assert Cursor("]").words("]", "an index") == ()
    for wrong in ("i j]", "i,", "i, 3]", ", i]"):
        with pytest.raises(ParseError):
            Cursor(wrong).words("]", "an index")


@pytest.mark.parametrize("group", ["(a [b] {c})", "{}", "tensor<2x3xf32>", "<(tensor<f32>), [1]>"])
def test_groups_are_skipped_whole(group: str) -> None:
    at = Cursor(f"{group} rest")
    at.skip_group()
    assert at.token.text == "rest"


def test_brackets_come_in_pairs() -> None:
    with pytest.raises(ParseError, match="']' does not close '\\('"):
        Cursor("(a ]").skip_group()
    with pytest.raises(ParseError, match="'\\{' is not closed") as caught:
        Cursor("( {").skip_group()
    assert caught.value.column == 3


@pytest.mark.parametrize("end", list(",}>)]"))
def test_an_attribute_ends_where_something_else_begins(end: str) -> None:
    at = Cursor(f"dense<[1, 2]> : tensor<2xf32> {end} x")
    at.skip_value()
    assert at.token.text == end
    with pytest.raises(ParseError, match="the end of the text is not expected"):
        Cursor("a b").skip_value()


def test_locations_and_dictionaries_may_be_there() -> None:
    at = Cursor('loc("file":1:2) {a = 1} x')
    at.skip_location()
    at.skip_dictionary()
    at.skip_location()
    at.skip_dictionary()
    assert at.token.text == "x"


def test_the_tokens_around_the_next_one() -> None:
    at = Cursor("a b c")
    at.advance()
    assert (at.last.text, at.token.text, at.ahead().text) == ("a", "b", "c")
    assert at.ahead(2).kind == at.ahead(9).kind == "end"


def test_a_dictionary_gives_the_names_that_have_values() -> None:
    at = Cursor('{a = 1, unit, "b" = c} x')
    assert [(name.text, at.advance().text) for name in at.entries()] == [("a", "1"), ('"b"', "c")]
    assert at.token.text == "x"
    with pytest.raises(ParseError, match="'3' is not expected here") as caught:
        next(Cursor("{3 = a}").entries())
    assert caught.value.hint == "here can stand the name of an attribute"


def test_a_word_in_angle_brackets() -> None:
    assert Cursor("<add>").angled("an operation") == "add"
    with pytest.raises(ParseError):
        Cursor("<3>").angled("an operation")


def test_numbers_too_long_for_a_dimension_are_too_large() -> None:
    assert integer("-12") == -12
    assert integer("9" * 12) == int("9" * 12)
    assert integer("9" * 5000) == MAX_DIMENSION + 1
    assert integer("-" + "9" * 5000) == -1
