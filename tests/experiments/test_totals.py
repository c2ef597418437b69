"""Claims counted by kind, each published number once."""

from __future__ import annotations

from fuseloom.experiments.claims import ClaimKind, ClaimVerdict, Got, Published, judged
from fuseloom.experiments.totals import told, totals


def made(id_: str, kind: ClaimKind, got: float | None, **given):
    one = Published(id_, "t", kind, expected=1.0, within=0.1, **given)
    return judged(one, None if got is None else Got(got))


CLAIMS = [
    made("a", ClaimKind.PREDICTED, 1.0),
    made("b", ClaimKind.PREDICTED, 2.0, constant="a", why="w"),
    made("c", ClaimKind.PREDICTED, 1.0),
    made("d", ClaimKind.OURS, 2.0),
    made("e", ClaimKind.OURS, None, constant="d"),
]


def test_a_number_has_the_worst_verdict_of_its_claims() -> None:
    predicted, ours = totals(CLAIMS)
    assert (predicted.kind, predicted.claims, predicted.numbers) == (ClaimKind.PREDICTED, 3, 2)
    assert predicted.verdicts == (ClaimVerdict.EXPLAINED, ClaimVerdict.HOLDS)
    assert ours.verdicts == (ClaimVerdict.MISSING,)
    assert totals([]) == ()


def test_they_are_told_in_words_and_as_data() -> None:
    predicted, ours = totals(CLAIMS)
    assert told(predicted) == "2 numbers behind 3 claims: 1 holds; 1 differs, explained"
    assert told(ours) == "1 number behind 2 claims: 1 is missing"
    assert predicted.to_dict() == {
        "kind": "predicted",
        "claims": 3,
        "numbers": 2,
        "hold": 1,
        "explained": 1,
        "differ": 0,
        "missing": 0,
    }
