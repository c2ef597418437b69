"""Reading Graphviz DOT text: nodes, edges and attributes in the order of the file.

One directed graph as the Graphviz library reads it: node and edge statements with attribute
lists, default attributes, subgraphs, ports, quoted strings with raw newlines, HTML strings,
comments.  Nodes may be declared more than once, edges are never merged.  Errors name the line.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fuseloom.errors import ParseError

MAX_TEXT = 8 << 20
MAX_EDGES = 100_000
"""Most edges of a file: an edge between two subgraphs is one per pair of their nodes."""
MAX_MENTIONS = 1_000_000
"""Most nodes of all subgraphs together, a node counted wherever it is."""
MAX_NESTING = 64
"""Most subgraphs inside each other."""
_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/|\#[^\n]*)
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<arrow>->|--)
      | (?P<mark>[{}\[\];,=:+])
      | (?P<word>-?(?:\.\d+|\d+(?:\.\d*)?)|[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)""",
    re.VERBOSE | re.DOTALL,
)
_DEFAULTS = ("graph", "node", "edge")
_KEYWORDS = (*_DEFAULTS, "digraph", "subgraph", "strict")
_FLAT = "leave the subgraphs out: they only group nodes in a drawing"
_UNREADABLE = {
    '"': ("a quoted string never ends", 'close it with "'),
    "<": ("an HTML string never ends", "close every < with >"),
    "/": ("a comment never ends", "close it with */"),
}


@dataclass(frozen=True)
class DotEdge:
    """One edge statement's edge."""

    tail: str
    head: str
    attributes: Mapping[str, str]
    line: int


@dataclass(frozen=True)
class DotGraph:
    """A parsed file: attributes of the graph, of its nodes, and its edges, in order."""

    name: str
    attributes: Mapping[str, str]
    nodes: Mapping[str, Mapping[str, str]]
    edges: tuple[DotEdge, ...]


@dataclass(frozen=True)
class _Token:
    text: str
    kind: str
    line: int

    @property
    def is_name(self) -> bool:
        return self.kind in ("word", "string")


def parse_dot(text: str, source: str | None = None) -> DotGraph:
    """Read DOT text.

    Raises
    ------
    ParseError
        With the line of what cannot be read.
    """
    if len(text) > MAX_TEXT:
        raise ParseError(f"the text is longer than {MAX_TEXT:,} characters", source=source,
                         hint="leave out what is only for show")  # fmt: skip
    return _DotReader(list(_tokens(text, source)), source).graph()


def _tokens(text: str, source: str | None) -> Iterator[_Token]:
    position, line, before = int(text.startswith("\ufeff")), 1, ""
    while position < len(text):
        match = _TOKEN.match(text, position)
        end = match.end() if match is not None else _html_end(text, position)
        if end is None:
            what, hint = _UNREADABLE.get(text[position], ("not DOT text", ""))
            if text[position] == "/" and not text.startswith("/*", position):
                what, hint = "not DOT text", ""
            shown = text[position : position + 20].split("\n")[0]
            raise ParseError(f"{what}: {shown!r}", line=line, source=source, hint=hint or None)
        piece = text[position:end]
        if match is None:
            yield _Token(piece[1:-1], "string", line)
        elif match.lastgroup == "string":
            body = re.sub(r"\\\r?\n", "", piece[1:-1]).replace('\\"', '"')
            yield _Token(body, "string", line)
        elif match.lastgroup != "space":
            yield _Token(piece, str(match.lastgroup), line)
        elif piece[0] == "#" and before == "=":
            raise ParseError(f"a value begins with '#': {piece[:20]!r}", line=line, source=source,
                             hint='quote it, as in color="#ff0000"')  # fmt: skip
        if match is None or match.lastgroup != "space" or "\n" in piece:
            before = piece  # a line of its own that begins with # is a comment anywhere
        line += piece.count("\n")
        position = end
    yield _Token("", "end", line)


def _html_end(text: str, position: int) -> int | None:
    """The end of the HTML string that begins there; None if there is none."""
    if text[position] != "<":
        return None
    depth = 0
    for match in re.compile(r"[<>]").finditer(text, position):
        depth += 1 if match[0] == "<" else -1
        if not depth:
            return match.end()
    return None


@dataclass
class _Group:
    """A subgraph: its nodes, and the named subgraphs inside it."""

    nodes: dict[str, None] = field(default_factory=dict)
    inside: dict[str, _Group] = field(default_factory=dict)


@dataclass
class _DotReader:
    tokens: list[_Token]
    source: str | None
    position: int = 0
    nesting: int = 0
    mentions: int = 0
    attributes: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    edges: list[DotEdge] = field(default_factory=list)
    group: _Group = field(default_factory=_Group)
    defaults: dict[str, dict[str, str]] = field(
        default_factory=lambda: {"node": {}, "edge": {}, "graph": {}}
    )

    @property
    def head(self) -> _Token:
        return self.tokens[self.position]

    def is_keyword(self, *words: str) -> bool:
        return self.head.kind == "word" and self.head.text.lower() in words

    def error(self, message: str, line: int, hint: str | None = None) -> ParseError:
        return ParseError(message, line=line, source=self.source, hint=hint)

    def fail(self, expected: str, hint: str | None = None) -> ParseError:
        token = self.head
        found = repr(token.text[:40]) if token.kind != "end" else "the end of the file"
        return self.error(f"expected {expected}, found {found}", token.line, hint)

    def take(self) -> _Token:
        token = self.head
        self.position += token.kind != "end"
        return token

    def mark(self, text: str) -> bool:
        """Take that mark if it comes next."""
        found = self.head.text == text and not self.head.is_name
        self.position += found
        return found

    def expect(self, text: str) -> None:
        if not self.mark(text):
            raise self.fail(repr(text))

    def name(self, what: str) -> str:
        if not self.head.is_name:
            raise self.fail(what)
        token = self.take()
        pieces = [token.text]
        while token.kind == "string" and self.mark("+"):
            if self.head.kind != "string":
                raise self.fail("a string")
            pieces.append(self.take().text)
        return "".join(pieces)

    def graph(self) -> DotGraph:
        strict = self.is_keyword("strict")
        if strict:
            self.take()
        if not self.is_keyword("digraph"):
            hint = None
            if self.is_keyword("graph"):
                hint = "streams have a direction: write digraph, and -> for edges"
            raise self.fail("'digraph'", hint)
        self.take()
        name = self.name("a name") if self.head.is_name else ""
        self.expect("{")
        self.statements()
        if self.head.kind != "end":
            raise self.fail("the end of the file after '}'", "keep one graph in a file")
        if strict:
            self.check_strict()
        return DotGraph(name, self.attributes, self.nodes, tuple(self.edges))

    def statements(self) -> list[str]:
        """Statements up to the closing brace; the nodes they mention."""
        mentioned: list[str] = []
        while not self.mark("}"):
            mentioned += self.statement()
            self.mark(";")
        return mentioned

    def statement(self) -> list[str]:
        line, word = self.head.line, self.head
        if self.is_keyword(*_DEFAULTS):
            kind = self.take().text.lower()
            if self.head.text != "[" or self.head.is_name:
                raise self.fail(f"'[' after {kind}", f'quote a node that is called "{word.text}"')
            given = self.attribute_list()
            self.defaults[kind].update(given)
            if kind == "graph" and not self.nesting:
                self.attributes.update(given)
            return []
        first = self.end_point()
        if word.is_name and not self.is_group(word) and self.mark("="):
            value = self.name("a value")
            if not self.nesting:
                self.attributes[first[0]] = value
            return []
        path = [first]
        while self.head.kind == "arrow":
            if self.take().text == "--":
                raise self.error("an edge of a digraph is '->'", line, "write ->")
            path.append(self.end_point())
        given = self.attribute_list() if len(path) > 1 or not self.is_group(word) else {}
        for node in itertools.chain.from_iterable(path):
            self.nodes.setdefault(node, dict(self.defaults["node"]))
        if len(path) == 1 and not self.is_group(word):
            self.nodes[first[0]].update(given)
        for tails, heads in itertools.pairwise(path):
            if len(self.edges) + len(tails) * len(heads) > MAX_EDGES:
                raise self.error(
                    f"the graph has more than {MAX_EDGES:,} edges", line, "split the graph"
                )
            for tail, head in itertools.product(tails, heads):
                self.edges.append(DotEdge(tail, head, {**self.defaults["edge"], **given}, line))
        return list(itertools.chain.from_iterable(path))

    @staticmethod
    def is_group(word: _Token) -> bool:
        """Return whether a word begins a subgraph."""
        if word.kind == "word":
            return word.text.lower() == "subgraph"
        return word.kind == "mark" and word.text == "{"

    def end_point(self) -> list[str]:
        """A node with its port, or the nodes of a subgraph."""
        if not self.is_group(self.head):
            if self.is_keyword(*_KEYWORDS):
                raise self.fail("a node, an edge or '}'",
                                f'quote a node that is called "{self.head.text}"')  # fmt: skip
            name = self.name("a node" if self.tokens[self.position - 1].kind == "arrow"
                             else "a node, an edge or '}'")  # fmt: skip
            while self.mark(":"):
                self.name("a port")
            return [name]
        group = _Group()
        if not self.mark("{"):
            self.take()
            if self.head.is_name:  # a name that was there before opens the same subgraph again
                group = self.group.inside.setdefault(self.name("a name"), group)
            self.expect("{")
        if self.nesting >= MAX_NESTING:
            raise self.error(
                f"more than {MAX_NESTING} subgraphs inside each other", self.head.line, _FLAT
            )
        outside = self.group, self.defaults
        self.group = group
        self.defaults = {kind: dict(given) for kind, given in self.defaults.items()}
        self.nesting += 1
        group.nodes.update(dict.fromkeys(self.statements()))
        self.nesting -= 1
        self.group, self.defaults = outside
        self.mentions += len(group.nodes)
        if self.mentions > MAX_MENTIONS:
            raise self.error(
                f"its subgraphs have more than {MAX_MENTIONS:,} nodes", self.head.line, _FLAT
            )
        return list(group.nodes)

    def check_strict(self) -> None:
        """Graphviz merges the edges between two nodes of a strict graph."""
        seen: set[tuple[str, str]] = set()
        for edge in self.edges:
            if (edge.tail, edge.head) in seen:
                raise self.error(
                    f"a strict graph has one edge {edge.tail} -> {edge.head}, the file two",
                    edge.line, "leave out 'strict': each stream is an edge of its own",
                )  # fmt: skip
            seen.add((edge.tail, edge.head))

    def attribute_list(self) -> dict[str, str]:
        given: dict[str, str] = {}
        while self.mark("["):
            while not self.mark("]"):
                key = self.name("an attribute or ']'")
                given[key] = self.name("a value") if self.mark("=") else "true"
                if not self.mark(","):
                    self.mark(";")
        return given
