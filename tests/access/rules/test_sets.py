"""The sets of rules: each rule holds, and has a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuseloom.access.rules.rule import Rule
from fuseloom.access.rules.sets import SETS, rule_set, rules_of
from fuseloom.access.rules.soundness import check_rule
from fuseloom.errors import FuseloomError, ProgramError

RULES = {rule.name: rule for name in SETS for rule in rule_set(name)}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@pytest.mark.parametrize("count", [120, pytest.param(1_000, marks=pytest.mark.fuzz)])
def test_every_rule_holds_in_random_instances(rule: Rule, count: int) -> None:
    found = check_rule(rule, count)
    assert found.counterexample is None, str(found)
    assert found.instances == count
    assert len(rule.text) > 20


def test_sets_are_joined_and_rules_left_out(tmp_path: Path) -> None:
    both = rules_of(["boxes", "paper"])
    assert len({rule.name for rule in both}) == len(both)
    file = tmp_path / "own.rules"
    file.write_text('(rule own "mine" (flatten (flatten ?a)) => (flatten ?a))')
    assert [rule.name for rule in rules_of([str(file)])] == ["own"]
    assert rules_of([str(file)], without=["own"]) == ()


def test_what_there_is_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match="neither a set of rules nor a file"):
        rules_of(["boxen"])
    with pytest.raises(ProgramError, match="no set of rules"):
        rule_set("boxen")
    with pytest.raises(ProgramError, match="there is no rule"):
        rules_of(["boxes"], without=["split"])
    file = tmp_path / "own.rules"
    file.write_text('(rule systolic-array "mine" ?a => ?a)')
    with pytest.raises(ProgramError, match="two different rules"):
        rules_of(["boxes", str(file)])
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(FuseloomError):
        rules_of([str(file)])
