"""A drawing: SVG that a notebook shows, and that is kept as a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fuseloom.atomic_files import replacing
from fuseloom.display.markup import Markup, tag
from fuseloom.display.style import shown, style

CHARACTER = 7.4
"""Width of a letter or digit in pixels, at the size of drawings."""


def width_of(text: str) -> float:
    """About how wide a text is, in pixels."""
    return CHARACTER * len(text)


@dataclass(frozen=True)
class Drawing:
    """A picture of something, with the same in words.

    Attributes
    ----------
    title : str
        What it shows, in a sentence: read out in place of the picture.
    text : str
        The same in letters, where pictures cannot be shown.
    width, height : float
        In pixels.
    body : Markup
        Elements of SVG.
    """

    title: str
    text: str
    width: float
    height: float
    body: Markup

    @property
    def svg(self) -> str:
        """The picture by itself, with its style: what a file holds."""
        return self._drawn(tag("style", Markup(style())), class_="fuseloom")

    def _drawn(self, *more: Markup, class_: str | None = None) -> Markup:
        return tag(
            "svg",
            tag("title", self.title),
            more,
            self.body,
            xmlns="http://www.w3.org/2000/svg",
            class_=class_,
            role="img",
            aria_label=self.title,
            width=float(self.width),
            height=float(self.height),
            viewbox=f"0 0 {self.width:.0f} {self.height:.0f}",
        )

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return shown(self._drawn())

    def save(self, path: str | Path) -> None:
        """Keep the picture as a file of SVG; what was there is replaced at once, or not at all.

        Raises
        ------
        OSError
            If it cannot be written.
        """
        with replacing(Path(path)) as file:
            file.write(self.svg.encode())


def beside(*drawings: Drawing, gap: float = 24.0) -> Drawing:
    """Drawings from left to right, as one.

    Examples
    --------
    >>> from fuseloom_workbench.notebook import beside, streams
    >>> print(beside(streams({"crd i": "0 2 S0 D"}), streams({"crd j": "1 S0 D"})))
    crd i  0  2  S0  D
    <BLANKLINE>
    crd j  1  S0  D
    """
    left, pieces = 0.0, []
    for one in drawings:
        pieces.append(tag("g", one.body, transform=f"translate({left:.1f} 0)"))
        left += one.width + gap
    return Drawing(
        "; ".join(one.title for one in drawings),
        "\n\n".join(one.text for one in drawings),
        max(0.0, left - gap),
        max((one.height for one in drawings), default=0.0),
        Markup("".join(pieces)),
    )


def below(*drawings: Drawing, gap: float = 18.0) -> Drawing:
    """Drawings from top to bottom, as one.

    Examples
    --------
    >>> from fuseloom_workbench.notebook import below, streams
    >>> print(below(streams({"crd i": "0 2 S0 D"}), streams({"crd j": "1 S0 D"})))
    crd i  0  2  S0  D
    <BLANKLINE>
    crd j  1  S0  D
    """
    top, pieces = 0.0, []
    for one in drawings:
        pieces.append(tag("g", one.body, transform=f"translate(0 {top:.1f})"))
        top += one.height + gap
    return Drawing(
        "; ".join(one.title for one in drawings),
        "\n\n".join(one.text for one in drawings),
        max((one.width for one in drawings), default=0.0),
        max(0.0, top - gap),
        Markup("".join(pieces)),
    )
