"""``Y[i] += ...``: the sum of what a tensor was and what is added, in single assignment.

Each ``+=`` gives the tensor a new version; the last keeps the name::

    Y[i] = A[i,k] * x[k]              Y_part1[i] = A[i,k] * x[k]
    Y[i] += B[i,k] * x[k]     ->      Y_more1[i] = B[i,k] * x[k]
                                      Y[i] = Y_part1[i] + Y_more1[i]
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from fuseloom.errors import FuseloomError, ParseError
from fuseloom.program.functions import Op
from fuseloom.program.syntax import (
    Binary,
    ComputedAccess,
    DeclarationSyntax,
    Expression,
    LineSyntax,
    Read,
    StatementSyntax,
    Unary,
    rebuilt,
)


@dataclass
class Versions:
    """The result of single assignment on a program's lines.

    Attributes
    ----------
    lines : list of LineSyntax
    of : dict
        An earlier version, or what is added to it, to the name that the text has, and which of
        its dimensions it has.
    """

    lines: list[LineSyntax] = field(default_factory=list)
    of: dict[str, tuple[str, tuple[int, ...]]] = field(default_factory=dict)

    @contextmanager
    def told_as_written(self) -> Iterator[None]:
        """Errors name tensors as the text does."""
        try:
            yield
        except FuseloomError as problem:
            if not self.of:
                raise
            raise type(problem)(
                self._written(problem.message),
                hint=self._written(problem.hint) if problem.hint else None,
                line=problem.line,
                column=problem.column,
                source=problem.source,
            ) from None

    def _written(self, text: str) -> str:
        return re.sub(r"\w+", lambda word: self.of.get(word[0], (word[0],))[0], text)


def in_versions(lines: tuple[LineSyntax, ...], taken: set[str]) -> Versions:
    """The lines without ``+=``.

    Parameters
    ----------
    taken : set of str
        Names that versions must avoid; the new names are added to it.

    Raises
    ------
    ParseError
        A ``+=`` to a tensor that no line before it assigns.
    """
    adds = Counter(
        line.target.name for line in lines if isinstance(line, StatementSyntax) and line.adds
    )
    if not adds:
        return Versions(list(lines))
    declared = {x.name.text: x for x in lines if isinstance(x, DeclarationSyntax)}
    made = Versions()
    now: dict[str, str] = {}
    for line in lines:
        if not isinstance(line, StatementSyntax):
            made.lines.append(line)
            continue
        name = line.target.name
        expression = _renamed(line.expression, now)
        if not line.adds:
            version = name
            if adds[name] and name not in now:
                version = _fresh(f"{name}_part", taken)
                made.of[version] = name, tuple(range(len(line.target.indices)))
                if isinstance(expression, Unary) and expression.op is Op.RESHAPE:
                    made.lines += _declared(declared.get(name), version)
            made.lines.append(
                replace(line, target=_as(line.target, version), expression=expression)
            )
            now[name] = version
            continue
        if name not in now:
            raise _no_value(line, name in declared)
        adds[name] -= 1
        added = _summed(made, line, expression, taken)
        version = name if not adds[name] else _fresh(f"{name}_part", taken)
        if version != name:
            made.of[version] = name, tuple(range(len(line.target.indices)))
        before = _as(line.target, now[name])
        depth = 1 + max(before.depth, added.depth)
        total = Binary(Op.ADD, before, added, line.target.place, depth)
        made.lines.append(StatementSyntax(_as(line.target, version), total))
        now[name] = version
    return made


def _summed(
    made: Versions, line: StatementSyntax, expression: Expression, taken: set[str]
) -> Expression:
    """Return the added expression; in a statement of its own if it sums over an index."""
    own = [x for x in line.target.indices if x.text in expression.free]
    if {x.text for x in own} == set(expression.free):
        return expression
    target = Read(_fresh(f"{line.target.name}_more", taken), tuple(own), line.target.place)
    made.of[target.name] = line.target.name, tuple(map(line.target.indices.index, own))
    made.lines.append(StatementSyntax(target, expression))
    return target


def _as(read: Read, name: str) -> Read:
    return replace(read, name=name)


def _renamed(expression: Expression, names: Mapping[str, str]) -> Expression:
    """An expression that reads the versions that there are now."""

    def change(node: Expression) -> Expression:
        if isinstance(node, Read | ComputedAccess) and node.name in names:
            return replace(node, name=names[node.name])
        return node

    return rebuilt(expression, change)


def _declared(declaration: DeclarationSyntax | None, version: str) -> list[LineSyntax]:
    """A reshape's shape follows from nothing, so its version is declared as the tensor is."""
    if declaration is None:
        return []
    return [replace(declaration, name=replace(declaration.name, text=version))]


def _fresh(base: str, taken: set[str]) -> str:
    number = 1
    while f"{base}{number}" in taken:
        number += 1
    taken.add(f"{base}{number}")
    return f"{base}{number}"


def _no_value(line: StatementSyntax, declared: bool) -> ParseError:
    name = line.target.name
    hint = f"assign it first with '{name}[...] = ...'"
    if declared:
        hint += ", or, if it is an input, give the sum another name: 'Y[i] = X[i] + ...'"
    return ParseError(
        f"{name} has no value yet that += could add to",
        hint=hint,
        line=line.target.place[0],
        column=line.target.place[1],
    )
