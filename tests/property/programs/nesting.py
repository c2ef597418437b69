"""Random programs of nested expressions that use few tensors again and again, and their meaning.

The meaning is computed from the expressions as they were made up, whole, by rules of its own:
nothing that splits, orders, evaluates or checks programs has a part in it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Elements = tuple[Floats, Bools]
"""The values of a tensor, and which of its elements are there."""

FUNCTIONS: Mapping[str, Callable[[Floats], Floats]] = {
    "relu": lambda x: np.where(x > 0, x, 0.0),
    "abs": np.abs,
    "tanh": np.tanh,
    "exp": np.exp,
    "floor": np.floor,
}


@dataclass(frozen=True)
class Nested:
    """An expression: a read, or what ``symbol`` makes of its operands.

    ``symbol`` is a name of a tensor, a sign, a function, or ``sum``, ``max`` and ``min`` over the
    indices that ``indices`` lacks.
    """

    symbol: str
    indices: tuple[str, ...]
    operands: tuple[Nested, ...] = ()

    def __str__(self) -> str:
        if not self.operands:
            return f"{self.symbol}[{','.join(self.indices)}]" if self.indices else self.symbol
        texts = [str(o) for o in self.operands]
        if self.symbol in FUNCTIONS:
            return f"{self.symbol}({texts[0]})"
        if len(texts) == 1:
            gone = [x for x in self.operands[0].indices if x not in self.indices]
            return f"{self.symbol}[{','.join(gone)}]({texts[0]})"
        if self.symbol in ("max", "min"):
            return f"{self.symbol}({', '.join(texts)})"
        return "(" + f" {self.symbol} ".join(texts) + ")"

    @property
    def depth(self) -> int:
        return 1 + max((o.depth for o in self.operands), default=0)


class NestedMaker:
    """Makes up nested expressions over two or three indices and a few inputs.

    Parameters
    ----------
    rng : random.Random
        Draws sizes, formats and expressions.

    Attributes
    ----------
    near_step : bool
        Whether, in the last meaning, a value lay so near a step of its function that a float32
        may be on the other side.
    """

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.sizes = {x: rng.randint(1, 4) for x in "ijk"[: rng.choice((1, 2, 2, 2, 3))]}
        self.tensors: dict[str, tuple[str, ...]] = {}
        self.declarations: list[str] = []
        self.statements: list[tuple[str, tuple[str, ...], Nested]] = []
        self.near_step = False
        for _ in range(rng.randint(2, 4)):
            self._input()

    def _input(self) -> None:
        rng = self.rng
        indices = tuple(x for x in self.sizes if rng.random() < 0.65) or (next(iter(self.sizes)),)
        name = f"A{len(self.declarations)}"
        levels = [rng.choice(("dense", "compressed")) for _ in indices]
        if rng.random() < 0.5:
            levels = [levels[0]] * len(levels)
        shape = "x".join(str(self.sizes[x]) for x in indices)
        self.declarations.append(f"{name}: {shape} [{', '.join(levels)}]")
        self.tensors[name] = indices

    def text(self, statements: int) -> str:
        """A program of that many lines."""
        while len(self.statements) < statements:
            made = self.expression(self.rng.randint(1, 4))
            kept = [x for x in made.indices if self.rng.random() < 0.85]
            if len(kept) < len(made.indices):
                symbol = self.rng.choice(("sum", "sum", "max", "min")) if kept else "sum"
                made = Nested(symbol, tuple(kept), (made,))
            if not made.operands:
                continue
            if self.rng.random() < 0.2:
                self.rng.shuffle(kept)
            name = f"T{len(self.statements)}"
            self.statements.append((name, tuple(kept), made))
            self.tensors[name] = tuple(kept)
        lines = [
            f"{name}[{','.join(out)}] = {made}" if out else f"{name} = {made}"
            for name, out, made in self.statements
        ]
        return "\n".join([*self.declarations, *lines])

    def expression(self, depth: int) -> Nested:
        """An expression of at most that depth; recent results and dense vectors most of all."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.1:
            names = list(self.tensors)
            name = names[-1] if rng.random() < 0.3 else rng.choice(names)
            return Nested(name, self.tensors[name])
        kind = rng.random()
        if kind < 0.2:
            return self._function(depth)
        symbol = rng.choice(("*", "*", "*", "+", "+", "-", "max", "min"))
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        indices = tuple(x for x in self.sizes if x in (*left.indices, *right.indices))
        return Nested(symbol, indices, (left, right))

    def _function(self, depth: int) -> Nested:
        inner = self.expression(depth - 1)
        return Nested(self.rng.choice(list(FUNCTIONS)), inner.indices, (inner,))

    def meaning(self, data: Mapping[str, Elements]) -> dict[str, Elements]:
        """Every result, from the elements of the inputs with axes as declared."""
        known = dict(data)
        self.near_step = False
        with np.errstate(all="ignore"):
            for name, out, made in self.statements:
                axes = (*out, *(x for x in self.sizes if x not in out))
                values, present = self._evaluate(made, axes, known)
                shape = tuple(self.sizes[x] for x in out)
                values, present = values.reshape(shape), present.reshape(shape)
                known[name] = (values, present if out else np.asarray(True))
        return known

    def _evaluate(
        self, node: Nested, axes: tuple[str, ...], known: Mapping[str, Elements]
    ) -> Elements:
        """An expression over all axes, of length 1 where it lacks an index."""
        if not node.operands:
            values, present = known[node.symbol]
            order = [node.indices.index(x) for x in axes if x in node.indices]
            shape = [self.sizes[x] if x in node.indices else 1 for x in axes]
            return values.transpose(order).reshape(shape), present.transpose(order).reshape(shape)
        parts = [self._evaluate(o, axes, known) for o in node.operands]
        if node.symbol in FUNCTIONS:
            ((values, present),) = parts
            if node.symbol == "floor":
                apart = np.abs(values - np.round(values))[present]
                self.near_step |= bool(np.any((apart > 0) & (apart < 1e-4)))
            return np.where(present, FUNCTIONS[node.symbol](values), 0.0), present
        if len(parts) == 1:
            return self._folded(node, axes, *parts[0])
        (a, here), (b, there) = parts
        if node.symbol == "*":
            present = here & there
            return np.where(present, a * b, 0.0), present
        lives, present = self._united(node, axes, here, there)
        values = _SIGNS[node.symbol](a, lives[0], b, lives[1])
        return np.where(present, values, 0.0), present

    def _folded(
        self, node: Nested, axes: tuple[str, ...], values: Floats, present: Bools
    ) -> Elements:
        gone = tuple(
            k for k, x in enumerate(axes) if x in node.operands[0].indices and x not in node.indices
        )
        any_left = present.any(axis=gone, keepdims=True)
        if node.symbol == "sum":
            return np.where(present, values, 0.0).sum(axis=gone, keepdims=True), any_left
        if node.symbol == "max":
            found = np.where(present, values, -np.inf).max(axis=gone, keepdims=True)
        else:
            found = np.where(present, values, np.inf).min(axis=gone, keepdims=True)
        return np.where(any_left, found, 0.0), any_left

    def _united(
        self, node: Nested, axes: tuple[str, ...], here: Bools, there: Bools
    ) -> tuple[tuple[Bools, Bools], Bools]:
        """Which operand takes part at each coordinate, and at which there is a result.

        Index by index in the order of the axes: only operands that have an index say which of its
        coordinates there are.
        """
        sets = [set(o.indices) for o in node.operands]
        lives = [p.any(keepdims=True) if not s else np.ones_like(p[:0].any(keepdims=True))
                 for p, s in zip((here, there), sets, strict=True)]  # fmt: skip
        present = np.ones([1] * len(axes), dtype=bool)
        for depth, x in enumerate(axes):
            rest = tuple(range(depth + 1, len(axes)))
            brought = np.zeros([1] * len(axes), dtype=bool)
            for k, pattern in enumerate((here, there)):
                if x in sets[k]:
                    lives[k] = lives[k] & pattern.any(axis=rest, keepdims=True)
                    brought = brought | lives[k]
            if any(x in s for s in sets):
                present = present & brought
        return (lives[0], lives[1]), present


def _larger(a: Floats, here: Bools, b: Floats, there: Bools) -> Floats:
    return np.maximum(np.where(here, a, -np.inf), np.where(there, b, -np.inf))


_SIGNS: Mapping[str, Callable[[Floats, Bools, Floats, Bools], Floats]] = {
    "+": lambda a, here, b, there: np.where(here, a, 0.0) + np.where(there, b, 0.0),
    "-": lambda a, here, b, there: np.where(here, a, 0.0) - np.where(there, b, 0.0),
    "max": _larger,
    "min": lambda a, here, b, there: -_larger(-a, here, -b, there),
}
