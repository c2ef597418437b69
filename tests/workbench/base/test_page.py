"""The top line, colours and names of pages."""

from __future__ import annotations

import pytest

from fuseloom_workbench.base.page import PAGE_LINKS, THEME, PageHeader, headed_page, links_of
from fuseloom_workbench.base.tokens import THEMES, tokens


@pytest.mark.parametrize("name", PAGE_LINKS)
def test_a_page_says_what_it_is_and_what_else_there_is(name: str) -> None:
    page = headed_page(name, [], ["explorer", "figures"])
    header = page.main[0]
    assert isinstance(header, PageHeader)
    assert (header.current, header.title) == (name, PAGE_LINKS[name].title)
    assert [link["name"] for link in header.pages] == ["explorer", "figures"]
    assert page.title == PAGE_LINKS[name].full_title


def test_links_are_plain_data() -> None:
    assert links_of([]) == []
    assert links_of(["figures"]) == [
        {"name": "figures", "title": "Figures of the paper",
         "text": "reproduce each, and change its points"}
    ]  # fmt: skip


def test_material_widgets_have_the_colours_of_the_tokens() -> None:
    for theme in THEMES:
        assert THEME[theme]["palette"]["primary"]["main"] == tokens(theme)["accent"]
