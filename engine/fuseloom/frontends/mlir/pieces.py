"""Texts of several pieces, as tests join them: each piece is a file of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fuseloom.frontends.mlir.builder import unknown
from fuseloom.frontends.mlir.parser import parse_file
from fuseloom.frontends.mlir.syntax import File, Function, refuse_meaning

_MARK = re.compile(r"^[ \t]*// -----[ \t]*$\n?", re.MULTILINE)
"""The line between two pieces, as ``mlir-opt -split-input-file`` has it."""


def parse_pieces(text: str) -> list[File]:
    """Read a text, or the pieces that lines ``// -----`` part it into.

    Aliases and functions are known in their piece only.

    Raises
    ------
    ParseError
        The text around functions does not follow the grammar of the subset.

    Examples
    --------
    >>> text = "func.func private @f(f32)\\n// -----\\nfunc.func private @f(f64)"
    >>> [file.functions[0].place for file in parse_pieces(text)]
    [(1, 19), (3, 19)]
    """
    ends = [match.span() for match in _MARK.finditer(text)]
    starts = [0, *(end for _, end in ends)]
    stops = [*(start for start, _ in ends), len(text)]
    files: list[File] = []
    line = 1
    for n, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        if n:
            line += text.count("\n", starts[n - 1], start)
        files.append(parse_file(text[start:stop], line))
    return files


def chosen(files: Sequence[File], wanted: str) -> tuple[File, Function]:
    """The function of a name, and its piece; ``name:2`` is that of the second piece.

    Raises
    ------
    ProgramError
        No function has the name, or those of several pieces have.
    """
    name, _, piece = wanted.removeprefix("@").partition(":")
    found = [
        (n, file, function)
        for n, file in enumerate(files, 1)
        for function in file.functions
        if function.name == name and (not piece or piece == str(n))
    ]
    if not found:
        known = [f"@{f.name}" for file in files for f in file.functions]
        of = f" of piece {piece[:20]}" if piece else ""
        raise unknown(f"function @{name}{of}", f"@{name}", known, (1, 1))
    if len(found) > 1:
        pieces = ", ".join(str(n) for n, _, _ in found[:10])
        raise refuse_meaning(
            f"the pieces {pieces} of the text have a function @{name}",
            f"say which: {name}:{found[0][0]}",
            found[1][2].place,
        )
    return found[0][1:]
