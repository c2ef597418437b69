"""Conversions: a program, and what it no longer says."""

from __future__ import annotations

from fuseloom.program import parse
from fuseloom.program.conversion import Conversion

PROGRAM = parse("x: 4 dense\ny[i] = exp(x[i])")


def test_a_conversion_prints_its_losses_behind_the_program() -> None:
    assert str(Conversion(PROGRAM, ("One.", "Two."))) == f"{str(PROGRAM).rstrip()}\nOne.\nTwo."


def test_without_losses_it_prints_the_program_alone() -> None:
    assert str(Conversion(PROGRAM, ())) == str(PROGRAM).rstrip()
