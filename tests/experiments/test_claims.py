"""Published numbers, tolerances and verdicts."""

from __future__ import annotations

import math

import pytest

from fuseloom.errors import DataError
from fuseloom.experiments.claims import (
    ClaimKind,
    ClaimVerdict,
    Got,
    Published,
    judged,
    last_digit,
    number,
    published,
)
from fuseloom.experiments.claims import read_published as read


def claim(kind: ClaimKind = ClaimKind.PREDICTED, **given) -> Published:
    return Published("12.x", "a number", kind, **given)


@pytest.mark.parametrize(
    ("given", "got", "verdict"),
    [
        ({"expected": 100.0, "within": 0.01}, 101.0, ClaimVerdict.HOLDS),
        ({"expected": 100.0, "within": 0.01}, 101.1, ClaimVerdict.DIFFERS),
        ({"expected": 100.0, "within": 0.01}, 98.9, ClaimVerdict.DIFFERS),
        ({"expected": 100.0, "within": 0.01, "why": "because"}, 50.0, ClaimVerdict.EXPLAINED),
        ({"expected": 5.0, "within": 0.0}, 5.0, ClaimVerdict.HOLDS),
        ({"expected": 0.3, "to": 0.05}, 0.25, ClaimVerdict.HOLDS),
        ({"expected": 0.3, "to": 0.05}, 0.249, ClaimVerdict.DIFFERS),
        ({"expected": 0.3, "to": 0.05}, math.nan, ClaimVerdict.DIFFERS),
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
    assert claim(expected=0.3, to=0.05).tolerance == "±0.05"
    assert claim(least=1000.0).tolerance == "≥ 1,000"


def test_the_file_of_published_numbers() -> None:
    every = published()
    assert every["12.gcn.cora.unfused"].expected == 48_998_261
    assert every["16a.lanes.64"].within == 0.01
    for one in every.values():
        assert set(one.sizes) <= {"full", "small", "smoke"}
        assert set(one.modes) <= {"paper", "ours"}
        two_sided = one.within is not None or one.to is not None
        assert two_sided != (one.least is not None or one.most is not None)
        assert one.expected is not None or not two_sided, one.id


def test_places_in_words() -> None:
    every = published()
    assert every["12.gcn.cora.unfused"].source == (
        "FuseFlow §8.3, Fig. 12; constant in the artefact's script for Fig. 12"
    )
    assert every["13.kernels"].where == "FuseFlow §8.2"
    assert every["9.rows"].where == "FuseFlow, appendix B.2, Fig. 20"
    assert every["table2.mask32"].where == ""
    assert every["table2.mask32"].source.startswith("268 of 1,024 blocks")


@pytest.mark.parametrize(
    ("text", "unit"),
    [("99.7 % empty", 0.1), ("~29×", 1), ("3.9·10⁷", 1e6), ("1.94×", 0.01), ("none", 0)],
)
def test_the_last_printed_digit(text, unit) -> None:
    assert last_digit(text) == pytest.approx(unit)


HEAD = "[families]\nx = 0.1\n"
SEEN = 'text = "t"\nkind = "predicted"\nsection = "8"\nprints = "2.0"\nexpected = 2\n'


def test_tables_hand_down_what_they_share() -> None:
    text = f'{HEAD}["1"]\nsection = "3"\nfamily = "x"\nwithin = 0.1\n["1".a.b]\n'
    made = read(text + SEEN.replace('section = "8"\n', ""))
    assert [*made] == ["1.a.b"]
    assert (made["1.a.b"].source, made["1.a.b"].expected) == ("FuseFlow §3", 2.0)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (SEEN, "f.a has no tolerance"),
        (SEEN.replace('"t"', '""') + "to = 0.05\n", "has no text"),
        (SEEN + "expcted = 2\n", "unknown key 'expcted'"),
        (SEEN.replace("predicted", "exact") + "to = 0.05\n", "of no kind: 'exact'"),
        (SEEN.replace('kind = "predicted"\n', "") + "to = 0.05\n", "of no kind: None"),
        (SEEN + "to = 0.06\n", "half of the last printed digit"),
        (SEEN + "within = 0.1\n", "of no family: ''"),
        (SEEN + 'within = 0.2\nfamily = "x"\n', "beyond the ±10 % of its family"),
        (SEEN + "least = 1\n", "a published number, and bounds"),
        (SEEN.replace("expected = 2\n", "") + "to = 0.05\n", "has no published number"),
        (SEEN.replace('section = "8"\n', "") + "to = 0.05\n", "names no section"),
        (SEEN.replace("predicted", "calibrated") + "to = 0.05\n", "must say what was fitted"),
        (SEEN + 'to = 0.05\nfitted = "w"\n', "must say what was fitted"),
        (SEEN.replace("predicted", "ours") + "to = 0.05\n", "does not say what it is compared"),
        (SEEN.replace("predicted", "ours") + 'to = 0.05\nbasis = "b"\n', "is ours, and names"),
        (SEEN.replace("predicted", "bound or property") + "to = 0.05\n", "without a bound"),
    ],
)
def test_claims_that_are_none(text, told) -> None:
    with pytest.raises(DataError, match=told):
        read(f"{HEAD}[f.a]\n{text}")


def test_a_wide_tolerance_with_a_reason() -> None:
    made = read(f'{HEAD}[f.a]\n{SEEN}within = 0.2\nfamily = "x"\nreason = "r"\n')
    assert made["f.a"].reason == "r"


def test_claims_on_one_number_are_of_one_kind() -> None:
    other = SEEN.replace("predicted", "calibrated") + 'fitted = "w"\nconstant = "f.a"\n'
    with pytest.raises(DataError, match=r"f\.b has a published number of another kind"):
        read(f"[f.a]\n{SEEN}to = 0.05\n[f.b]\n{other}to = 0.05\n")


def test_numbers_for_people() -> None:
    assert number(48_998_261.0) == "48,998,261"
    assert number(1.63345) == "1.633"
    assert number(None) == "–"
    assert number(math.inf) == "inf"
