"""Reading Graphviz DOT text: nodes, edges and attributes in the order of the file.

The subset other compilers write: one directed graph, node and edge statements with attribute
lists, quoted strings that may hold raw newlines, default attributes, comments.  Nodes may be
declared more than once, edges are never merged.  Errors name the line.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from engine.errors import ParseError

MAX_TEXT = 8 << 20
_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/|(?<![^\n])\#[^\n]*)
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<arrow>->|--)
      | (?P<mark>[{}\[\];,=:+])
      | (?P<word>-?(?:\.\d+|\d+(?:\.\d*)?)|[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)""",
    re.VERBOSE | re.DOTALL,
)
_DEFAULTS = ("graph", "node", "edge")


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
        raise ParseError(f"the text is longer than {MAX_TEXT:,} characters", source=source)
    return _Reader(list(_tokens(text, source)), source).graph()


def _tokens(text: str, source: str | None) -> Iterator[_Token]:
    position, line = 0, 1
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            what = "a quoted string never ends" if text[position] == '"' else "not DOT text"
            shown = text[position : position + 20].split("\n")[0]
            raise ParseError(f"{what}: {shown!r}", line=line, source=source)
        if match.lastgroup == "string":
            body = re.sub(r"\\\n", "", match[0][1:-1]).replace('\\"', '"')
            yield _Token(body, "string", line)
        elif match.lastgroup != "space":
            yield _Token(match[0], str(match.lastgroup), line)
        line += match[0].count("\n")
        position = match.end()
    yield _Token("", "end", line)


@dataclass
class _Reader:
    tokens: list[_Token]
    source: str | None
    position: int = 0
    attributes: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    edges: list[DotEdge] = field(default_factory=list)
    defaults: dict[str, dict[str, str]] = field(
        default_factory=lambda: {"node": {}, "edge": {}, "graph": {}}
    )

    @property
    def head(self) -> _Token:
        return self.tokens[self.position]

    def fail(self, expected: str) -> ParseError:
        token = self.head
        found = repr(token.text[:40]) if token.kind != "end" else "the end of the file"
        return ParseError(
            f"expected {expected}, found {found}", line=token.line, source=self.source
        )

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
        text = token.text
        while token.kind == "string" and self.mark("+"):
            text += self.name("a string")
        return text

    def graph(self) -> DotGraph:
        if self.head.text.lower() == "strict":
            self.take()
        if self.head.kind != "word" or self.head.text.lower() != "digraph":
            raise self.fail("'digraph'")
        self.take()
        name = self.name("a name") if self.head.is_name else ""
        self.expect("{")
        while not self.mark("}"):
            self.statement()
            self.mark(";")
        if self.head.kind != "end":
            raise self.fail("the end of the file after '}'")
        return DotGraph(name, self.attributes, self.nodes, tuple(self.edges))

    def statement(self) -> None:
        line = self.head.line
        word = self.head
        if word.text == "{" or (word.kind == "word" and word.text.lower() == "subgraph"):
            raise self.fail("a node or an edge (subgraphs are not part of the dialect)")
        first = self.name("a node, an edge or '}'")
        if word.kind == "word" and first.lower() in _DEFAULTS and self.head.text == "[":
            given = self.attribute_list()
            self.defaults[first.lower()].update(given)
            if first.lower() == "graph":
                self.attributes.update(given)
            return
        if self.mark("="):
            self.attributes[first] = self.name("a value")
            return
        path = [first]
        self.port()
        while self.head.kind == "arrow":
            if self.take().text == "--":
                raise ParseError("an edge of a digraph is '->'", line=line, source=self.source)
            path.append(self.name("a node"))
            self.port()
        given = self.attribute_list()
        for node in path:
            self.nodes.setdefault(node, dict(self.defaults["node"]))
        if len(path) == 1:
            self.nodes[first].update(given)
        for tail, head in itertools.pairwise(path):
            self.edges.append(DotEdge(tail, head, {**self.defaults["edge"], **given}, line))

    def port(self) -> None:
        while self.mark(":"):
            self.name("a port")

    def attribute_list(self) -> dict[str, str]:
        given: dict[str, str] = {}
        while self.mark("["):
            while not self.mark("]"):
                key = self.name("an attribute or ']'")
                given[key] = self.name("a value") if self.mark("=") else "true"
                if not self.mark(","):
                    self.mark(";")
        return given
