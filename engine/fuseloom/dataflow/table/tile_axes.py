"""Blocked indices in a fusion table: which axes values have, and what happens inside a tile.

Levels run over blocks, so a blocked index counts its extent in blocks; a value has an axis per
blocked index of its view, in the order of the view's indices.  Rules: ``docs/spec/fusion.md`` §6.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from string import ascii_letters

from fuseloom.dataflow.fusion.nests import Placed, PlacedView
from fuseloom.errors import LoweringError
from fuseloom.program.blocking import blocking
from fuseloom.program.functions import Op
from fuseloom.program.limits import MAX_TILE
from fuseloom.program.types import Program
from fuseloom.wording import counted


@dataclass(frozen=True)
class TileOp:
    """The computation of an operation inside a tile, in einsum notation; empty if there is none.

    Attributes
    ----------
    compute : tuple of str
        Axes of the operands and of the result, e.g. ``ik,kj->ij``; one entry per ALU, of which
        a product of many factors has several in a row.
    fold : str
        Axes before and after a sum or maximum inside the tile, or a transposition.
    """

    compute: tuple[str, ...] = ()
    fold: str = ""


class Tiles:
    """The blocks of a program, seen from the views of its regions."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.edge = blocking(program).edge

    def axes(self, view: PlacedView) -> tuple[str, ...]:
        """The blocked indices of a view, in the order of its indices."""
        blocked = self.program.tensor(view.tensor).format.blocked
        return tuple(view.indices[axis] for axis in blocked)

    def extents(self, placed: Iterable[Placed], extents: Mapping[str, int]) -> dict[str, int]:
        """Sizes of indices, in blocks where they are blocked."""
        if self.edge == 1:
            return dict(extents)
        found = {x for p in placed for view in (p, *p.operands) for x in self.axes(view)}
        return {x: size // self.edge if x in found else size for x, size in extents.items()}

    def load(self, view: PlacedView) -> str:
        """The axes of a stored value, a letter each."""
        axes = self.axes(view)
        return _spelt(axes, letters_of(axes))

    def compute(self, placed: Placed) -> TileOp | None:
        """Return the computation of a view inside tiles; None if it sees single numbers.

        A product sums over what it reduces by itself; anything else is computed at all axes
        and folded after that.

        Raises
        ------
        LoweringError
            If that needs tiles too large to be held.
        """
        operands = [self.axes(v) for v in placed.operands]
        result = self.axes(placed)
        seen = tuple(dict.fromkeys(x for axes in (*operands, result) for x in axes))
        if not seen:
            return None
        letter = letters_of(seen)
        full = (*result, *(x for x in seen if x not in result))
        op = placed.view.statement.op
        given = [_spelt(axes, letter) for axes in operands]
        before, after = _spelt(full, letter), _spelt(result, letter)
        if op is Op.MUL:
            steps = chain_of(given, after)
            for step in steps:
                self._check_size(placed.tensor, step.rpartition(">")[2])
            return TileOp(steps)
        self._check_size(placed.tensor, before)
        if op in (Op.SUM, Op.MAX):
            return TileOp(fold=step_of(given, after) if given != [after] else "")
        return TileOp(
            (step_of(given, before),), step_of([before], after) if before != after else ""
        )

    def _check_size(self, name: str, axes: str) -> None:
        if self.edge ** len(axes) > MAX_TILE:
            raise LoweringError(
                f"{name} makes tiles of {counted(len(axes), 'axis', 'axes')} of {self.edge}, "
                "more than "
                f"{MAX_TILE:,} numbers each",
                hint="use smaller blocks, or split the statement",
            )


def chain_of(given: list[str], result: str) -> tuple[str, ...]:
    """A product factor by factor; each step sums over what no later one needs."""
    steps = []
    made = given[0]
    for k, other in enumerate(given[1:], 2):
        later = "".join(given[k:]) + result
        kept = result if k == len(given) else _kept(made + other, later)
        steps.append(step_of([made, other], kept))
        made = kept
    return tuple(steps)


def _kept(axes: str, wanted: str) -> str:
    """The axes that are wanted, each once."""
    return "".join(x for x in dict.fromkeys(axes) if x in wanted)


def step_of(operands: list[str], result: str) -> str:
    """One operation as einsum writes it; nothing where there are no axes."""
    return f"{','.join(operands)}->{result}" if result or any(operands) else ""


def letters_of(names: Iterable[str]) -> dict[str, str]:
    """A letter per index: its own name where that is one, else a free one."""
    letters: dict[str, str] = {}
    for name in names:
        wanted = (name[0], name[0].upper(), *ascii_letters)
        taken = letters.values()
        letters[name] = next(c for c in wanted if c in ascii_letters and c not in taken)
    return letters


def _spelt(axes: Iterable[str], letter: Mapping[str, str]) -> str:
    return "".join(letter[x] for x in axes)
