"""Figures as files."""

from __future__ import annotations

import sys

import pytest

from fuseloom.errors import DataError
from fuseloom.experiments.drawing import write_figures


@pytest.mark.deep  # takes seconds
def test_every_recipe_is_drawn(few, tmp_path) -> None:
    written = write_figures([*few.values()], tmp_path / "figures", ["svg"])
    assert all(path.stat().st_size > 20 for path in written)
    for id_, figure in few.items():
        names = {path.name for path in written if path.name.startswith(f"{id_}-smoke")}
        plots = [panel for panel in figure.panels if panel.plotted]
        assert (f"{id_}-smoke-paper.svg" in names) is bool(plots)
        assert (f"{id_}-smoke-paper.txt" in names) is (len(plots) < len(figure.panels))
    text = (tmp_path / "figures" / "18-smoke-paper.svg").read_text(encoding="utf-8")
    assert "speed-up over the worst" in text


@pytest.mark.deep  # takes seconds
def test_equal_numbers_give_equal_files(few, tmp_path) -> None:
    for name in ("one", "two"):
        write_figures([few["18"]], tmp_path / name, ["svg", "pdf", "png"])
    for kind in ("svg", "pdf", "png"):
        one, two = (tmp_path / name / f"18-smoke-paper.{kind}" for name in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


def test_what_stands_in_the_way(few, tmp_path, monkeypatch) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(DataError, match="cannot write"):
        write_figures([few["18"]], tmp_path / "file")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(DataError, match="not installed"):
        write_figures([few["18"]], tmp_path)
