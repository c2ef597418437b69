"""Programs as JSON, there and back, and JSON that is none."""

from __future__ import annotations

import pytest

from fuseloom.errors import ProgramError
from fuseloom.program import (
    parse,
    program_from_json,
    program_to_json,
)
from tests.program.parsing import HEAD


def test_json_round_trip() -> None:
    program = parse(HEAD + "H[i,l] = relu(A[i,j] * B[j,l] + b[l]) * 2\nm = max[i,l] H[i,l]")
    assert program_from_json(program_to_json(program)) == program


@pytest.mark.parametrize(
    "text",
    ["", "[]", "3", "{}", '{"fuseloom": "program", "version": 2}', "[" * 100_000,
     '{"fuseloom": "program", "version": 1, "name": 3}'],
)  # fmt: skip
def test_malformed_json(text: str) -> None:
    with pytest.raises(ProgramError) as caught:
        program_from_json(text)
    assert "\n" not in str(caught.value)
    assert caught.value.hint
