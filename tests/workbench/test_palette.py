"""Colours by meaning, and markers for those who do not see them."""

from __future__ import annotations

from workbench.palette import MARKERS, OKABE_ITO, REGION_FILLS, region_fill


def test_every_series_has_a_colour_and_a_marker_of_its_own() -> None:
    assert OKABE_ITO.keys() == MARKERS.keys()
    assert len(set(OKABE_ITO.values())) == len(OKABE_ITO)
    assert len(set(MARKERS.values())) == len(MARKERS)


def test_fills_repeat_but_not_beside_each_other() -> None:
    count = len(REGION_FILLS)
    assert [region_fill(k) for k in range(count)] == list(REGION_FILLS)
    assert region_fill(count) == region_fill(0)
    assert all(region_fill(k) != region_fill(k + 1) for k in range(3 * count))


def test_dark_text_stays_readable_on_every_fill() -> None:
    """Contrast of black by WCAG: at least 7 to 1."""

    def linear(channel: int) -> float:
        c = channel / 255
        return c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4

    for fill in REGION_FILLS:
        red, green, blue = (linear(int(fill[k : k + 2], 16)) for k in (1, 3, 5))
        luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
        assert (luminance + 0.05) / 0.05 >= 7, fill
