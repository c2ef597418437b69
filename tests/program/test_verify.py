"""Programs built by hand are held to the same rules."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fuseloom.errors import ProgramError
from fuseloom.program import (
    Access,
    Format,
    verify,
)
from tests.program.parsing import program


def test_programs_built_by_hand_are_verified_too() -> None:
    good = program()
    verify(good)
    mul, relu = good.statements
    for bad, message in [
        (replace(good, tensors=good.tensors[:-1]), "not among"),
        (replace(good, statements=(mul, replace(relu, out=Access("U", ("i",))))), "1 index"),
        (replace(good, statements=(replace(mul, operands=mul.operands[:1]), relu)), "2 operands"),
        (replace(good, statements=(replace(mul, constant=1.0), relu)), "takes no constant"),
        (replace(good, outputs=()), "no output"),
        (replace(good, name="a b"), "cannot be called"),
    ]:
        with pytest.raises(ProgramError, match=message):
            verify(bad)


def test_unary_cannot_reduce() -> None:
    good = program()
    tensors = (
        *good.tensors[:-1],
        replace(good.tensor("U"), shape=(4,), format=Format.compressed(1)),
    )
    relu = replace(good.statements[1], out=Access("U", ("i",)))
    with pytest.raises(ProgramError, match="cannot also reduce l"):
        verify(replace(good, tensors=tensors, statements=(good.statements[0], relu)))
