"""Indices that are free in an expression, each once and in the order in which they stand."""

from __future__ import annotations

from fuseloom.program.functions import Op
from fuseloom.program.syntax import Binary, Constant, Gather, Identifier, Read, Reduce, Unary

AT = (1, 1)


def read(name: str, *indices: str) -> Read:
    return Read(name, tuple(Identifier(x, AT) for x in indices), AT)


def test_reads_and_constants() -> None:
    assert read("A", "i", "j", "i").free == ("i", "j")
    assert Constant(2.0, AT).free == ()


def test_functions_have_the_indices_of_their_operands() -> None:
    both = Binary(Op.MUL, read("A", "i", "k"), read("B", "k", "j"), AT, 2)
    assert both.free == ("i", "k", "j")
    assert Unary(Op.EXP, None, both, AT, 3).free == both.free
    operands = read("A", "c", "i"), read("B", "c", "j")
    assert Gather(Op.CONCAT, Identifier("c", AT), operands, AT, 2).free == ("c", "i", "j")


def test_a_reduction_binds_its_index_inside_only() -> None:
    bound = Reduce(Op.MAX, (Identifier("k", AT),), read("A", "i", "k"), AT, 2, "max")
    assert bound.free == ("i",)
    outside = Binary(Op.ADD, bound, read("B", "k"), AT, 3)
    assert outside.free == ("i", "k")
