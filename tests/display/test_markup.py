"""Elements as text: what is no markup is escaped."""

from __future__ import annotations

from fuseloom.display import Markup, tag
from fuseloom.display.markup import joined

HOSTILE = '<script>alert("1")</script>&'


def test_text_is_escaped_and_markup_is_not() -> None:
    assert "<script" not in tag("p", HOSTILE)
    assert tag("p", Markup("<b>1</b>")) == "<p><b>1</b></p>"
    assert "<script" not in joined([HOSTILE, [HOSTILE]])


def test_attributes_are_escaped() -> None:
    assert tag("p", title='" onclick="x') == '<p title="&quot; onclick=&quot;x"></p>'


def test_names_of_attributes() -> None:
    made = tag("rect", class_="a", stroke_width=1.5, viewbox="0 0 1 1", hidden=True, id=None)
    assert made == '<rect class="a" stroke-width="1.5" viewBox="0 0 1 1" hidden></rect>'


def test_nothing_and_numbers() -> None:
    assert tag("td", None, 0, 2.50) == "<td>02.5</td>"
