"""Figures as files, drawn by matplotlib with one style, ready to print.

matplotlib is optional: ``pip install 'fuseloom[figures]'``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import as_file, files
from io import BytesIO
from pathlib import Path
from typing import Any

from fuseloom.errors import DataError
from fuseloom.experiments.driver import Figure
from fuseloom.experiments.recipe import Panel, Series
from fuseloom.program.regular_files import write_bytes

FORMATS = ("svg", "pdf", "png")
_OURS = ("#2f6fd0", "#12805c", "#8a56c9", "#c2410c")
_PAPER = ("#9db7de", "#9cc9b8", "#c9b5e4", "#e4b597")
TURNED = 6
"""Bars of a panel from which on their names are turned."""
_WIDTH, _HEIGHT = 4.4, 3.1
"""Inches of a panel."""


def require_matplotlib() -> None:
    """See that figures can be drawn, before hours are spent on what is to be drawn.

    Raises
    ------
    DataError
        If matplotlib is not installed.
    """
    _pyplot()


def write_figures(
    figures: Sequence[Figure], folder: Path, formats: Sequence[str] = FORMATS
) -> list[Path]:
    """Draw figures into files ``<id>.<format>``; what is text goes into ``<id>.txt``.

    Returns
    -------
    list of Path
        The files that were written.

    Raises
    ------
    DataError
        If matplotlib is not installed, or the folder cannot be written to.
    """
    written = []
    for figure in figures:
        name = f"{figure.recipe.id}-{figure.size.value}-{figure.mode.value}"
        written += _write(figure.panels, figure.recipe.title, folder / name, formats)
    return written


def _write(panels: Sequence[Panel], title: str, stem: Path, formats: Sequence[str]) -> list[Path]:
    written = []
    texts = [panel for panel in panels if not panel.plotted]
    plots = [panel for panel in panels if panel.plotted]
    if texts:
        path = stem.with_name(f"{stem.name}.txt")
        text = "\n\n".join(f"{p.title}\n\n{p.text}" for p in texts)
        write_bytes(path, f"{text}\n".encode())
        written.append(path)
    if plots:
        pyplot = _pyplot()
        drawn = draw(plots, title)
        with _style(pyplot):
            for kind in formats:
                path = stem.with_name(f"{stem.name}.{kind}")
                # without dates, so that equal numbers give equal files
                plain = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
                made = BytesIO()
                drawn.savefig(made, format=kind, metadata=plain.get(kind))
                write_bytes(path, made.getvalue())
                written.append(path)
        pyplot.close(drawn)
    return written


def draw(panels: Sequence[Panel], title: str = "") -> Any:
    """The panels side by side, as a matplotlib figure.

    Raises
    ------
    DataError
        If matplotlib is not installed.
    """
    pyplot = _pyplot()
    with _style(pyplot):
        size = (_WIDTH * len(panels), _HEIGHT)
        figure, axes = pyplot.subplots(1, len(panels), figsize=size, squeeze=False)
        for panel, axis in zip(panels, axes[0], strict=True):
            _draw(panel, axis)
        figure.suptitle(title)
        figure.tight_layout()
    return figure


@contextmanager
def _style(pyplot: Any) -> Iterator[None]:
    """The one style of all figures, while they are drawn and written."""
    style = files("fuseloom.experiments").joinpath("figures.mplstyle")
    with as_file(style) as path, pyplot.style.context(path):
        yield


def _pyplot() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise DataError(
            "figures are drawn by matplotlib, which is not installed",
            hint="pip install 'fuseloom[figures]', or leave --output out",
        ) from None
    matplotlib.use("Agg")
    import matplotlib.pyplot

    return matplotlib.pyplot


def _draw(panel: Panel, axis: Any) -> None:
    axis.set_title(panel.title)
    axis.set_xlabel(panel.x)
    axis.set_ylabel(panel.y)
    colours = _colours(panel.series)
    match panel.kind:
        case "bars":
            _bars(panel, axis, colours)
        case "lines":
            for series, colour in zip(panel.series, colours, strict=True):
                x, y = _there(series)
                dashed = "--" if series.whose == "paper" else "-"
                axis.plot(x, y, dashed, color=colour, marker="o", label=series.name)
        case _:
            for series, colour in zip(panel.series, colours, strict=True):
                x, y = _there(series)
                marker = "x" if series.whose == "paper" else "o"
                axis.plot(x, y, marker, color=colour, label=series.name)
    if "x" in panel.log:
        axis.set_xscale("log", base=2 if panel.kind == "lines" else 10)
    if "y" in panel.log:
        axis.set_yscale("log", base=2 if panel.log == "xy" and panel.kind == "lines" else 10)
    if len(panel.series) > 1:  # below the labels of the axis, which may be turned
        low = -0.55 if len(panel.series[0].x) > TURNED and panel.kind == "bars" else -0.18
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, low), ncols=2)


def _bars(panel: Panel, axis: Any, colours: Sequence[str]) -> None:
    series = [s for s in panel.series if any(y is not None for y in s.y)]
    shown = [c for s, c in zip(panel.series, colours, strict=True) if s in series]
    width = 0.8 / max(len(series), 1)
    names = list(panel.series[0].x) if panel.series else []
    for number, (one, colour) in enumerate(zip(series, shown, strict=True)):
        places = [k + (number + 0.5) * width - 0.4 for k in range(len(one.y))]
        there = [(x, y) for x, y in zip(places, one.y, strict=True) if y is not None]
        axis.bar([x for x, _ in there], [y for _, y in there], width, color=colour, label=one.name)
    axis.set_xticks(range(len(names)), [str(name) for name in names])
    if len(names) > TURNED:
        axis.tick_params(axis="x", rotation=60)
    if panel.y.startswith("speed-up"):
        axis.axhline(1.0, color="#7a828c", linewidth=0.8)


def _there(series: Series) -> tuple[list[Any], list[float]]:
    pairs = [
        (x, y) for x, y in zip(series.x, series.y, strict=True) if x is not None and y is not None
    ]
    return [x for x, _ in pairs], [y for _, y in pairs]


def _colours(series: Sequence[Series]) -> list[str]:
    """Ours in strong colours, the paper's in light ones, pair by pair."""
    ours = paper = 0
    found = []
    for one in series:
        if one.whose == "paper":
            found.append(_PAPER[paper % len(_PAPER)])
            paper += 1
        else:
            found.append(_OURS[ours % len(_OURS)])
            ours += 1
    return found
