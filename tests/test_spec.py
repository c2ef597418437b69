"""The specification: every citation leads to a section, every example is what the machine does.

A citation is a page of these documents and a section mark: ``docs/spec/machine.md`` with the number
of a section, or any page of ``docs`` with the name of one.  Further sections of the same page may
follow with a mark each.  Publications are cited by their short name and a number.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from fuseloom.dataflow.machine import Machine, Quirks
from fuseloom.dataflow.samml.catalogue import CATALOGUE
from fuseloom.dataflow.sim.conformance.bench import BenchRun, bench

ROOT = Path(__file__).parent.parent
SPEC = ROOT / "docs" / "spec"
MARK = "\N{SECTION SIGN}"

# Citations ------------------------------------------------------------------------------------

SUFFIXES = frozenset({".css", ".gv", ".html", ".ipynb", ".js", ".loom", ".md", ".mlir", ".proto",
                      ".py", ".rules", ".schedule", ".sh", ".toml", ".txt", ".yml"})  # fmt: skip
FOLDERS = ("apps", "benchmarks", "docs", "engine", "notebooks", "tests", "workbench")
PUBLICATIONS = {
    "FuseFlow": "1 2 3 4 4.1 4.2 5 6 6.1 6.2 7 8 8.1 8.2 8.3 8.4 8.5 8.6 8.7 8.8 9 9.1 9.2 10",
    "Glenside": "1 2 2.1 2.2 2.3 3 3.1 3.2 4 4.1 4.2 4.3 5 5.1 5.2 5.3 5.4 6",
    "Fern": "1 2 3 4 5 6 6.1 6.2 6.3 6.4 6.5 6.6 6.7 7 8 9 10 11",
    "CoNST": "1 2 2.1 2.2 3 3.1 3.2 4 4.1 4.2 5 5.1 5.2 5.3 6 7",
}
"""Short names of papers that are cited, and their sections."""
OUTSIDE = re.compile(
    r"(?<![\w/.-])(?:samml|paper-results|estimator|sam-dot|contraction|siblings|"
    r"workbench-research)\.md\b|\bdesign of the estimate\b|\bshared/design\b"
)
"""Documents that are no part of this repository."""
UNPLACED = re.compile(r"(?<![\w/.-])(?:fusion|simulator|access|calls|stitch)\.md\b")
"""Names that pages have as well: with their folder, or in a link of a page."""

_GAP = r"[ \t]*(?:\n[ \t]*(?:#|//|\*|>)?[ \t]*)?"
_NUMBER = r"\d+(?:\.\d+)*"
_CITED = re.compile(
    rf"(?P<name>[\w./-]+\.md|\b[A-Z]\w+)`{{0,2}}(?:\]\([^)\s]*\))?,?{_GAP}{MARK}{_GAP}"
    rf"(?P<first>{_NUMBER}|)(?P<more>(?:,?{_GAP}(?:(?:and|to){_GAP})?{MARK}{_NUMBER})*)"
)
_QUOTE = re.compile(r"\s*(?:[\"'`]|\\)")
_HEADING = re.compile(r"^#{1,5} (.+?)\s*$", re.MULTILINE)
_FENCE = re.compile(r"^(`{3,})[^\n]*\n.*?^\1\s*$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Fault:
    """A citation that leads nowhere."""

    line: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}"


@cache
def headings(page: Path) -> tuple[str, ...]:
    """Headings of a page, without those in blocks of code."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    return tuple(re.sub(r"[`*]", "", name) for name in _HEADING.findall(text))


def numbers(page: Path) -> frozenset[str]:
    """Numbers of the sections of a page."""
    heads = (re.match(rf"({_NUMBER})\s", name) for name in headings(page))
    return frozenset(head[1] for head in heads if head)


def faults(text: str, root: Path = ROOT, linked: bool = False) -> list[Fault]:
    """Citations of a text that lead nowhere.

    Parameters
    ----------
    linked : bool
        Whether the text is a page, where a link names another page by its place.
    """
    starts = [0, *(at.end() for at in re.finditer("\n", text))]
    found: list[Fault] = []
    cited: set[int] = set()

    def fault(at: int, what: str) -> None:
        found.append(Fault(bisect(starts, at), what))

    for match in _CITED.finditer(text):
        cited.update(match.start() + k for k, c in enumerate(match[0]) if c == MARK)
        for what in _problems(match, text[match.end() :], root):
            fault(match.start(), what)
    for mark in re.finditer(MARK, text):
        if mark.start() not in cited and not _QUOTE.match(text, mark.end()):
            shown = " ".join(text[mark.start() : mark.start() + 20].split())
            fault(mark.start(), f"{shown!r} names no page: write docs/PAGE.md {MARK}SECTION")
    for pattern in (OUTSIDE,) if linked else (OUTSIDE, UNPLACED):
        for name in pattern.finditer(text):
            fault(name.start(), f"{name[0]} is no document of this repository")
    return sorted(found, key=lambda fault: fault.line)


def _problems(match: re.Match[str], rest: str, root: Path) -> Iterator[str]:
    """Yield the faults of one citation; ``rest`` is the text behind it."""
    name, first = match["name"], match["first"]
    wanted = [*([first] if first else []), *re.findall(_NUMBER, match["more"])]
    if not name.endswith(".md"):
        if name not in PUBLICATIONS or not wanted:
            yield f"{name} {MARK}{first} names no page and no known publication"
            return
        lost = [number for number in wanted if number not in PUBLICATIONS[name].split()]
        yield from (f"{name} has no section {number}" for number in lost)
        return
    page = root / name
    if not name.startswith("docs/") or not page.is_file():
        yield f"there is no page {name}"
    elif not wanted:
        if not _named(page, rest):
            yield f"{name} has no section {' '.join(rest[:40].split())!r}"
    else:
        yield from (
            f"{name} has no section {number}" for number in wanted if number not in numbers(page)
        )


def _named(page: Path, rest: str) -> bool:
    """Return whether a text begins with a heading of a page that ends there."""
    flat = re.sub(r"\s+(?:(?:#|//|\*|>)\s+)?", " ", rest[:200]).strip()
    begins = (head for head in headings(page) if flat.startswith(head))
    return any(not flat[len(head) :][:1].isalnum() for head in begins)


def sources() -> list[Path]:
    """Every file that may cite: tracked kinds of text, without the changelog and this test."""
    files = [p for folder in FOLDERS for p in (ROOT / folder).rglob("*") if p.is_file()]
    files += [p for p in ROOT.iterdir() if p.is_file()]
    made = {"_site", "__pycache__", "node_modules"}
    return sorted(
        p
        for p in files
        if p.suffix in SUFFIXES
        and p != Path(__file__)
        and p.name.lower() != "changelog.md"
        and not made & set(p.relative_to(ROOT).parts)
    )


def _is_page(path: Path) -> bool:
    """Return whether a file is a page, or makes some: citations there use a page's path."""
    return path.suffix == ".md" or path.is_relative_to(ROOT / "docs")


def test_every_citation_leads_to_a_section() -> None:
    lost = [
        f"{path.relative_to(ROOT)}, {fault}"
        for path in sources()
        for fault in faults(path.read_text(encoding="utf-8"), linked=_is_page(path))
    ]
    assert not lost, "\n".join(lost)


def test_there_is_something_to_check() -> None:
    """A pattern that finds nothing would let everything pass."""
    cited = [m["name"] for p in sources() for m in _CITED.finditer(p.read_text(encoding="utf-8"))]
    assert len(cited) > 150
    pages = {p.relative_to(ROOT).as_posix() for p in SPEC.glob("*.md")} - {"docs/spec/index.md"}
    assert pages <= set(cited), "a page of the specification that nothing cites"


PAGE = """# 1st page
## 2 Streams
### 2.1 Tokens
## What if
```sh
## 9 a comment
```
"""


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a docs/a.md @2 b", []),
        ("(``docs/a.md`` @2.1, @2) b", []),
        ("from docs/a.md @2 to\n    @2.1", []),
        ("docs/a.md\n# @2.1", []),
        ('"docs/a.md @ What if; FuseFlow @8.3"', []),
        ('"docs/a.md @ What\n    if".partition(" @ ")', []),
        ("FuseFlow, @9.1", []),
        ("docs/a.md @2.2", [1]),
        ("docs/a.md @2, @3", [1]),
        ("docs/a.md @9", [1]),
        ("docs/a.md @ What iffy", [1]),
        ("docs/a.md @ How", [1]),
        ("docs/b.md @2", [1]),
        ("x\na.md @2", [2]),
        ("x\n\nsee @2.1 of it", [3]),
        ("docs/a.md @2 and\nbeside it (@2.1)", [2]),
        ("Higham @3", [1]),
        ("FuseFlow @5.4", [1]),
        ("samml.md, sections 2 and 3", [1]),
        ("the\ndesign of the estimate", [2]),
        ("``fusion.md``", [1]),
        ("docs/spec/fusion.md", []),
    ],
)
def test_the_check_finds_what_leads_nowhere(text: str, lines: list[int], tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(PAGE, encoding="utf-8")
    assert [f.line for f in faults(text.replace("@", MARK), tmp_path)] == lines


def test_a_fault_says_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(PAGE, encoding="utf-8")
    (fault,) = faults(f"\ndocs/a.md {MARK}7", tmp_path)
    assert str(fault) == "line 2: docs/a.md has no section 7"


@pytest.mark.parametrize("page", sorted(SPEC.glob("*.md")), ids=lambda page: page.stem)
def test_sections_are_numbered_in_order(page: Path) -> None:
    """No number twice, none left out, and none below another chapter."""
    heads = [name for name in headings(page)[1:] if page.stem != "index"]
    parts = [re.match(rf"({_NUMBER}) \S", name) for name in heads]
    assert all(parts), heads
    last: tuple[int, ...] = (0,)
    for part in parts:
        assert part
        number = tuple(map(int, part[1].split(".")))
        after = {(*last[:depth], last[depth] + 1) for depth in range(len(last))} | {(*last, 1)}
        assert number in after, part[0]
        last = number


# What the specification says of the machine ------------------------------------------------------

EXAMPLE = re.compile(r"^```text tokens\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
"""A primitive, its parameters, then a stream per line: ``port <- tokens``, ``port -> tokens``."""
ARRAYS = ("seg", "crd", "vals")


@dataclass(frozen=True)
class Example:
    """One block of a page: a primitive, streams in, and what must come out."""

    op: str
    settings: dict[str, str]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    facts: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Example:
        """Read a block."""
        head, *lines = text.strip().splitlines()
        op, *settings = head.split()
        streams = {
            arrow: tuple(line.split(arrow)[1].strip() for line in lines if arrow in line)
            for arrow in ("<-", "->")
        }
        facts = tuple(line for line in lines if "<-" not in line and "->" not in line)
        given = dict(setting.split("=", 1) for setting in settings)
        return cls(op, given, streams["<-"], streams["->"], facts)

    @property
    def timed(self) -> bool:
        """True if the outputs have timestamps."""
        return any("@" in out for out in self.outputs) or any(
            fact.startswith("clock") for fact in self.facts
        )

    def run(self, engine: str) -> BenchRun:
        """Run it on one engine."""
        given = dict(self.settings)
        machine = Machine.preset(given.pop("machine", "default"))
        capacity = given.pop("capacity", None)
        arrays = {
            name: [float(x) for x in given.pop(name).split(",")] for name in ARRAYS if name in given
        }
        params = {name: int(x) if x.lstrip("-").isdigit() else x for name, x in given.items()}
        if self.op in ("scan", "search"):
            params |= {"tensor": "B", "level": 1}
        if self.op == "array":
            params |= {"tensor": "B"}
        if self.op in ("crdwrite", "valwrite"):
            params |= {"tensor": "X", "level": 0}
        return bench(
            self.op,
            *self.inputs,
            params=params,
            arrays=arrays,
            outputs=len(self.outputs),
            machine=machine,
            capacity=None if capacity is None else int(capacity),
            engine=engine,
        )


EXAMPLES = [
    pytest.param(Example.of(match["text"]), id=f"{page.stem}-{match['text'].split()[0]}")
    for page in sorted(SPEC.glob("*.md"))
    for match in EXAMPLE.finditer(page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("engine", ["interpreter", "compiled"])
@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_are_what_the_machine_does(example: Example, engine: str) -> None:
    run = example.run(engine)
    for shown, got in zip(example.outputs, run.outputs, strict=True):
        plain = " ".join(item.partition("@")[0] for item in got.split())
        assert shown.split() == (got if "@" in shown else plain).split()
    for fact in example.facts:
        what, *rest = fact.split()
        if what == "clock":
            assert [str(run.clock)] == rest
        else:
            assert what == "written"
            assert [f"{x:g}" for x in run.written[rest[0]].tolist()] == rest[1:]


def test_every_primitive_has_a_section() -> None:
    """A section of its own, with its name in the table of ports."""
    text = (SPEC / "machine.md").read_text(encoding="utf-8")
    for name in CATALOGUE:
        generic = re.sub(r"\d$", "N", name) if name not in ("spacc1",) else name
        assert re.search(rf"^###+ {_NUMBER} .*`{generic}`", text, re.MULTILINE), name


def test_every_deviation_of_the_reference_has_a_section() -> None:
    text = (SPEC / "comal.md").read_text(encoding="utf-8")
    for name in Quirks.__dataclass_fields__:
        assert f"`{name}`" in text, name
