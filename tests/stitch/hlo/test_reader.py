"""The reader of HLO: what it takes, in which order, and where it says that a text is none."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.errors import ParseError
from fuseloom.stitch.examples.models import EXAMPLES, read_example
from fuseloom.stitch.hlo import reader
from fuseloom.stitch.hlo.reader import MOST_CHARACTERS, read_hlo
from fuseloom.stitch.meaning.evaluation import MEANINGS

DUMP = """HloModule jit_f, is_scheduled=true, entry_computation_layout={(f32[2,3]{1,0})->f32[2]{0}}

FileNames
1 "<stdin>"

StackFrames
1 {file_location_id=1 parent_frame_id=1}


// a comment
%region_0.1 (a.3: f32[], b.4: f32[]) -> f32[] {
  %a.3 = f32[] parameter(0), metadata={op_name="reduce_sum"}
  %b.4 = f32[] parameter(1)
  ROOT %sum.5 = f32[] add(%a.3, %b.4), metadata={op_name="jit(f)/a, {b" stack_frame_id=2}
}

%fused (p: f32[2,3]) -> f32[2] {
  %p = f32[2,3]{1,0:T(8,128)} parameter(0)
  %zero = f32[] constant(0)
  ROOT %r = f32[2]{0} reduce(f32[2,3]{1,0} %p, f32[] %zero), dimensions={1}, to_apply=%region_0.1
}, execution_thread="main"

ENTRY %main.9 (x.1: f32[2,3]) -> (f32[2], /*index=1*/f32[2]) {
  %x.1 = f32[2,3]{1,0} parameter(0), sharding={replicated}
  %f = f32[2]{0} fusion(%x.1), kind=kLoop, calls=%fused, backend_config={"a":{"b":["2"]}}
  %c = f32[2]{0} custom-call(%f), custom_call_target="Sharding", backend_config="{\\"x\\": 1}"
  ROOT %t = (f32[2]{0}, /*index=1*/f32[2]{0}) tuple(%f, %c)
}
"""


def test_a_dump_of_xla() -> None:
    module = read_hlo(DUMP, "dump.txt")
    assert (module.name, module.entry) == ("jit_f", "main.9")
    assert list(module.computations) == ["region_0.1", "fused", "main.9"]
    assert module.main.outputs == ("f", "c")
    by_name = module.main.by_name
    assert by_name["x.1"].attributes == {"number": 0, "sharding": "{replicated}"}
    assert by_name["f"].attributes["calls"] == "fused"
    assert by_name["c"].attributes["custom_call_target"] == "Sharding"
    assert by_name["c"].attributes["backend_config"] == '"{\\"x\\": 1}"'
    assert by_name["t"].line == 27
    assert module.computations["region_0.1"].by_name["sum.5"].attributes == {}
    reduce = module.computations["fused"].by_name["r"]
    assert (reduce.operands, reduce.attributes["dimensions"]) == (("p", "zero"), (1,))


@pytest.mark.parametrize("name", EXAMPLES)
def test_models_have_no_operation_that_is_not_known(name: str) -> None:
    module = read_example(name)
    opcodes = {one.opcode for c in module.computations.values() for one in c.operations}
    assert opcodes <= set(MEANINGS)
    assert len(module.main.operations) > 15


def test_operations_come_behind_what_they_read_and_computations_behind_what_they_call() -> None:
    module = read_hlo(
        """HloModule m
ENTRY main {
  ROOT y = f32[2] call(n), to_apply=twice
  n = f32[2] negate(x)
  x = f32[2] parameter(0)
}
twice {
  ROOT s = f32[2] call(p), to_apply=once
  p = f32[2] parameter(0)
}
once { ROOT p = f32[2] parameter(0) }
"""
    )
    assert list(module.computations) == ["once", "twice", "main"]
    assert [one.name for one in module.main.operations] == ["x", "n", "y"]
    assert module.main.root == "y"


def test_the_last_operation_is_the_root_if_none_is_marked() -> None:
    text = "HloModule m ENTRY e { a = f32[] constant(1) b = f32[] negate(a) }"
    assert read_hlo(text).main.root == "b"


def test_unknown_opcodes_and_attributes_are_kept() -> None:
    text = (
        "HloModule m\nENTRY e {\n  a = s32[] constant(1)\n"
        '  ROOT b = s32[4] brand-new(a), colors={red, {1,2}}, mode="x, y", dimensions={0}\n}'
    )
    new = read_hlo(text).main.by_name["b"]
    assert new.opcode == "brand-new"
    assert new.attributes == {"colors": "{red, {1,2}}", "mode": '"x, y"', "dimensions": (0,)}
    assert new.line == 4


def test_constants() -> None:
    text = "HloModule m ENTRY e { ROOT a = f32[2,2] constant({ { 1, inf }, { -nan, 2.5 } }) }"
    literal = read_hlo(text).main.by_name["a"].literal
    np.testing.assert_array_equal(literal, np.float32([[1, np.inf], [np.nan, 2.5]]), strict=True)


def body(*rows: str) -> str:
    return "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  " + "\n  ".join(rows) + "\n}\n"


BAD = {
    "nothing": ("", 1, 1, "the end does not fit here"),
    "another language": ("module @m {\n}", 1, 1, "'module' does not fit"),
    "no name": ("HloModule , a=1", 1, 11, "',' does not fit"),
    "no computation": ("HloModule m\n\n", 3, 1, "marked ENTRY"),
    "no entry": ("HloModule m\nf { x = f32[] constant(1) }", 2, 28, "marked ENTRY"),
    "two entries": (
        "HloModule m\nENTRY f { x = f32[] constant(1) }\nENTRY g { x = f32[] constant(1) }",
        3, 1, "two computations are marked ENTRY",
    ),
    "a computation twice": (
        "HloModule m\nf { x = f32[] constant(1) }\nENTRY f { x = f32[] constant(1) }",
        3, 7, "two computations have the name f",
    ),
    "an empty computation": ("HloModule m\nENTRY e {\n}", 2, 7, "e has no operation"),
    "no end": (body("y = f32[2] negate(x)")[:-3], 4, 23, "the end does not fit"),
    "an operation twice": (body("x = f32[2] negate(x)"), 4, 3, "have the name x"),
    "two roots": (
        body("ROOT y = f32[2] negate(x)", "ROOT z = f32[2] negate(x)"), 5, 3, "marked ROOT",
    ),
    "no equals sign": (body("y f32[2] negate(x)"), 4, 5, "'f32' does not fit"),
    "no type": (body("y = negate(x)"), 4, 13, "'(' does not fit"),
    "an unknown type": (body("y = f31[2] negate(x)"), 4, 7, "'f31' is no type"),
    "no opcode": (body("y = f32[2] (x)"), 4, 14, "'(' does not fit"),
    "an operand that is none": (body("y = f32[2] add(x, z)"), 4, 21, "y reads z"),
    "a number as operand": (body("y = f32[2] add(x, -1)"), 4, 21, "'-1' does not fit"),
    "its own value": (body("y = f32[2] add(x, y)"), 4, 3, "y reads its own value"),
    "a circle": (
        body("y = f32[2] add(x, z)", "z = f32[2] negate(y)"), 4, 3, "y reads its own value",
    ),
    "a call of what is not there": (
        body("y = f32[2] call(x), to_apply=f"), 4, 14, "y calls f, and there is no such",
    ),
    "a call of itself": (body("y = f32[2] call(x), to_apply=e"), 2, 7, "e calls itself"),
    "a circle of calls": (
        "HloModule m\nf { ROOT x = f32[] call(), to_apply=g }\n"
        "ENTRY g { ROOT x = f32[] call(), to_apply=f }", 2, 1, "f calls itself",
    ),
    "a parameter twice": (body("y = f32[2] parameter(0)"), 4, 3, "number 0 is there twice"),
    "a parameter missing": (body("y = f32[2] parameter(2)"), 4, 3, "number 2 is none of them"),
    "a parameter without number": (body("y = f32[2] parameter()"), 4, 24, "')' does not fit"),
    "a constant left out": (body("y = f32[9] constant({...})"), 4, 23, "left out"),
    "a constant that is a tuple": (body("y = (f32[]) constant((1))"), 4, 15, "is a tuple"),
    "a constant of another shape": (body("y = f32[2] constant({1})"), 4, 25, "fewer elements"),
    "an attribute without value": (body("y = f32[2] negate(x), a"), 5, 1, "'}' does not fit"),
    "an attribute of another form": (
        body("y = f32[2,2] broadcast(x), dimensions=0"), 4, 41, "0 is no value of dimensions",
    ),
    "an attribute twice": (
        body("y = f32[2,2] broadcast(x), dimensions={0}, dimensions={1}"), 4, 46, "twice",
    ),
    "no direction": (body("y = pred[2] compare(x, x)"), 4, 15, "compare has no direction"),
    "an extent that is not known": (body("y = f32[<=2] negate(x)"), 4, 11, "not known"),
    "a token": (body("y = token[] after-all()"), 4, 7, "side effects"),
    "nine dimensions": (body("y = f32[1,1,1,1,1,1,1,1,1] copy(x)"), 4, 7, "more than 8"),
    "a quotation without end": (body('y = f32[2] negate(x), a="b'), 4, 27, "quotation has no end"),
    "a comment without end": (body("/* y"), 4, 3, "comment has no end"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_texts_are_refused_at_their_place(name: str) -> None:
    text, line, column, words = BAD[name]
    with pytest.raises(ParseError) as caught:
        read_hlo(text, "bad.hlo")
    error = caught.value
    assert words in error.message
    assert (error.line, error.column, error.source) == (line, column, "bad.hlo")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("no entry", "mark the one that is run"), ("a constant left out", "print_large_constants"),
        ("an attribute of another form", "dimensions={0,1}"), ("a circle", "the cycle is"),
        ("no direction", "EQ, NE, LT, LE, GT, GE"), ("another language", "'HloModule'"),
    ],
)  # fmt: skip
def test_errors_say_a_way_out(name: str, hint: str) -> None:
    with pytest.raises(ParseError) as caught:
        read_hlo(BAD[name][0])
    assert hint in (caught.value.hint or "")


def test_similar_names_are_proposed() -> None:
    with pytest.raises(ParseError) as caught:
        read_hlo(body("value = f32[2] negate(x)", "y = f32[2] negate(valeu)"))
    assert caught.value.hint == "did you mean value?"


def test_texts_have_a_length() -> None:
    class Long(str):
        def __len__(self) -> int:
            return MOST_CHARACTERS + 1

    with pytest.raises(ParseError, match="at most 50,000,000 characters") as caught:
        read_hlo(Long(""), "long.hlo")
    assert caught.value.source == "long.hlo"


def test_modules_have_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MOST_OPERATIONS", 2)
    with pytest.raises(ParseError, match="at most 2 operations"):
        read_hlo(body("y = f32[2] negate(x)", "z = f32[2] negate(y)"))
    monkeypatch.setattr(reader, "MOST_ELEMENTS", 3)
    with pytest.raises(ParseError, match="the constants have more than"):
        read_hlo("HloModule m ENTRY e { a = f32[2] constant({1, 2}) b = f32[2] constant({1, 2}) }")


def test_long_chains_have_no_limit_of_recursion() -> None:
    count = 3_000
    rows = [f"y{k} = f32[2] negate(y{k + 1})" for k in range(count)]
    module = read_hlo(body(*rows, f"y{count} = f32[2] negate(x)"))
    assert module.main.operations[-1].name == "y0"
    calls = "".join(f"f{k} {{ ROOT r = f32[] call(), to_apply=f{k + 1} }}\n" for k in range(count))
    module = read_hlo(f"HloModule m\n{calls}ENTRY f{count} {{ ROOT r = f32[] constant(1) }}")
    assert next(iter(module.computations)) == f"f{count}"
