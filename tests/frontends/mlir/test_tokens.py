"""Tokens of MLIR text and their places."""

from __future__ import annotations

import pytest

from fuseloom.errors import ParseError
from fuseloom.frontends.mlir import tokens
from fuseloom.frontends.mlir.parser import parse_file
from fuseloom.frontends.mlir.tokens import tokenize


def kinds(text: str) -> list[tuple[str, str]]:
    return [(token.kind, token.text) for token in tokenize(text)[:-1]]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("%arg0", "ssa"), ("%a-b", "ssa"), ("@main", "symbol"), ('@"odd name"', "symbol"),
        ("^bb0", "block"), ("#map", "hash"), ("!t", "type"), ("linalg.generic", "word"),
        ('"a \\" b"', "string"), ("->", "arrow"), ("0x1F", "hex"), ("-1.5e-3", "float"),
        ("1.", "float"), ("-12", "int"), ("tensor<4x?x", "tensor"), ("tensor <", "tensor"),
    ],
)  # fmt: skip
def test_kinds(text: str, kind: str) -> None:
    assert kinds(text) == [(kind, text)]


def test_dimensions_stick_to_their_tensor_and_not_to_the_element() -> None:
    assert kinds("tensor<4x5xf32>") == [("tensor", "tensor<4x5x"), ("word", "f32"), ("punct", ">")]


def test_an_arrow_ends_a_name() -> None:
    assert [kind for kind, _ in kinds("%a->%b")] == ["ssa", "arrow", "ssa"]


def test_places_count_lines_and_columns_past_comments_and_resources() -> None:
    found = tokenize("a // b\n  c {-# x\ny #-} d\n")
    assert [(token.text, token.place) for token in found] == [
        ("a", (1, 1)), ("c", (2, 3)), ("d", (3, 7)), ("", (4, 1)),
    ]  # fmt: skip
    assert found[-1].kind == "end"
    assert str(found[-1]) == "the end of the text"


def test_a_byte_order_mark_is_nothing() -> None:
    assert tokenize("\ufeffa")[0].place == (1, 1)


def test_long_tokens_are_shown_short() -> None:
    assert str(tokenize("a" * 41)[0]) == repr("a" * 37 + "...")
    assert str(tokenize("a" * 40)[0]) == repr("a" * 40)


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [(";", (1, 1), "here can stand module"), ('\n "open\n"', (2, 2), "a string ends on its line")],
)
def test_characters_without_meaning(text: str, place: tuple[int, int], hint: str) -> None:
    assert "odd" in [kind for kind, _ in kinds(text)]
    with pytest.raises(ParseError, match="has no meaning here") as caught:
        parse_file(text)
    assert (caught.value.line, caught.value.column) == place
    assert hint in (caught.value.hint or "")


def test_texts_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MAX_TEXT_CHARS", 3)
    assert len(tokenize("abc")) == 2
    with pytest.raises(ParseError, match="has 4 characters, the limit is 3"):
        tokenize("abcd")
