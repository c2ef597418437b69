"""A comparison in one file: what it holds, and that nothing in it is taken for markup."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from fuseloom.errors import FuseloomError
from fuseloom_workbench.costs.export import LARGEST, comparison_html

from ..outcomes import outcome


def runs_in(page: str):
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    return json.loads(text)


def test_a_session_is_one_file_that_fetches_nothing(session):
    with pytest.raises(FuseloomError, match="no runs to compare"):
        comparison_html(session)
    for k in range(40):
        kept = session.finish(session.built, outcome(200 + k, session=session))
        session.keep(replace(kept, configuration=f"{kept.configuration} {k}"))
    page = comparison_html(session, title="a <b> comparison")
    assert len(page.encode()) < LARGEST / 10
    assert "a &lt;b&gt; comparison" in page
    assert not re.search(r"""(src|href)=["']|@import|url\(http""", page)
    assert "default-src 'none'" in page
    found = runs_in(page)
    assert len(found["drawn"]["runs"]) == 41
    assert found["look"]["problem"]


def test_records_alone_are_compared_under_names(session):
    record = replace(outcome(200, session=session), schedule="</script><script>alert(1)")
    page = comparison_html({"full": record, "mine": outcome(300, session=session)})
    assert "alert(1)" in page
    assert "</script><script>alert" not in page
    first, second = runs_in(page)["drawn"]["runs"]
    assert (first["name"], first["kind"], first["cycles"]) == ("full", "full", 200)
    assert (second["kind"], second["estimated"]) == ("own", None)
    assert first["schedule"] == record.schedule
