"""Networks as programs: from einsum strings, with trees by hand or by an optimiser."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from fuseloom.errors import ProgramError
from fuseloom.program import Program, parse
from fuseloom.wording import counted

LETTERS = "ABCDEFGHIJKLMNOPQSTUVWXYZ"
MOST_OPERANDS = 24


ELLIPSIS = "..."
Extents: TypeAlias = Mapping[str, int | tuple[int, ...]]
"""Index to its size; ``...`` to the sizes of the dimensions that it stands for."""
Word = tuple[str, ...]
"""Indices of an operand or a result, among them at most one ellipsis."""


def read_extents(text: str) -> dict[str, int | tuple[int, ...]]:
    """Sizes of indices, as ``i=7,j=6``; those of an ellipsis as ``...=2x3``.

    Raises
    ------
    ProgramError
        Of what is no such list, no positive size, or an index twice.

    Examples
    --------
    >>> read_extents("i=7, j=6, ...=2x3")
    {'i': 7, 'j': 6, '...': (2, 3)}
    """
    sizes: dict[str, int | tuple[int, ...]] = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        match = re.fullmatch(r"(\w+|\.\.\.)\s*=\s*(\d{1,10}(x\d{1,10})*)", part)
        given = [] if match is None else [int(n) for n in match[2].split("x")]
        whole = match is not None and match[1] == ELLIPSIS
        if match is None or 0 in given or (len(given) > 1 and not whole):
            raise ProgramError(f"{part[:30]!r} is no size of an index", hint="write e.g. i=7,j=6")
        size = tuple(given) if whole else given[0]
        if sizes.setdefault(match[1], size) != size:
            raise ProgramError(f"index {match[1]} has two sizes", hint="give one")
    return sizes


def read_einsum(text: str) -> tuple[list[Word], Word]:
    """The operands and the result of an einsum string, as NumPy and opt_einsum read it.

    Without ``->`` the result has what stands for ``...``, and then the indices that occur once, in
    the order of their letters.

    Raises
    ------
    ProgramError
        Of what is no such string.

    Examples
    --------
    >>> read_einsum("...ij,jk")
    ([('...', 'i', 'j'), ('j', 'k')], ('...', 'i', 'k'))
    """
    left, arrow, right = re.sub(r"\s", "", text).partition("->")
    operands = [_word(part) for part in left.split(",")]
    counts = Counter(x for word in operands for x in word)
    if not arrow:
        once = sorted(x for x, n in counts.items() if n == 1 and x != ELLIPSIS)
        return operands, (*(ELLIPSIS for _ in range(ELLIPSIS in counts)), *once)
    result = _word(right)
    twice = next((x for x in result if result.count(x) > 1), None)
    if twice is not None:
        raise ProgramError(
            f"the result {right} has the index {twice} twice",
            hint="name it once, and put the result on a diagonal afterwards",
        )
    for index in result:
        if index not in counts:
            raise ProgramError(
                f"the result's index {index} is in no operand",
                hint="leave it out, or multiply by an operand of ones that has it",
            )
    if ELLIPSIS in counts and ELLIPSIS not in result:
        raise ProgramError(
            f"{text[:60]!r} has ... in an operand, and not in its result",
            hint="write ... in the result, too, or name the indices that are to be summed",
        )
    return operands, result


def _word(part: str) -> Word:
    """The indices of an operand: one character each, any that einsum leaves free."""
    before, dots, behind = part.partition(ELLIPSIS)
    if any(not x.isprintable() or x.isdigit() or x in _SIGNS for x in before + behind):
        raise ProgramError(
            f"{part[:30]!r} is no list of indices",
            hint="write one letter for each index, and ... for any others, as ...ij",
        )
    return (*before, *([dots] if dots else []), *behind)


_SIGNS = frozenset(".,->()[]{}=*+'\"#/\\_ ")


def from_einsum(
    text: str,
    extents: Extents | None = None,
    names: Sequence[str] | None = None,
    *,
    shapes: Sequence[Sequence[int]] | None = None,
) -> Program:
    """A network of one product, of compressed tensors.

    An index that an operand has twice is a diagonal of it, which is a statement before the product.

    Parameters
    ----------
    text : str
        As NumPy's and opt_einsum's einsum read it: with or without ``->``, with ``...``, any
        character for an index, and numbers as operands without one.
    extents : mapping, optional
        Index to its size, and ``...`` to those of the dimensions that it stands for.
    names : sequence of str, optional
        Of the operands; by default letters.
    shapes : sequence, optional
        Of the operands, in place of extents; a dimension of size 1 is broadcast.

    Raises
    ------
    ProgramError
        Of what is no such string, an index without a size, twice in the result, or in the result
        alone.

    Examples
    --------
    >>> sizes = {"i": 4, "j": 5, "k": 6}
    >>> print(*from_einsum("ij,jk->ik", sizes).statements[0].operands)
    A[i,j] B[j,k]
    >>> print(*from_einsum("bii,...->b...", shapes=[(2, 3, 3), (5,)]).statements[-1].operands)
    A_diagonal[b,i] B[d0]
    """
    operands, result = read_einsum(text)
    if len(operands) > MOST_OPERANDS:
        raise ProgramError(
            f"a network has at most {MOST_OPERANDS} operands, this one {len(operands)}",
            hint="contract some of them beforehand",
        )
    called = list(names or LETTERS[: len(operands)])
    if len(called) != len(operands):
        raise ProgramError(f"{counted(len(operands), 'operand')} have {len(called)} names")
    known = dict(extents or {})
    if shapes is None:
        _complete(operands, known)
        shapes = [_shape(word, known) for word in operands]
    accesses, sizes = _named(operands, called, shapes, known)
    wide = max((n for word, n in _ranks(operands, shapes)), default=0)
    out = [y for x in result for y in (_dims(wide) if x == ELLIPSIS else [_name(x)])]
    lines = ["program network"]
    lines += [f"{name}: {_declared(x, sizes)}" for name, x in zip(called, accesses, strict=True)]
    taken = {*called, "R"}
    factors = []
    for name, indices in zip(called, accesses, strict=True):
        steps, last = _diagonals(name, indices, taken, len(accesses) == 1)
        lines += steps
        factors.append(last)
    lines.append(f"R[{','.join(out)}] = {_product(factors)}")
    return parse("\n".join([*lines, "output R"]))


def _complete(operands: Sequence[Word], extents: Extents) -> None:
    """Refuse indices without a size."""
    missing = [x for x in dict.fromkeys(x for w in operands for x in w) if x not in extents]
    if missing:
        first = f"{ELLIPSIS}=2x3" if missing[0] == ELLIPSIS else f"{missing[0]}=8"
        raise ProgramError(
            f"no size is given for {', '.join(missing)}", hint=f"give extents, e.g. {first}"
        )


def _shape(word: Word, extents: Extents) -> tuple[int, ...]:
    shape: list[int] = []
    for index in word:
        size = extents[index]
        shape += size if isinstance(size, tuple) else [size]
    return tuple(shape)


def _ranks(operands: Sequence[Word], shapes: Sequence[Sequence[int]]) -> list[tuple[Word, int]]:
    """Per operand with an ellipsis, how many dimensions that stands for."""
    pairs = zip(operands, shapes, strict=True)
    return [(word, len(shape) - len(word) + 1) for word, shape in pairs if ELLIPSIS in word]


def _dims(count: int, of: int | None = None) -> list[str]:
    """Names of the last ``count`` of ``of`` dimensions that an ellipsis stands for."""
    of = count if of is None else of
    return [f"d{n}" for n in range(of - count, of)]


def _name(index: str) -> str:
    """An index's name in a program, whose names are of ASCII letters."""
    return index if index.isascii() else f"u{ord(index):x}"


def _named(
    operands: Sequence[Word],
    called: Sequence[str],
    shapes: Sequence[Sequence[int]],
    extents: Extents,
) -> tuple[list[list[str]], dict[str, int]]:
    """The indices of each operand by their names, and the size of each name.

    A dimension of size 1 whose index is larger elsewhere has an index of its own, which is summed.

    Raises
    ------
    ProgramError
        Of shapes that do not fit, or contradict each other.
    """
    if len(shapes) != len(operands):
        raise ProgramError(
            f"{counted(len(operands), 'operand')} and {counted(len(shapes), 'shape')}",
            hint="give one shape for each operand",
        )
    for name, word, shape in zip(called, operands, shapes, strict=True):
        more = len(shape) - len(word)
        if more < (-1 if ELLIPSIS in word else 0) or (more and ELLIPSIS not in word):
            raise ProgramError(
                f"{name} has the indices {','.join(word) or 'of a number'}, and the shape "
                f"{tuple(shape)}",
                hint="write one index for each dimension, or ... for those that are left",
            )
    wide = max((n for _, n in _ranks(operands, shapes)), default=0)
    sizes = {_name(x): n for x, n in extents.items() if isinstance(n, int)}
    given: list[list[str]] = []
    for word, shape in zip(operands, shapes, strict=True):
        rest = len(shape) - len(word) + 1
        given.append(
            [y for x in word for y in (_dims(rest, wide) if x == ELLIPSIS else [_name(x)])]
        )
        for index, size in zip(given[-1], shape, strict=True):
            known = sizes.setdefault(index, size)
            if known == 1 or size == known:
                sizes[index] = size
            elif size != 1:
                raise ProgramError(
                    f"index {index} has the sizes {known} and {size}",
                    hint="give operands of one size along it, or of size 1",
                )
    for indices, shape in zip(given, shapes, strict=True):
        for at, size in enumerate(shape):
            if size != sizes[indices[at]]:
                indices[at] = f"one{len(sizes)}"
                sizes[indices[at]] = 1
    return given, sizes


def _declared(indices: Sequence[str], sizes: Mapping[str, int]) -> str:
    return f"{'x'.join(str(sizes[x]) for x in indices)} csf" if indices else "scalar"


def _diagonals(
    name: str, indices: Sequence[str], taken: set[str], alone: bool
) -> tuple[list[str], str]:
    """Statements that take diagonals of an operand, one pair of dimensions each, and what is left.

    Of an operand that stands alone the last diagonal is left to the product.
    """
    lines: list[str] = []
    left = list(indices)
    while len(set(left)) < len(left):
        twice = next(x for n, x in enumerate(left) if x in left[:n])
        first, second = [n for n, x in enumerate(left) if x == twice][:2]
        apart = [f"{x}_{n}" if n not in (first, second) else x for n, x in enumerate(left)]
        rest = [x for n, x in enumerate(left) if n != second]
        if alone and len(set(rest)) == len(rest):
            break
        made = f"{name}_diagonal"
        while made in taken:
            made += "_"
        taken.add(made)
        kept = [x for n, x in enumerate(apart) if n != second]
        lines.append(f"{made}[{','.join(kept)}] = {name}[{','.join(apart)}]")
        name, left = made, rest
    return lines, f"{name}[{','.join(left)}]" if left else name


def operand_indices(text: str, names: Sequence[str] | None = None) -> dict[str, Word]:
    """The operands of an einsum string by name, with their indices; nothing else is checked.

    Examples
    --------
    >>> operand_indices("ij,...k->...ik")
    {'A': ('i', 'j'), 'B': ('...', 'k')}
    """
    operands = re.sub(r"\s", "", text).partition("->")[0].split(",")
    return dict(zip(names or LETTERS, map(_word, operands), strict=False))


def _product(factors: Sequence[str]) -> str:
    if len(factors) == 1:
        return factors[0]
    return " * ".join(factors) if len(factors) == 2 else f"product({', '.join(factors)})"
