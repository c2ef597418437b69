"""From text to a program: names, dead code, limits."""

from __future__ import annotations

import pytest

from fuseloom.errors import FuseloomError, ParseError
from fuseloom.frontends.mlir import from_mlir, translate
from fuseloom.program.limits import MAX_TEXT_CHARS
from tests.frontends.mlir.texts import statements

from .files import imported


def test_names() -> None:
    assert statements("strange_names") == [
        "t0[d0] = arg0_x[d0] * relu_[d0]",
        "output_[d0] = t0[d0] * c_1[d0]",
    ]
    assert imported("strange_names").program.name == "a_function"


def test_dead_code() -> None:
    given = imported("dead_code")
    assert given.program.inputs == ("a",)
    assert len(given.program.statements) == 1


def test_the_text_has_a_limit() -> None:
    with pytest.raises(ParseError, match="the limit is"):
        from_mlir(" " * (MAX_TEXT_CHARS + 1))


_SIZE = "%c = arith.constant 0 : index %n = tensor.dim %a, %c : tensor<?xf32>"
_CUT = "tensor.extract_slice %a[0] [%n] [1] : tensor<?xf32> to tensor<?xf32>"


@pytest.mark.parametrize(
    ("first", "shapes", "times"),
    [
        ("", {}, 1),
        ("", {"a": (5,)}, 1),
        (f"{_SIZE} %b = {_CUT}", {"a": (5,)}, 1),
        (f"{_SIZE} %b = {_CUT}", {}, 2),  # one of its operations needs a size
        ("%b = math.exp %nothing : f32", {}, 3),  # no size helps
    ],
)
def test_a_text_is_translated_once_unless_it_needs_a_size(
    monkeypatch: pytest.MonkeyPatch, first: str, shapes: dict[str, tuple[int]], times: int
) -> None:
    functions: list[str] = []
    body = translate.Body
    monkeypatch.setattr(translate, "Body", lambda *x: functions.append(x[1].name) or body(*x))
    try:
        from_mlir(
            f"""func.func @f(%a: tensor<?xf32>) -> tensor<?xf32> {{
              {first}
              %y = math.exp %a : tensor<?xf32>
              return %y : tensor<?xf32>
            }}""",
            shapes=shapes,
        )
    except FuseloomError:
        assert "%nothing" in first
    assert functions == ["f"] * times
