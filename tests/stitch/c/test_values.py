"""Values of phases in C: types, positions and comments."""

from __future__ import annotations

import numpy as np

from fuseloom.stitch.c.values import buffer_type, comment_text, memory_type, position_text
from fuseloom.stitch.positions import variable
from fuseloom.stitch.stitched_program import relative_error

from ..stitched_modules import GraphMaker, fused


def test_positions_are_written_shortly() -> None:
    i, j = variable("i", 6), variable("j", 2)
    assert position_text(i.times(-2).plus(j).plus(10)) == "-2 * i + j + 10"
    over, left = i.divided(4)
    assert position_text(over) == "((i) / 4)"
    assert position_text(left) == "((i) % 4)"
    assert position_text(i.plus(-1).clamped(3)) == "clamped(i - 1, 2)"


def test_what_is_less_than_a_step_is_taken_out_of_divisions() -> None:
    block, j = variable("block", 99), variable("j", 2)
    at = block.times(8).plus(j).plus(5)
    over, left = at.divided(32)
    assert position_text(over) == "((block) / 4)"
    assert position_text(left) == "8 * ((block) % 4) + j + 5"
    for number in range(99):
        for place in range(2):
            whole = 8 * number + place + 5
            assert (number // 4, 8 * (number % 4) + place + 5) == divmod(whole, 32)
    assert position_text(at.plus(2).divided(32)[1]) == "((8 * block + j + 7) % 32)"


def test_buffers_of_bf16_take_two_bytes() -> None:
    graph = GraphMaker("bf16")
    x, zero = graph.parameter(64, 40), graph.parameter()
    powers = graph.add("exponential", (64, 40), x)
    sums = graph.add("reduce", (64,), powers, zero, dimensions=(1,), to_apply="sum")
    wide = graph.add("broadcast", (64, 40), sums, dimensions=(0,))
    graph.add("divide", (64, 40), powers, wide)
    program = fused(graph.module())
    assert "uint16_t* const buffer" in program.code
    inputs = {x: np.float32([[1.0, 0.5] * 20] * 64), zero: np.float32(0)}
    assert relative_error(program, inputs) < 1e-2
    assert (memory_type("bf16"), buffer_type("bf16"), buffer_type("pred")) == (
        "float", "uint16_t", "uint8_t",
    )  # fmt: skip


def test_comments_end_where_they_end() -> None:
    assert comment_text("a*/b") == "a* /b"
    assert comment_text("größe").isascii()
