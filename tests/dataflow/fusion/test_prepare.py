"""Directives that change the program are carried out and leave the schedule."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.fusion.directives import Block, Global
from fuseloom.dataflow.fusion.prepare import prepare
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.errors import ProgramError, ScheduleError
from fuseloom.program import parse

CHAIN = "A: 4x4 csr\nB: 4x4 dense\nC: 4x4 dense\nT[i,l] = A[i,k] * B[k,l]\nY[i,j] = T[i,l] * C[l,j]"


def test_blocks_are_put_into_the_program() -> None:
    program = parse(CHAIN)
    blocked, rest = prepare(program, Schedule.parse("block 2; fuse T..Y"))
    assert blocked.tensor("A").format.blocked
    assert not program.tensor("A").format.blocked  # the one given is what it was
    assert not rest.of(Block)
    assert rest == Schedule.parse("fuse T..Y")


def test_a_global_region_becomes_one_product() -> None:
    merged, rest = prepare(parse(CHAIN), Schedule.parse("fuse T..Y; global T..Y"))
    assert not rest.of(Global)
    assert len(merged.statements) < len(parse(CHAIN).statements)


def test_without_such_directives_nothing_changes() -> None:
    program, schedule = parse(CHAIN), Schedule.parse("fuse T..Y; order T: i,k,l")
    assert prepare(program, schedule) == (program, schedule)


def test_results_without_zeros_are_put_into_the_program() -> None:
    program, rest = prepare(parse(CHAIN), Schedule.parse("nonzero T; fuse T..Y"))
    assert [s.nonzero for s in program.statements] == [True, False]
    assert rest == Schedule.parse("fuse T..Y")
    merged, _ = prepare(parse(CHAIN), Schedule.parse("nonzero T; global"))
    assert merged.statements == program.statements  # a product of all would have T's zeros again


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("A", "A is an input"),
        ("Q", "no statement assigns Q"),
        ("s", "s is a scalar"),
        ("R", "R is a reshape"),
        ("U", "what is computed of it takes its zeros for elements"),
        ("D", "D is declared dense"),
    ],
)
def test_zeros_that_have_to_stay(name: str, problem: str) -> None:
    program = parse(
        "A: 4x4 dense\nD: 4x4 dense\nR: 16 dense\ns = A[i,j]\nU[i,j] = 2 * A[i,j]\n"
        "E[i,j] = exp(U[i,j])\nD[i,j] = 3 * A[i,j]\nF[i] = D[i,j]\nR[a] = reshape(A[i,j])\n"
        "output s, E, F, R"
    )
    with pytest.raises(ScheduleError, match=f"'nonzero {name}': {problem}"):
        prepare(program, Schedule.parse(f"nonzero {name}"))


def test_directives_that_do_not_fit_are_refused() -> None:
    with pytest.raises((ScheduleError, ProgramError)):
        prepare(parse(CHAIN), Schedule.parse("block 3"))


STORED = (
    "A: 4x4 csr\nB: 4x4 dense\nT[i,l] = A[i,k] * B[k,l]\nU[i,l] = B[i,k] * B[k,l]\n"
    "R: 16 dense\nR[a] = reshape(U[i,l])\nY[i,j] = T[i,l] * U[l,j]\nZ[a] = relu(R[a])"
)


def levels(schedule: str) -> dict[str, str]:
    program, _ = prepare(parse(STORED), Schedule.parse(schedule))
    return {
        name: "".join(level.value[0] for level in program.tensor(name).format.levels)
        for name in ("T", "U", "Y")
    }


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("", {"T": "cc", "U": "cc", "Y": "cc"}),
        ("store dense", {"T": "cd", "U": "dd", "Y": "cc"}),
        ("store dense; store compressed", {"T": "cc", "U": "cc", "Y": "cc"}),
        ("store T compressed; store dense", {"T": "cc", "U": "dd", "Y": "cc"}),
        ("store T compressed,dense", {"T": "cd", "U": "cc", "Y": "cc"}),
        ("store U dense; store T compressed , dense", {"T": "cd", "U": "dd", "Y": "cc"}),
        ("store U dense,compressed", {"T": "cc", "U": "dc", "Y": "cc"}),
        ("block 2; store U dense", {"T": "cc", "U": "dd", "Y": "cc"}),
    ],
)
def test_intermediates_are_stored_as_asked(schedule: str, expected: dict[str, str]) -> None:
    if "block" in schedule:  # a reshape knows no blocks
        text = STORED.replace("R: 16 dense\nR[a] = reshape(U[i,l])\n", "")
        program, _ = prepare(
            parse(text.replace("\nZ[a] = relu(R[a])", "")), Schedule.parse(schedule)
        )
        assert program.tensor("U").format.block == 2
        assert program.tensor("U").format.all_dense
    else:
        assert levels(schedule) == expected


@pytest.mark.parametrize(
    ("directive", "reason"),
    [
        ("store T dense", "intermediate T has a dense level 0 (i)"),
        ("store T dense,compressed", "intermediate T has a dense level 0 (i)"),
        ("store T dense,dense,dense", "names 3 levels, and T has 2"),
        ("store Y compressed", "no statement reads Y"),
        ("store A dense", "A is an input"),
        ("store R compressed", "R is a reshape"),
        ("store Q dense", "no statement assigns Q"),
    ],
)
def test_what_cannot_be_stored_so_is_refused_with_its_place(directive: str, reason: str) -> None:
    with pytest.raises(ScheduleError) as refused:
        levels(f"strict off\n  {directive}")
    assert reason in refused.value.message
    assert refused.value.line == 2
    assert refused.value.column == 3


def test_what_global_iteration_takes_away_is_not_stored() -> None:
    text = CHAIN + "\nV[i,j] = relu(Y[i,j])"
    merged, rest = prepare(parse(text), Schedule.parse("global; store Y compressed"))
    assert "T" not in merged.by_name
    assert str(rest) == "store Y compressed"
