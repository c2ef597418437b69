"""Modules as people write them: accepted ones agree under every preset, others are refused."""

from __future__ import annotations

import pytest

import fuseloom as fl
from tests.frontends.torch.families.measure import imported, problems
from tests.frontends.torch.families.plain import PLAIN

REFUSED = {
    "fourier": "aten.fft_fft",
    "bessel": "aten.special_i0",
}
"""The families without a translation, by the operation that the refusal names."""


@pytest.mark.parametrize("name", [n for n in PLAIN if n not in REFUSED])
def test_all_agree_under_every_preset(name: str) -> None:
    assert problems(imported(*PLAIN[name])) == []


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_counterpart_is_refused_by_name_with_a_hint(name: str) -> None:
    with pytest.raises(fl.FuseloomError) as caught:
        imported(*PLAIN[name])
    assert f"{REFUSED[name]}.default is not supported, at " in str(caught.value) or (
        REFUSED[name] in str(caught.value)
    )
    assert caught.value.hint


def test_the_families_are_as_large_as_said() -> None:
    assert len(PLAIN) >= 60
    assert len(PLAIN) - len(REFUSED) >= 0.9 * len(PLAIN)
