"""Losses of programs on the way to other systems: no less and no more than the systems say."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.cli.main import main
from fuseloom.comparison.conversions import ConversionRow, conversions_of
from fuseloom.comparison.examples import EXAMPLES, example
from fuseloom.comparison.rows import FusionSystem
from fuseloom.errors import DataError
from fuseloom.models import load
from fuseloom.program import parse
from tests.comparison.test_compare import APPLIES

FLOAT32 = "Elements are computed in float32; the meaning of the program is float64."


def rows(text: str) -> dict[str, ConversionRow]:
    return {row.system.value: row for row in conversions_of(parse(text)).rows}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_program_goes_where_it_is_compared(name: str) -> None:
    program, data = example(name)
    made = conversions_of(program, data)
    assert [row.system for row in made.rows] == [x for x in FusionSystem if x.value != "dataflow"]
    assert {row.system.value for row in made.rows if row.applies} == APPLIES[name] - {"dataflow"}
    assert all(bool(row.reason) != row.applies for row in made.rows)
    assert all(not row.losses for row in made.rows if not row.applies)


def test_formats_are_lost_where_arrays_are_dense() -> None:
    found = rows("A: 8x4 csr\nB: 4x5 dense\nC[i,j] = A[i,k] * B[k,j]\nD[i] = A[i,k]\noutput C")
    dense = "A (csr) becomes dense: its absent elements are zeros."
    unneeded = "No result needs D, left out."
    assert found["contraction"].losses == (unneeded,)
    assert found["access"].losses == (dense, unneeded)
    assert found["calls"].losses == (dense, FLOAT32, unneeded)
    assert found["stitch"].losses == (dense, FLOAT32, unneeded)


def test_windows_and_products_of_several_are_said() -> None:
    found = rows("x: 10 dense\nw: 3 dense\nv: 3 dense\nc[i] = product(x[i+k], w[k], v[k])")
    assert any(x.startswith("Reads at computed places") for x in found["stitch"].losses)
    assert "Products of several tensors at once become products of two: c." in (
        found["stitch"].losses
    )
    assert "Reads at computed places become views of parts: c_1." in found["calls"].losses


def test_refusals_name_the_rule_and_the_line() -> None:
    program = load("attention")[0].program
    found = {row.system.value: row for row in conversions_of(program).rows}
    assert not any(row.applies for row in found.values())
    assert found["contraction"].reason.startswith("C[i,j] is made by 'scale'")
    assert "a maximum skips elements that C lacks (line" in found["stitch"].reason
    assert "no conversion: x has no dense meaning" in str(conversions_of(program))


def test_full_data_are_no_obstacle() -> None:
    program = parse("A: 3x4 csr\ny[i] = max[j] A[i,j]")
    assert not conversions_of(program).of("calls").rows[0].applies
    made = conversions_of(program, {"A": np.ones((3, 4))}).of("calls", FusionSystem.STITCH)
    assert [row.applies for row in made.rows] == [True, True]
    with pytest.raises(DataError):
        conversions_of(program, {"A": np.ones((3, 5))})


def test_the_command_prints_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "mttkrp", "--conversions", "--system", "contraction"]) == 0
    assert capsys.readouterr().out.endswith("system       lost\ncontraction  nothing\n")
    assert main(["compare", "mttkrp", "--conversions", "--keep"]) == 2
    assert "--conversions runs nothing" in capsys.readouterr().err
