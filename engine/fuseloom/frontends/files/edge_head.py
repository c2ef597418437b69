"""The head of a list of edges: comments, heading, and the meaning of fields.

Sources: https://snap.stanford.edu/data (``#`` comments), and J. Kunegis, "KONECT: The Koblenz
Network Collection", WWW 2013 (``%`` comments: ``sym``, ``asym`` or ``bip``, then sizes).
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, replace

from fuseloom.errors import DataError
from fuseloom.frontends.files.lines import LineBlock, Lines
from fuseloom.frontends.files.tensor import Floats
from fuseloom.wording import counted

DELIMITERS = (",", "\t", ";", "|")
COMMENTS = (b"#", b"%")
QUOTE = '"'
SOURCES = frozenset((
    "source", "src", "from", "fromnodeid", "fromid", "from_node", "from_id", "node1", "node_1",
    "nodea", "id1", "id_1", "u", "i", "head", "start", "citing", "subject", "rater", "follower",
    "sender", "user1", "user_1",
))  # fmt: skip
TARGETS = frozenset((
    "target", "tgt", "dst", "dest", "destination", "to", "tonodeid", "toid", "to_node", "to_id",
    "node2", "node_2", "nodeb", "id2", "id_2", "v", "j", "tail", "end", "cited", "object",
    "ratee", "followee", "receiver", "user2", "user_2",
))  # fmt: skip
WEIGHTS = frozenset((
    "weight", "weights", "w", "value", "val", "rating", "score", "count", "strength", "edge_attr",
))  # fmt: skip
TIMES = frozenset((
    "time", "times", "timestamp", "ts", "t", "date", "datetime", "year", "unixtime", "unixts",
))  # fmt: skip
SNAP = re.compile(r"nodes:?\s+([0-9,]{1,15})\s+edges:?\s+([0-9,]{1,15})", re.IGNORECASE)
KONECT = re.compile(r"%\s*(sym|asym|bip)\b", re.IGNORECASE)
SIZES = re.compile(r"%\s*([0-9]{1,15})\s+([0-9]{1,15})\s+([0-9]{1,15})\s*$")
BRACED = re.compile(rb"""['"]weight['"]\s*:\s*([^,}\s]+)""")
FIELD = re.compile(r'"(?:[^"]|"")*"|\S+')


@dataclass(frozen=True)
class EdgeFields:
    """Which field of a line is what, counted from 0.

    Attributes
    ----------
    count : int
        Fields per line.
    ends : tuple of int
        From, and to.
    weight, time : int or None
    unread : tuple of str
        What else there is, for people.
    """

    count: int
    ends: tuple[int, int] = (0, 1)
    weight: int | None = None
    time: int | None = None
    unread: tuple[str, ...] = ()

    def notes(self, weights: Floats | None) -> tuple[str, ...]:
        """Return notes on the fields; none for a plain pair."""
        told = []
        if self.ends != (0, 1):
            told.append(f"edges go from field {self.ends[0] + 1} to field {self.ends[1] + 1}")
        if self.weight is not None and weights is None:
            told.append(f"field {self.weight + 1} is the weight, not read")
        elif self.weight is not None and weights is not None:
            low, high = weights.min(), weights.max()
            told.append(f"field {self.weight + 1} is the weight, {low:.10g} to {high:.10g}")
        if self.time is not None:
            told.append(f"field {self.time + 1} is the time, not read")
        if self.unread:
            told.append(f"not read: {', '.join(self.unread[:6])}")
        return tuple(told)


@dataclass(frozen=True)
class Head:
    """The data that precede the first edge.

    Attributes
    ----------
    delimiter : str or None
        White space where it is None.
    fields : EdgeFields or None
        None where there is no edge.
    blocks : tuple of LineBlock
        Edges that were looked at.
    braces : bool
        Whether lines end with attributes in braces, as NetworkX writes them.
    named : bool
        Whether nodes have names instead of numbers.
    konect : str
        ``sym``, ``asym``, ``bip``, or empty.
    directed : bool or None
        None where the file does not say.
    sizes : tuple of int
        Nodes, of both kinds in a bipartite graph, that a comment states; maybe none.
    edges : int or None
        That a comment states.
    heading : tuple of str
        Fields of the line that names them, if one does.
    """

    delimiter: str | None = None
    fields: EdgeFields | None = None
    blocks: tuple[LineBlock, ...] = ()
    braces: bool = False
    named: bool = False
    konect: str = ""
    directed: bool | None = None
    sizes: tuple[int, ...] = ()
    edges: int | None = None
    heading: tuple[str, ...] = ()


def read_head(lines: Lines, named: bool | None, *, headed: bool | None = None) -> Head:
    """Read comments and heading; edges that this takes are kept.

    Parameters
    ----------
    named : bool, optional
        Whether nodes have names; by default whether those of the first edge are no numbers.
    headed : bool, optional
        Whether the first line names the fields; by default if it looks like it.

    Raises
    ------
    DataError
        If the first edge has too few fields, or more than there is a meaning for.
    """
    comments, held = _first(lines)
    head = _comments(comments)
    if not held:
        return head
    for number, text in held:
        check_quotes(str(lines.path), number, text)
    texts = [text for _, text in held]
    braces = texts[0].rstrip().endswith(b"}") and b"{" in texts[0]
    texts = [without_braces(text) if braces else text for text in texts]
    delimiter = None if braces else _delimiter(texts[0])
    first, *others = (split(text, delimiter) for text in texts)
    heading = _is_heading(first, others) if headed is None else headed
    edges = others if heading else [first]
    kept = tuple(LineBlock(number, [line]) for number, line in held[1 if heading else 0 :])
    head = replace(head, delimiter=delimiter, blocks=kept, braces=braces)
    if not edges:
        return head
    edge = edges[0]
    if not heading and delimiter and len(edge) > 2 and not edge[-1]:
        edge = edge[:-1]  # a line that ends with the delimiter
    names = first if heading else _heading_in(comments, delimiter, len(edge))
    fields = _named_fields(names, len(edge)) if names else _counted(len(edge))
    if fields is None:
        lines.number = kept[0].first
        raise lines.error(
            f"{counted(len(edge), 'field')} per edge",
            hint="from, to and maybe a weight and a time, divided by commas, tabs or spaces; or a "
            "first line that names source and target",
        )
    if named is None:
        named = not all(is_number(edge[k]) for k in fields.ends)
    return replace(head, fields=fields, named=named, heading=tuple(first) if heading else ())


def split(text: bytes, delimiter: str | None) -> list[str]:
    """Fields of a line, without quotes around them."""
    line = decoded(text)
    if QUOTE not in line:
        parts = line.split(delimiter)
        return [part.strip() for part in parts] if delimiter else parts
    if delimiter is None:
        found = FIELD.findall(line)
        return [f[1:-1].replace('""', '"') if f.startswith(QUOTE) else f for f in found]
    try:
        (row,) = csv.reader([line], delimiter=delimiter, skipinitialspace=True)
    except (csv.Error, ValueError):
        return line.split(delimiter)
    return [part.strip() for part in row]


def check_quotes(path: str, line: int, text: bytes) -> None:
    """Refuse a quote that is not closed on its line.

    Raises
    ------
    DataError
        Names the line.
    """
    if text.count(b'"') % 2:
        raise DataError(
            "a quote is not closed on this line",
            hint="double a quote within a name, and keep a name on one line",
            source=path,
            line=line,
        )


def decoded(text: bytes) -> str:
    """A text in UTF-8, or in Latin-1, which holds any bytes."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text.decode("latin-1")


def without_braces(text: bytes) -> bytes:
    """``0 1 2.5`` of ``0 1 {'weight': 2.5}``."""
    plain, _, rest = text.partition(b"{")
    weight = BRACED.search(rest)
    return plain + (weight[1] if weight else b"")


def is_number(field: str) -> bool:
    """Return whether a field reads as a number of any kind."""
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field and field.isascii()


def _first(lines: Lines) -> tuple[list[str], list[tuple[int, bytes]]]:
    """Comments, and the first two lines that are none."""
    comments: list[str] = []
    held: list[tuple[int, bytes]] = []
    while len(held) < 2 and (line := lines.take()) is not None:
        text = line.strip()
        if text.startswith(COMMENTS):
            comments.append(decoded(text))
            del comments[100:]
        elif text:
            held.append((lines.number, text))
    return comments, held


def _comments(comments: list[str]) -> Head:
    head = Head()
    for comment in comments:
        konect, sizes, snap = KONECT.match(comment), SIZES.match(comment), SNAP.search(comment)
        if konect and not head.konect:
            kind = konect[1].lower()
            head = replace(head, konect=kind, directed=kind == "asym")
        elif sizes and head.konect and not head.sizes:
            head = replace(head, edges=int(sizes[1]), sizes=(int(sizes[2]), int(sizes[3])))
        elif snap and not head.konect:
            nodes, edges = (int(n.replace(",", "") or 0) for n in snap.groups())
            head = replace(head, sizes=(nodes, nodes), edges=edges)
        if not head.konect and head.directed is None and "directed" in comment.lower():
            head = replace(head, directed="undirected" not in comment.lower())
    return head


def _delimiter(text: bytes) -> str | None:
    bare = re.sub(rb'"(?:[^"]|"")*"', b"", text).decode("latin-1")
    return next((mark for mark in DELIMITERS if mark in bare), None)


def _is_heading(first: list[str], others: list[list[str]]) -> bool:
    """Return whether the first line names fields: known names, or words above numbers."""
    names = {_plain(name) for name in first}
    if names & SOURCES and names & TARGETS and not any(map(is_number, first)):
        return True
    if any(map(is_number, first)) or not others:
        return False
    (row,) = others
    return all(map(is_number, row[:2])) or any(map(is_number, row[2:3]))


def _heading_in(comments: list[str], delimiter: str | None, count: int) -> list[str]:
    """Names of the fields in a comment, as ``# FromNodeId ToNodeId``; maybe none."""
    for comment in reversed(comments):
        names = split(comment.lstrip("#% ").encode(), delimiter)
        plain = {_plain(name) for name in names}
        if len(names) == count and plain & SOURCES and plain & TARGETS:
            return names
    return []


def _plain(name: str) -> str:
    return name.lower().strip().lstrip("#~").replace(" ", "_").replace("-", "_")


def fields_of(names: list[str]) -> EdgeFields | None:
    """Which column of a table is what; None where there is no telling."""
    return _named_fields(names, len(names))


def _counted(count: int) -> EdgeFields | None:
    """By their number: from, to, weight, time."""
    match count:
        case 2:
            return EdgeFields(2)
        case 3:
            return EdgeFields(3, weight=2)
        case 4:
            return EdgeFields(4, weight=2, time=3)
    return None


def _named_fields(heading: list[str], count: int) -> EdgeFields | None:
    """By the names of a heading; by their number where it does not name the ends."""
    names = [_plain(name) for name in heading]
    if len(names) != count:
        return _counted(count)

    def place(known: frozenset[str]) -> int | None:
        return next((k for k, name in enumerate(names) if name in known), None)

    if {"i", "j", "k"} <= {*names}:  # coordinates of a tensor, of which an edge would lose some
        return None
    source, target = place(SOURCES), place(TARGETS)
    if source is None or target is None:
        source, target = 0, 1
        if count < 2:
            return None
    weight, time = place(WEIGHTS), place(TIMES)
    if count == 3 and weight is None and time is None and (source, target) == (0, 1):
        weight = 2
    known = {source, target, weight, time}
    unread = tuple(heading[k] or f"field {k + 1}" for k in range(count) if k not in known)
    return EdgeFields(count, (source, target), weight, time, unread)


def no_edges(path: object) -> DataError:
    """The error of a list without any."""
    return DataError(f"{path} lists no edges", hint="give the number of nodes")
