"""Loop nests: walking, text, and what has no meaning."""

from __future__ import annotations

import pytest

from fuseloom.contraction.loopnest.ir import Assign, Forall, Where, indented, verify, workspaces
from fuseloom.contraction.loopnest.parser import parse_nest
from fuseloom.errors import ProgramError
from fuseloom.program import Access

TEXT = "forall(i, where(y(i) += t() * b(i), forall(j, t() += A(i,j))))"


def test_workspaces_are_what_the_consumer_reads() -> None:
    nest = parse_nest(TEXT)
    assert isinstance(nest, Forall)
    assert isinstance(nest.body, Where)
    assert workspaces(nest.body) == {"t"}


def test_lines_say_where_a_workspace_is_emptied() -> None:
    assert indented(parse_nest(TEXT)).splitlines() == [
        "for i",
        "  t() = 0",
        "  for j",
        "    t() += A(i,j)",
        "  y(i) += t() * b(i)",
    ]


def at(name: str, *indices: str) -> Access:
    return Access(name, indices)


@pytest.mark.parametrize(
    ("nest", "message"),
    [
        (Assign(at("y", "i"), (at("A", "i"),)), "stands in no loop over i"),
        (Forall("i", Forall("i", Assign(at("y"), (at("A", "i"),)))), "stands within another"),
        (
            Where(Assign(at("t"), (at("A"),)), Assign(at("y"), (at("t"),))),
            "t is read before it is made",
        ),
        (
            Where(Assign(at("y"), (at("t"), at("b"))), Assign(at("y"), (at("b"),))),
            "y is made in two places",
        ),
        (Where(Assign(at("y"), (at("b"),)), Assign(at("t"), (at("b"),))), "nothing reads it"),
        (
            Forall("i", Where(Assign(at("y"), (at("t", "i"),)), Assign(at("t"), (at("b", "i"),)))),
            "t has 0 indices in one place, 1 in another",
        ),
    ],
)
def test_nests_without_a_meaning(nest: Assign | Forall | Where, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        verify(nest)
