"""Pages whose names are painted before their scripts are there."""

from __future__ import annotations

import re

from fuseloom_workbench.base.page import PAGE_LINKS
from fuseloom_workbench.serving.first_paint import FIRST, named_first, painting

PAGE = """<html><head><title>A &amp; B</title><link href="a.css"><script>let one = "<p>"</script>
<style>p {}</style><script src="two.js"></script></head> <body class="x"><p></p></body></html>"""


def scripts(page: str) -> list[str]:
    return re.findall(r"<script.*?</script>", page)


def test_the_name_comes_before_all_scripts_and_these_keep_their_order():
    made = named_first(PAGE)
    head, body = made.split("</head>")
    assert not scripts(head)
    assert "<style>p {}</style>" in head
    assert '<link href="a.css">' in head
    assert body.startswith(f' <body class="x"><div id="{FIRST}" role="status"')
    assert ">A &amp; B …</div>" in body
    wait, *others = scripts(body)
    assert FIRST in wait
    assert others == scripts(PAGE)
    assert body.endswith("<p></p></body></html>")


def test_what_is_no_whole_page_stays_as_it_is():
    assert named_first("<p>gone</p>") == "<p>gone</p>"
    assert painting(lambda text, more="": text + more)("<p>", more="</p>") == "<p></p>"


def test_the_server_names_its_pages_first(server):
    for name in ("explorer", "compare"):
        text = server.get(f"/{name}")[2].decode()
        title = PAGE_LINKS[name].full_title
        assert text.index(f">{title} …</div>") < text.index("bokeh.min.js")
        assert not scripts(text[: text.index("</head>")])
