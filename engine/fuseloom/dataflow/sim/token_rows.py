"""Streams drawn token by token."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

from fuseloom.dataflow.samml.graph import StreamKind
from fuseloom.dataflow.sim.tokens import Token, format_token, parse_token
from fuseloom.display import Drawing, Markup, tag
from fuseloom.display.drawing import width_of

MOST = 60
"""Tokens that are drawn of a stream."""
HIGH, ROW, LEAST = 24.0, 34.0, 28.0
"""Pixels: height of a token, from stream to stream, and width of a token at least."""
KINDS = {
    StreamKind.CRD: "scan",
    StreamKind.REF: "join",
    StreamKind.VAL: "values",
    StreamKind.SIG: "repeat",
}
"""The colour of a stream's tokens; those that close something have one of their own."""


def streams(
    rows: Mapping[str, str | Iterable[Token | str]],
    *,
    kinds: Mapping[str, StreamKind | str] | None = None,
    wrong: Mapping[str, int] | None = None,
) -> Drawing:
    """Streams as rows of tokens, the first token on the left.

    Parameters
    ----------
    rows : mapping
        Names to tokens: texts with spaces between them (``1 2 S0 D``, times after ``@`` are left
        out), or tokens one by one.
    kinds : mapping, optional
        Names to what their numbers are: ``crd``, ``ref``, ``val`` or ``sig``; by default the first
        word of the name where it is one of these, and ``crd`` otherwise.
    wrong : mapping, optional
        Names to a place, counted from 0, that is marked.

    Raises
    ------
    SimulationError
        If a text is no token.

    Examples
    --------
    >>> print(streams({"crd i": "0 2 S0 D", "val": "0.5 4 S0 D"}))
    crd i  0    2  S0  D
    val    0.5  4  S0  D
    """
    read = {name: _tokens(name, tokens, (kinds or {}).get(name)) for name, tokens in rows.items()}
    left = max(map(width_of, read), default=0.0) + 14
    columns = max((len(texts) for _, texts, _ in read.values()), default=0)
    widths = [
        max([LEAST, *(width_of(t[k]) + 12 for _, t, _ in read.values() if k < len(t))])
        for k in range(columns)
    ]
    starts = [left + sum(widths[:k]) + 4 * k for k in range(columns + 1)]
    pieces: list[Markup] = []
    for row, (name, (kind, texts, more)) in enumerate(read.items()):
        y = row * ROW + 4
        pieces.append(tag("text", name, x=0, y=y + 16, class_="quiet"))
        for k, text in enumerate(texts):
            marked = (wrong or {}).get(name) == k
            own = KINDS[kind] if text.lstrip("-")[:1].isdigit() or text == "R" else "write"
            pieces.append(
                tag(
                    "g",
                    tag("rect", x=starts[k], y=y, width=widths[k], height=HIGH, rx=3,
                        class_="box bad" if marked else "box"),
                    tag("text", text, x=starts[k] + widths[k] / 2, y=y + 16, text_anchor="middle"),
                    class_=own,
                )
            )  # fmt: skip
        if more:
            told = f"+{more:,}"
            pieces.append(tag("text", told, x=starts[len(texts)] + 4, y=y + 16, class_="quiet"))
    said = "; ".join(f"{name}: {' '.join(texts)}" for name, (_, texts, _) in read.items())
    return Drawing(
        f"Streams, the first token on the left. {said}",
        _text({name: texts for name, (_, texts, _) in read.items()}),
        starts[-1] + 60 if columns else left,
        ROW * len(read) + 4,
        Markup("".join(pieces)),
    )


def _tokens(
    name: str, tokens: str | Iterable[Token | str], kind: StreamKind | str | None
) -> tuple[StreamKind, list[str], int]:
    """Kind, texts, and how many more there are."""
    first = name.split()[0] if name.split() else ""
    known = {k.value: k for k in StreamKind}
    chosen = kind if isinstance(kind, StreamKind) else known.get(kind or first, StreamKind.CRD)
    if isinstance(tokens, str):
        tokens = tokens.split()
    every = iter(tokens)
    texts = [_one(t, chosen) for t in islice(every, MOST)]
    return chosen, texts, sum(1 for _ in every)


def _one(token: Token | str, kind: StreamKind) -> str:
    if isinstance(token, str):
        token = parse_token(token.partition("@")[0], kind)
    return format_token(token)


def _text(rows: Mapping[str, list[str]]) -> str:
    columns = max(map(len, rows.values()), default=0)
    wide = [max(len(t[k]) for t in rows.values() if k < len(t)) for k in range(columns)]
    margin = max(map(len, rows), default=0)
    lines = [
        "  ".join([name.ljust(margin), *(t.ljust(w) for t, w in zip(texts, wide, strict=False))])
        for name, texts in rows.items()
    ]
    return "\n".join(line.rstrip() for line in lines)
