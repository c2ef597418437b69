"""Published numbers, tolerances and verdicts."""

from __future__ import annotations

import math

import pytest

from fuseloom.errors import DataError
from fuseloom.experiments.claims import ClaimVerdict, Got, Published, judged, number, published
from fuseloom.experiments.claims import read_published as read


def claim(**given) -> Published:
    return Published("12.x", "a number", "a table", **given)


@pytest.mark.parametrize(
    ("given", "got", "verdict"),
    [
        ({"expected": 100.0, "within": 0.01}, 101.0, ClaimVerdict.HOLDS),
        ({"expected": 100.0, "within": 0.01}, 101.1, ClaimVerdict.DIFFERS),
        ({"expected": 100.0, "within": 0.01}, 98.9, ClaimVerdict.DIFFERS),
        ({"expected": 100.0, "within": 0.01, "why": "because"}, 50.0, ClaimVerdict.EXPLAINED),
        ({"expected": 5.0, "within": 0.0}, 5.0, ClaimVerdict.HOLDS),
        ({"expected": -2.0, "within": 0.5}, -1.0, ClaimVerdict.HOLDS),
        ({"least": 1.0}, 1.0, ClaimVerdict.HOLDS),
        ({"least": 1.0}, 0.999, ClaimVerdict.DIFFERS),
        ({"least": 1.0, "most": 2.0}, 2.1, ClaimVerdict.DIFFERS),
        ({"most": 2.0}, -5.0, ClaimVerdict.HOLDS),
        ({"expected": 1.0, "within": 0.5}, math.nan, ClaimVerdict.DIFFERS),
        ({"most": 2.0}, -math.inf, ClaimVerdict.DIFFERS),
    ],
)
def test_verdicts(given, got, verdict) -> None:
    made = judged(claim(**given), Got(got))
    assert made.verdict is verdict
    assert made.ok is (verdict is ClaimVerdict.HOLDS)


def test_what_is_to_be_expected_may_be_computed() -> None:
    made = judged(claim(within=0.1), Got(10.5, expected=10.0))
    assert made.ok
    assert made.ratio == 1.05
    assert judged(claim(within=0.1), Got(10.5)).verdict is ClaimVerdict.DIFFERS
    missing = judged(claim(expected=3.0, within=0.1), None, reason="it was not run")
    assert (missing.verdict, missing.got, missing.ratio) == (ClaimVerdict.MISSING, None, None)
    assert missing.to_dict()["ok"] is False


def test_tolerances_in_words() -> None:
    assert claim(expected=1.0, within=0.055).tolerance == "±5.5 %"
    assert claim(expected=1.0, within=0.0).tolerance == "exactly"
    assert claim(least=28.0, most=31.0).tolerance == "28 to 31"
    assert claim(most=0.5).tolerance == "≤ 0.5"
    assert claim(least=1000.0).tolerance == "≥ 1,000"


def test_the_file_of_published_numbers() -> None:
    every = published()
    assert every["12.gcn.cora.unfused"].expected == 48_998_261
    assert every["16a.lanes.64"].within == 0.01
    for one in every.values():
        assert set(one.sizes) <= {"full", "small", "smoke"}
        assert set(one.modes) <= {"paper", "ours"}
        assert (one.within is not None) != (one.least is not None or one.most is not None)
        assert one.expected is not None or one.within is None, one.id


def test_tables_hand_down_what_they_share() -> None:
    made = read('["1"]\nsource = "s"\nwithin = 0.1\n["1".a.b]\ntext = "t"\nexpected = 2\n')
    assert [*made] == ["1.a.b"]
    assert (made["1.a.b"].source, made["1.a.b"].expected) == ("s", 2.0)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[f.a]\ntext = "t"\nsource = "s"\n', "no tolerance"),
        ('[f.a]\ntext = "t"\nleast = 1\n', "no text, or no source"),
        ('[f.a]\ntext = "t"\nsource = "s"\nleast = 1\nexpcted = 2\n', "unknown key 'expcted'"),
    ],
)
def test_claims_that_are_none(text, told) -> None:
    with pytest.raises(DataError, match=told):
        read(text)


def test_numbers_for_people() -> None:
    assert number(48_998_261.0) == "48,998,261"
    assert number(1.63345) == "1.633"
    assert number(None) == "–"
    assert number(math.inf) == "inf"
