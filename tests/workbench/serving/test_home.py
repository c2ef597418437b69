"""The home page: doors to what there is, and nothing from elsewhere."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlparse

import pytest

from fuseloom.cli.serve import PAGES
from fuseloom.models import fitting
from fuseloom_workbench.base.page import PAGE_LINKS
from fuseloom_workbench.serving.home import MODELS, home


def links(text: str) -> list[str]:
    return re.findall(r'<a [^>]*href="([^"]*)"', text)


def test_every_page_has_a_door() -> None:
    assert list(PAGE_LINKS) == list(PAGES)
    assert links(home(PAGES))[: len(PAGES)] == list(PAGES)
    assert not {"figures", "networks"} & set(links(home(("explorer",))))


@pytest.mark.parametrize("model", MODELS)
def test_models_have_data_that_fit(model: str) -> None:
    opened = [dict(parse_qsl(urlparse(link).query)) for link in links(home(PAGES))]
    assert {"model": model, "data": MODELS[model][0]} in opened
    assert MODELS[model][0] in fitting(model)


def test_each_door_has_a_picture_or_a_sign() -> None:
    text = home(PAGES)
    doors = re.findall(r'<a class="door" href="(\w+)">(.*?)</a>', text)
    assert [name for name, _ in doors] == list(PAGES)
    for name, inside in doors:
        assert inside.count("<svg") == 1, name
        if f'data-door="{name}"' in inside:
            assert 'role="img"' in inside
        else:
            assert 'aria-hidden="true"' in inside
            assert text.count(f'<symbol id="{name}"') == 1


def test_it_asks_nobody_else() -> None:
    text = home(PAGES)
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', text)
    assert "url(" not in text
    assert "@import" not in text


def test_the_server_has_it(server) -> None:
    status, headers, body = server.get("/")
    assert status == 200
    assert headers["Content-Type"].startswith("text/html")
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert body.decode() == home(PAGES)
