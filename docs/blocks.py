"""The blocks of code in the documents, and what they print: ``python docs/build.py outputs PAGE``.

A page is run from top to bottom in one namespace.

* Blocks of ``python`` are executed; an ``output`` block right behind is what they print.
* In blocks of ``console`` lines with ``$`` are commands, followed by what they print (if anything
  is shown); in blocks of ``sh`` every line is a command.  Commands of Fuseloom run in this process,
  in a folder of their own, where ``docs`` and ``tests`` are those of the project; ``echo TEXT >
  FILE`` and ``> FILE`` behind a command write files.
* A block with ``not-run`` in its first line is not executed, for the reason that a comment above
  it gives: ``<!-- not run: REASON -->``; so are the commands of the README that other tests read.
  Python must be Python all the same, and commands of Fuseloom must have options that there are.
* ``norm`` hides what changes from run to run: seconds and rounding errors.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from fuseloom.cli import main

ROOT = Path(__file__).parent.parent
_FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
_REASON = re.compile(r"<!-- (?:not run: (.+?)|(?:serve|test) command) -->\s*\Z", re.DOTALL)
LANGUAGES = ("python", "console", "sh")


@dataclass(frozen=True)
class CodeBlock:
    """One block of code.

    Attributes
    ----------
    place : str
        Page and line.
    marks : tuple of str
        What stands behind the language.
    shown : str or None
        What a block of Python is said to print.
    reason : str
        Why it is not run.
    span : tuple of int
        Where ``shown`` lies in the page.
    """

    place: str
    language: str
    marks: tuple[str, ...]
    text: str
    shown: str | None = None
    reason: str = ""
    span: tuple[int, int] = (0, 0)

    @property
    def runs(self) -> bool:
        return not self.reason

    @property
    def commands(self) -> list[tuple[str, str | None]]:
        """Commands, each with what it is said to print."""
        if self.language == "sh":
            lines = re.sub(r"\\\n\s*", "", self.text).splitlines()
            return [(line, None) for line in map(_bare, lines) if line]
        parts = re.split(r"^\$ ", self.text, flags=re.MULTILINE)[1:]
        found = [(head, rest.strip()) for head, _, rest in (p.partition("\n") for p in parts)]
        return [(_bare(head), rest or None) for head, rest in found]


def _bare(line: str) -> str:
    """A command without the comment behind it."""
    return re.sub(r"\s+#\s.*$", "", line).strip()


def blocks(page: Path) -> list[CodeBlock]:
    """Those of a page, in order; directives of the site are none."""
    text = page.read_text(encoding="utf-8")
    name = page.relative_to(ROOT).as_posix()
    found: list[CodeBlock] = []
    fences = list(_FENCE.finditer(text))
    for fence, behind in zip_longest(fences, fences[1:]):
        language, *marks = fence["info"].split() or [""]
        if language not in LANGUAGES:
            continue
        shown, span = None, (0, 0)
        directly = behind is not None and not text[fence.end() : behind.start()].strip()
        if behind is not None and directly and behind["info"] == "output":
            shown, span = behind["text"], behind.span("text")
        reason = _REASON.search(text[: fence.start()])
        place = f"{name}:{text.count(chr(10), 0, fence.start()) + 1}"
        why = " ".join((reason[1] or "tests/test_style.py reads it").split()) if reason else ""
        found.append(CodeBlock(place, language, tuple(marks), fence["text"], shown, why, span))
    return found


def norm(text: str) -> str:
    """Without what changes from run to run."""
    text = re.sub(
        r"\d\.\de[-+]\d\d(, \d+% of what rounding allows)?|\b\d+(\.\d+)? m?s\b", "#", text
    )
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def run(block: CodeBlock, names: dict[str, Any], folder: Path) -> Iterator[tuple[str | None, str]]:
    """Execute a block; pairs of what it is said to print and what it prints.

    Raises
    ------
    Exception
        Whatever the code raises; a command that fails is an AssertionError.
    """
    if block.language == "python":
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.chdir(folder):
            exec(compile(block.text, block.place, "exec"), names)
        yield block.shown, out.getvalue()
        return
    for command, shown in block.commands:
        yield shown, _command(command, folder, block.place)


def _command(command: str, folder: Path, place: str) -> str:
    words = shlex.split(command)
    into = None
    if ">" in words:
        at = words.index(">")
        words, into = words[:at], folder / words[at + 1]
    if words[0] == "echo":
        printed = " ".join(words[1:]) + "\n"
    else:
        assert words[0] == "fuseloom", f"{place}: {words[0]} is no command of Fuseloom"
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.chdir(folder):
            code = main(words[1:])
        printed = out.getvalue()
        assert code == 0, f"{place}: {command} ends with {code}: {printed}"
    if into is None:
        return printed
    into.write_text(printed, encoding="utf-8")
    return ""


@contextlib.contextmanager
def workplace(folder: Path) -> Iterator[Path]:
    """A folder to run pages in: the files that they name, and a run store of its own."""
    for name in ("docs", "tests"):
        (folder / name).symlink_to(ROOT / name)
    before = os.environ.get("FUSELOOM_RUNS")
    os.environ["FUSELOOM_RUNS"] = str(folder / "runs.sqlite")
    try:
        yield folder
    finally:
        os.environ.pop("FUSELOOM_RUNS")
        if before is not None:
            os.environ["FUSELOOM_RUNS"] = before


def fill_in(page: Path, names: dict[str, Any], folder: Path) -> None:
    """Write what the blocks of Python print into the ``output`` blocks behind them."""
    text, made = page.read_text(encoding="utf-8"), []
    for block in blocks(page):
        if not block.runs:
            continue
        for shown, printed in run(block, names, folder):
            if shown is not None and block.language == "python":
                made.append((block.span, printed))
            elif shown is not None and norm(shown) != norm(printed):
                made.append((_span(text, shown), printed.rstrip("\n")))
    for (start, stop), printed in sorted(made, reverse=True):
        lines = [line.rstrip() for line in printed.splitlines()]
        end = "\n" if text[stop - 1] == "\n" else ""
        text = text[:start] + "\n".join(lines) + end + text[stop:]
    page.write_text(text, encoding="utf-8")


def _span(text: str, part: str) -> tuple[int, int]:
    start = text.index(part)
    return start, start + len(part)
