"""Kernels say which rule was broken by number; the numbers and the texts belong together."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.sim.compiled import rules
from fuseloom.dataflow.sim.conformance.bench import bench
from fuseloom.errors import SimulationError

CODES = {name: code for name, code in vars(rules).items() if isinstance(code, int)}


def test_every_rule_has_one_code_and_a_text_of_its_own() -> None:
    assert sorted(CODES.values()) == list(range(len(rules.RULES)))
    assert rules.RULES[rules.NONE] == ""
    assert all(rules.RULES[1:])
    assert len(set(rules.RULES)) == len(rules.RULES)


@pytest.mark.parametrize(
    ("code", "op", "inputs", "how"),
    [
        ("BAD_VALUE_REFERENCE", "array", ("7 D",), {"arrays": {"vals": [1.0]}}),
        ("OPERANDS_DISAGREE", "binary", ("1 S0 D", "1 2 S0 D"), {"params": {"fn": "add"}}),
        ("NO_OUTER", "crdhold", ("1 S0 2 S1 D", "7 S0 D"), {}),
    ],
)
def test_a_kernels_error_has_the_text_of_its_rule(
    code: str, op: str, inputs: tuple[str, ...], how: dict
) -> None:
    with pytest.raises(SimulationError) as caught:
        bench(op, *inputs, engine="compiled", **how)
    assert rules.RULES[CODES[code]] in str(caught.value)
