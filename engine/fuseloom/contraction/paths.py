"""Contraction trees of a network: by pairs, by names, or by an optimiser of paths."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from fuseloom.contraction.tree import ContractionTree
from fuseloom.errors import ProgramError
from fuseloom.program import Access, Op, Program, Statement, parse
from fuseloom.wording import counted

Path = Sequence[Sequence[int]]
"""Pairs of operands to contract, as opt_einsum counts them: a result goes to the end."""


def operands_of(program: Program) -> tuple[tuple[Access, ...], Access]:
    """The factors and the result of a program that is one product, of tensors or diagonals."""
    live = program.live
    before = live[:-1]
    if (
        not live
        or live[-1].op not in (Op.MUL, Op.SUM)
        or not all(_selects(program, s) for s in before)
    ):
        several = len(live) != 1
        has = "has several statements" if several else f"is one of {live[0].op.name.lower()}"
        raise ProgramError(
            f"a path is for one product, and this program {has}",
            hint="ContractionTree.of(program) reads a tree of binary products",
        )
    return live[-1].operands, live[-1].out


def _selects(program: Program, s: Statement) -> bool:
    """Return whether a statement takes a diagonal of a given tensor, or of another diagonal."""
    return s.op is Op.MUL and any(program.tensor(a.tensor).made is not None for a in s.operands)


def _sources(program: Program) -> dict[str, str]:
    """Per diagonal that is taken, the operand that it is of."""
    found: dict[str, str] = {}
    for s in program.live[:-1]:
        read = next(a.tensor for a in s.operands if program.tensor(a.tensor).made is None)
        found[s.out.tensor] = found.get(read, read)
    return found


def binary(program: Program, path: Path | str | None = None) -> ContractionTree:
    """The tree that contracts one product's operands in pairs.

    Parameters
    ----------
    path : sequence of pairs, str or None
        Pairs as opt_einsum counts operands; a tree by names, such as ``((A B) C)``; or by default
        the operands one after the other.

    Raises
    ------
    ProgramError
        Of a path that uses an operand twice or leaves one out.

    Examples
    --------
    >>> from fuseloom.contraction.networks import from_einsum
    >>> sizes = dict(i=4, j=5, k=6, l=3)
    >>> print(binary(from_einsum("ij,jk,kl->il", sizes), "(A (B C))"))
    X1[j,l] = B[j,k] * C[k,l]
    R[i,l] = A[i,j] * X1[j,l]
    """
    operands, out = operands_of(program)
    if len(operands) < 3:
        return ContractionTree.of(program)
    pairs: Sequence[Sequence[int]]
    if isinstance(path, str):
        sources = _sources(program)
        pairs = tree_path(path, [sources.get(a.tensor, a.tensor) for a in operands])
    else:
        count = len(operands)
        one_by_one = [(0, 1), *((0, count - n) for n in range(2, count))]
        pairs = one_by_one if path is None else [tuple(p) for p in path]
    left = list(operands)
    taken = {t.name for t in program.tensors}
    lines = [line for line in str(program).splitlines() if _declares(line)]
    lines += [f"{s.out} = {' * '.join(map(str, s.operands))}" for s in program.live[:-1]]
    for number, pair in enumerate(pairs, 1):
        chosen = sorted(set(pair))
        if len(pair) != 2 or len(chosen) != 2 or chosen[0] < 0 or chosen[1] >= len(left):
            raise ProgramError(
                f"{tuple(pair)} names no two of the {counted(len(left), 'operand')} that are left",
                hint="pairs of different numbers, counted from 0; each result goes to the end",
            )
        first, second = (left[k] for k in pair)
        rest = [a for k, a in enumerate(left) if k not in chosen]
        kept = {x for a in (*rest, out) for x in a.indices}
        name = f"X{number}"
        while name in taken:
            name += "_"
        indices = tuple(x for x in dict.fromkeys((*first.indices, *second.indices)) if x in kept)
        made = Access(name, indices) if rest else out
        taken.add(made.tensor)
        lines.append(f"{made} = {first} * {second}")
        left = [*rest, made]
    if len(left) != 1:
        names = ", ".join(a.tensor for a in left)
        raise ProgramError(f"the path leaves {names} apart", hint="contract until one is left")
    text = "\n".join([f"program {program.name}", *lines, f"output {out.tensor}"])
    return ContractionTree.of(parse(text))


def _declares(line: str) -> bool:
    return re.match(r"\w+(\[[^\]]*\])?:", line) is not None


def tree_path(text: str, names: Sequence[str]) -> list[tuple[int, int]]:
    """The path of a tree that is written with parentheses.

    Examples
    --------
    >>> tree_path("((A B) (C D))", "ABCD")
    [(0, 1), (0, 1), (0, 1)]
    """
    left: list[object] = list(names)
    pairs: list[tuple[int, int]] = []
    stack: list[list[object]] = [[]]
    for word in re.findall(r"\w+|[()]|[^\s\w(),*]", text):
        if word == "(":
            stack.append([])
        elif word == ")":
            if len(stack) == 1 or len(stack[-1]) != 2:
                raise ProgramError(
                    f"{text[:60]!r} is no binary tree", hint="write e.g. ((A B) C), two in each"
                )
            first, second = stack.pop()
            pairs.append((left.index(first), left.index(second)))
            made = object()
            left = [*(x for x in left if x not in (first, second)), made]
            stack[-1].append(made)
        elif word in names:
            if word not in left or any(word in part for part in stack):
                raise ProgramError(f"{text[:60]!r} has {word} twice")
            stack[-1].append(word)
        else:
            raise ProgramError(
                f"{text[:60]!r} has {word!r}, which is no operand",
                hint=f"operands are {', '.join(names)}",
            )
    if len(stack) != 1 or len(stack[0]) != 1 or len(left) != 1:
        missing = [x for x in left if isinstance(x, str)]
        said = f"does not cover {', '.join(missing)}" if missing else "is no one binary tree"
        raise ProgramError(f"{text[:60]!r} {said}", hint="write e.g. ((A B) C), two in each")
    return pairs


def optimised(program: Program, by: str = "opt_einsum", **options: Any) -> ContractionTree:
    """The tree that opt_einsum or cotengra finds by dense multiplications.

    Raises
    ------
    ProgramError
        If the package is not installed, or no such one is known.
    """
    operands, out = operands_of(program)
    if len(operands) < 3:
        return binary(program)
    sizes = program.sizes[out.tensor]
    if by == "opt_einsum":
        try:
            from opt_einsum import contract_path, get_symbol
        except ImportError:
            raise _missing(by) from None
        equation = _equation(operands, out, get_symbol)
        shapes = [tuple(sizes[x] for x in a.indices) for a in operands]
        path, _ = contract_path(equation, *shapes, shapes=True, **{"optimize": "auto", **options})
        return binary(program, _pairs(path))
    if by == "cotengra":
        try:
            import cotengra
        except ImportError:
            raise _missing(by) from None
        found = cotengra.array_contract_path(
            [a.indices for a in operands], out.indices, size_dict=sizes, **options
        )
        return binary(program, _pairs(found))
    raise ProgramError(f"no optimiser is called {by!r}", hint="opt_einsum or cotengra")


def _missing(package: str) -> ProgramError:
    return ProgramError(
        f"{package} is not installed", hint="pip install 'fuseloom[networks]', or give a tree"
    )


def _equation(operands: Sequence[Access], out: Access, symbol: Callable[[int], str]) -> str:
    letters: dict[str, str] = {}
    for access in operands:
        for x in access.indices:
            letters.setdefault(x, symbol(len(letters)))
    parts = ["".join(letters[x] for x in a.indices) for a in operands]
    return f"{','.join(parts)}->{''.join(letters[x] for x in out.indices)}"


def _pairs(path: Path) -> list[tuple[int, int]]:
    """A path of pairs alone: steps of more operands are taken apart."""
    count = sum(len(step) - 1 for step in path) + 1
    pairs = []
    for step in path:
        places = sorted(step)
        while len(places) > 1:
            first, second, *rest = places
            pairs.append((first, second))
            count -= 1
            places = [*(p - (p > first) - (p > second) for p in rest), count - 1]
            if not rest:
                break
    return pairs
