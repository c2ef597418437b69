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
LONG = ("encoder", "decoder", "transformer")
"""Modules that are fused for long: in the deep tier they run unfused and by kernels."""


@pytest.mark.parametrize(
    ("name", "presets"),
    [
        *((name, None) for name in PLAIN if name not in (*REFUSED, *LONG)),
        *((name, ("unfused", "kernels")) for name in LONG),
        *(pytest.param(name, None, marks=pytest.mark.fuzz) for name in LONG),
    ],
)
def test_all_agree_under_every_preset(name: str, presets: tuple[str, ...] | None) -> None:
    assert problems(imported(*PLAIN[name]), presets) == []


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
