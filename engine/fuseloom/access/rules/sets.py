"""The sets of rules that are there, and those of users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources
from itertools import chain
from pathlib import Path

from fuseloom.access.rules.reader import read_rules
from fuseloom.access.rules.rule import Rule
from fuseloom.errors import ProgramError
from fuseloom.program import regular_files

SETS: Mapping[str, str] = {
    "boxes": "im2col, blocking with boxes, groups and the array: the default",
    "paper": "as Glenside's figures print them",
    "laws": "transposition, commutation, boxes of what is repeated",
}
"""By name: what a set is for."""

MOST_RULE_BYTES = 1_000_000


@lru_cache(maxsize=8)
def rule_set(name: str) -> tuple[Rule, ...]:
    """A set of rules that is there.

    Raises
    ------
    ProgramError
        If there is none of that name.

    Examples
    --------
    >>> [rule.name for rule in rule_set("paper")][:2]
    ['systolic-array', 'flatten-and-reshape']
    """
    if name not in SETS:
        raise ProgramError(f"{name} is no set of rules", hint=f"sets are {', '.join(SETS)}")
    text = resources.files(__package__).joinpath(f"{name}.rules").read_text(encoding="utf-8")
    return read_rules(text, f"{name}.rules")


def rules_of(
    names: Sequence[str], without: Sequence[str] = (), own: Sequence[Rule] = ()
) -> tuple[Rule, ...]:
    """The rules of several sets, each once.

    Parameters
    ----------
    names : sequence of str
        Names of sets, and paths of files with rules.
    without : sequence of str
        Names of rules to leave out.
    own : sequence of Rule
        Further rules, behind those of the sets.

    Raises
    ------
    ProgramError
        If there is no such set, file or rule, or two different rules have one name.

    Examples
    --------
    >>> len(rules_of(["boxes"])) - len(rules_of(["boxes"], without=["systolic-array"]))
    1
    """
    found: dict[str, Rule] = {}
    given = [rule_set(name) if name in SETS else _of_file(name) for name in names]
    for rule in chain(*given, own):
        known = found.setdefault(rule.name, rule)
        if (known.left, known.right) != (rule.left, rule.right):
            raise ProgramError(f"two different rules have the name {rule.name}")
    for name in without:
        if name not in found:
            raise ProgramError(f"there is no rule {name}", hint=f"rules are {', '.join(found)}")
    return tuple(rule for rule in found.values() if rule.name not in without)


def _of_file(name: str) -> tuple[Rule, ...]:
    path = Path(name)
    if not path.is_file():
        raise ProgramError(
            f"{name} is neither a set of rules nor a file", hint=f"sets are {', '.join(SETS)}"
        )
    text = regular_files.text(path, MOST_RULE_BYTES, what="set of rules", error=ProgramError)
    return read_rules(text, name)
