"""The names of slots: what they lie over, what is refused, and that every kernel uses them."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuseloom.dataflow.sim.compiled import cache, layout
from fuseloom.dataflow.sim.compiled.inlining import helpers_of
from fuseloom.dataflow.sim.compiled.kernels import KERNELS
from fuseloom.dataflow.sim.compiled.layout import COMMON, NODE, SLOTS
from fuseloom.dataflow.sim.compiled.slots import NOTHING, slots

ROOT = Path(cache.__file__).parents[5]
ENGINE = sorted((ROOT / "engine/fuseloom/dataflow").rglob("*.py"))


def declarations(tree: ast.AST) -> Iterator[ast.Call]:
    """Calls that name slots."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Name) and called.id == "slots":
                yield node
            if isinstance(called, ast.Attribute) and called.attr == "also":
                yield node


def anonymous(source: str) -> list[int]:
    """Lines that use a slot without a name: ``nd.s3`` and ``"p1"``."""
    tree = ast.parse(source)
    named = {id(word.value) for call in declarations(tree) for word in call.keywords}
    return [
        node.lineno
        for node in ast.walk(tree)
        if (isinstance(node, ast.Attribute) and node.attr in SLOTS)
        or (isinstance(node, ast.Constant) and node.value in SLOTS and id(node) not in named)
    ]


def test_slots_without_a_name_are_found() -> None:
    assert anonymous('A = slots(phase="s0")\nnd.s0 = 1\nreturn {"p1": 3}\nnode["s1"]') == [2, 3, 4]


@pytest.mark.parametrize("path", ENGINE, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_slot_is_used_without_a_name(path: Path) -> None:
    if path != Path(layout.__file__):
        assert not anonymous(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", [p for p in ENGINE if "/compiled/" in p.as_posix()], ids=str)
def test_every_name_says_what_it_holds(path: Path) -> None:
    """In a comment behind it or above it, where it is declared."""
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines()
    for call in declarations(ast.parse(source)):
        for word in call.keywords:
            if word.arg is not None:
                here, above = lines[word.lineno - 1], lines[word.lineno - 2]
                assert "#" in here or above.strip().startswith("#"), here


def code_of(function: Callable[..., Any]) -> set[str]:
    """Source of a kernel and of the helpers that become part of it."""
    return {inspect.getsource(function)}.union(*map(code_of, helpers_of(function)))


@pytest.mark.parametrize("name", KERNELS)
def test_every_name_is_used(name: str) -> None:
    """By the kernel or one with the same names; else nobody would see it grow stale."""
    names = KERNELS[name].slots
    sharing = [kernel.function for kernel in KERNELS.values() if kernel.slots is names]
    code = "\n".join(text for function in sharing for text in code_of(function))
    unused = [word for word in names.names if not re.search(rf"\bnd\.{word}\b", code)]
    assert not unused


def test_names_lie_over_slots() -> None:
    names = slots(phase="s0", dim="p0", total="f1")
    assert names.dtype.itemsize == NODE.itemsize
    assert names.dtype.names == (*COMMON, "phase", "dim", "total")
    nodes = np.zeros(2, NODE)
    named = names.view(nodes)[1]
    named["phase"], named["dim"], named["total"], named["clk"] = 3, -1, 0.5, 7
    assert (nodes[1]["s0"], nodes[1]["p0"], nodes[1]["f1"], nodes[1]["clk"]) == (3, -1, 0.5, 7)
    assert not any(nodes[0].tolist())


def test_kernels_see_named_slots_only() -> None:
    assert set(slots(phase="s0").record.fields) == {*COMMON, "phase"}
    assert set(NOTHING.record.fields) == set(COMMON)


def test_more_names() -> None:
    first = slots(dim="p0")
    assert first.also(phase="s0").names == {"dim": "p0", "phase": "s0"}
    assert first.names == {"dim": "p0"}


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"phase": "s0", "turn": "s0"}, "slot s0 holds 'phase' already, so not 'turn' too"),
        ({"phase": "s12"}, "phase: a node has no slot 's12', only p0, p1"),
        ({"phase": "clk"}, "a node has no slot 'clk'"),
        ({"clk": "s0"}, "'clk' names something else in a node already"),
        ({"s1": "s0"}, "'s1' names something else in a node already"),
    ],
)
def test_what_cannot_be_named_is_refused(names: dict[str, str], message: str) -> None:
    with pytest.raises(TypeError, match=re.escape(message)):
        slots(**names)


def test_a_name_or_a_slot_that_is_taken_is_refused() -> None:
    first = slots(phase="s0")
    with pytest.raises(TypeError, match="'phase' names something else"):
        first.also(phase="s1")
    with pytest.raises(TypeError, match="slot s0 holds 'phase'"):
        first.also(turn="s0")
