"""The colours of the bench can be read and told apart."""

from __future__ import annotations

import pytest

from fuseloom_workbench.base.tokens import contrast, distance, findings, main, tokens


def test_colours_can_be_read_and_told_apart() -> None:
    found = findings()
    assert len(found) > 200
    assert [str(finding) for finding in found if not finding.ok] == []


def test_known_contrasts_and_distances() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#777777") == pytest.approx(1)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)
    assert distance("#ff0000", "#ff0000", "deuteranopia") == 0
    assert distance("#000000", "#ffffff", "normal") == pytest.approx(100, abs=0.1)
    red, green = "#b04000", "#508000"
    assert distance(red, green, "deuteranopia") < distance(red, green, "normal") / 2


def test_both_themes_have_every_token() -> None:
    light, dark = tokens("light"), tokens("dark")
    assert set(light) == set(dark)
    assert len(light) > 50
    assert light != dark


def test_the_script_prints_every_figure(capsys: pytest.CaptureFixture[str]) -> None:
    assert main() == 0
    out = capsys.readouterr().out
    assert out.count("\n") == len(findings()) + 1
    assert "0 out of bounds" in out
