"""Which levels of computed tensors may be dense, and what is said where they may not."""

from __future__ import annotations

import pytest

from fuseloom.errors import ProgramError
from fuseloom.program.completeness import presences
from fuseloom.program.dense_levels import (
    all_compressed,
    dense_problem,
    densest,
    intermediates,
    with_levels,
    written_levels,
)
from fuseloom.program.formats import LevelFormat
from fuseloom.program.parser import parse

C, D = LevelFormat.COMPRESSED, LevelFormat.DENSE
INPUTS = "s: 4 compressed\nd: 4 dense\nM: 4x4 csr\nD: 4x4 dense\nB: 4x4 [compressed, dense]\n"


@pytest.mark.parametrize(
    ("statements", "levels"),
    [
        ("y[i,j] = M[i,k] * D[k,j]", (C, D)),
        ("y[i,j] = D[i,k] * M[k,j]", (C, C)),
        ("y[i,j] = D[i,k] * D[k,j]", (D, D)),
        ("y: 4x4 csf order 1,0\ny[i,j] = M[i,k] * D[k,j]", (C, C)),  # j is outermost
        ("y: 4x4 csf order 1,0\ny[i,j] = D[i,k] * M[k,j]", (C, D)),
        ("y[i,j] = M[i,j] + d[j]", (C, D)),
        ("y[i,j] = D[i,j] + s[j]", (D, D)),
        ("y[i,j] = B[i,j] + B[i,j]", (C, D)),
        ("y[i,j] = B[i,j] + M[i,j]", (C, C)),
        ("y[i,j] = exp(B[i,j])", (C, D)),
        ("y[i,j] = B[i,j] / d[j]", (C, D)),
        ("y[i,j] = s[i] * d[j]", (C, D)),
        ("y[i,j,k] = B[i,j] * D[j,k]", (C, D, D)),
        ("y[i,j,k] = s[i] * product(d[j], s[k])", (C, D, C)),
        ("y[j] = B[i,j]", (C,)),  # all of its elements, or none if B has none
        ("y[j] = max[i] D[i,j]", (D,)),
        ("y[i,j] = concat[j](B[i,j], B[i,j])", (C, C)),  # rows of the one and not of the other
        ("y[i,j] = concat[i](B[i,j], B[i,j])", (C, D)),
        ("y[i,j] = concat[j](D[i,j], D[i,j])", (D, D)),
        ("option broadcast_add dense\ny[i,j] = M[i,j] + d[j]", (D, D)),
        ("option broadcast_add dense\ny[i,j] = B[i,j] + s[i]", (C, D)),
    ],
)
def test_what_can_be_dense(statements: str, levels: tuple[LevelFormat, ...]) -> None:
    shape = ",".join("abc"[: len(levels)])
    program = parse(f"{INPUTS}{statements}\nz[{shape}] = relu(y[{shape}])")
    assert densest(program)["y"] == levels
    found, y = presences(program), program.tensor("y")
    assert dense_problem(program, with_levels(y, levels), found) is None
    for k, level in enumerate(levels):
        more = with_levels(y, (*levels[:k], D, *levels[k + 1 :]))
        assert (dense_problem(program, more, found) is None) is (level is D)


def test_a_declared_level_is_dense_and_prints() -> None:
    text = "T: 4x4 [compressed, dense]\nT[i,j] = M[i,k] * D[k,j]\nY[i,j] = relu(T[i,j])"
    program = parse(INPUTS + text)
    assert program.tensor("T").format.levels == (C, D)
    assert parse(str(program)) == program


def test_what_is_refused_says_which_level_why_and_what_to_do() -> None:
    text = "T: 4x4 dense\nT[i,j] = M[i,k] * D[k,j]\nY[i,j] = relu(T[i,j])"
    with pytest.raises(ProgramError) as refused:
        parse(INPUTS + text)
    assert "line 6, column 8" in str(refused.value)
    assert "intermediate T has a dense level 0 (i)" in refused.value.message
    assert "M is stored sparse (dense, compressed) and may lack elements" in refused.value.message
    assert "write [compressed, dense]" in (refused.value.hint or "")


def test_what_nothing_reads_is_written_compressed() -> None:
    text = "T: 4x4 dense\nY: 4x4 dense\nT[i,j] = D[i,k] * D[k,j]\nY[i,j] = relu(T[i,j])"
    program = parse(INPUTS + text)
    assert intermediates(program) == ("T",)
    assert written_levels(program, "T") == (D, D)
    assert written_levels(program, "Y") == (C, C)
    plain = all_compressed(program)
    assert plain.tensor("T").format.levels == (C, C)
    assert plain.tensor("Y").format.levels == (D, D)
    assert all_compressed(plain) is plain
