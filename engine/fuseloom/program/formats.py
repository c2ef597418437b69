"""Storage formats of tensors, and the words of the text language for them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import Enum

from fuseloom.errors import ProgramError


class LevelFormat(Enum):
    """The storage of coordinates in one level."""

    DENSE = "dense"
    COMPRESSED = "compressed"
    SINGLETON = "singleton"


@dataclass(frozen=True)
class Format:
    """Level formats in storage order, and the edge of square blocks.

    Attributes
    ----------
    levels : tuple of LevelFormat
        One entry per storage level, outermost first.
    mode_order : tuple of int
        ``mode_order[l]`` is the logical dimension stored at level ``l``.
    block : int
        Edge of a block; levels hold block coordinates, values are whole blocks.  1: no blocks.
    blocked : tuple of int
        The logical dimensions counted in blocks, ascending; by default the last two.
    """

    levels: tuple[LevelFormat, ...]
    mode_order: tuple[int, ...]
    block: int = 1
    blocked: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        rank = len(self.levels)
        blocked = tuple(sorted(self.blocked)) or tuple(range(max(rank - 2, 0), rank))
        object.__setattr__(self, "block", self.block if rank else 1)
        object.__setattr__(self, "blocked", () if self.block == 1 else blocked)

    @property
    def tile(self) -> tuple[int, ...]:
        """Shape of one stored value: ``()``, ``(b,)`` or ``(b, b)``."""
        return (self.block,) * len(self.blocked)

    def in_blocks(self, edge: int, blocked: tuple[int, ...]) -> Format:
        """The same levels over blocks; over elements if no dimension is blocked."""
        return replace(self, block=edge if blocked else 1, blocked=blocked)

    @classmethod
    def dense(cls, rank: int) -> Format:
        return cls((LevelFormat.DENSE,) * rank, tuple(range(rank)))

    @classmethod
    def compressed(cls, rank: int, mode_order: tuple[int, ...] | None = None) -> Format:
        return cls((LevelFormat.COMPRESSED,) * rank, mode_order or tuple(range(rank)))

    @property
    def all_dense(self) -> bool:
        return all(level is LevelFormat.DENSE for level in self.levels)


_D, _C, _S = LevelFormat.DENSE, LevelFormat.COMPRESSED, LevelFormat.SINGLETON

MATRIX_FORMATS: dict[str, Format] = {
    "csr": Format((_D, _C), (0, 1)),
    "csc": Format((_D, _C), (1, 0)),
    "dcsr": Format((_C, _C), (0, 1)),
    "dcsc": Format((_C, _C), (1, 0)),
}
LEVEL_WORDS: dict[str, LevelFormat] = {level.value: level for level in LevelFormat}
FORMAT_WORDS = (*LEVEL_WORDS, *MATRIX_FORMATS, "csf", "coo")


def did_you_mean(word: str, known: tuple[str, ...] | list[str]) -> str | None:
    """The known word closest to a misspelt one, or None; case counts little."""
    folded = {name.lower(): name for name in known}
    close = get_close_matches(word.lower(), folded, n=1, cutoff=0.6)
    return folded[close[0]] if close else None


def suggestion(word: str, known: tuple[str, ...] | list[str]) -> str:
    """A hint for an unknown word: the closest known one, else all of them."""
    close = did_you_mean(word, known)
    listed = ", ".join(known[:20]) + (", ..." if len(known) > 20 else "")
    return f"did you mean {close!r}?" if close else f"known: {listed}"


def level_format(word: str) -> LevelFormat:
    """The level format a word stands for; ProgramError names the known ones."""
    if word not in LEVEL_WORDS:
        raise ProgramError(
            f"no level format is called {word!r}", hint=suggestion(word, list(LEVEL_WORDS))
        )
    return LEVEL_WORDS[word]


def named_format(word: str, rank: int) -> Format:
    """The format a single word stands for, for a tensor of the given rank.

    Examples
    --------
    >>> named_format("csc", 2).mode_order
    (1, 0)
    """
    if word in MATRIX_FORMATS:
        return MATRIX_FORMATS[word]
    if word == "csf":
        return Format.compressed(rank)
    if word == "coo":
        if rank < 2:
            raise ProgramError(
                f"coo keeps tuples of coordinates, and the tensor has {rank} dimension",
                hint="a vector is compressed or dense",
            )
        return Format(_coo(rank), tuple(range(rank)))
    if word not in LEVEL_WORDS:
        raise ProgramError(f"no format is called {word!r}", hint=suggestion(word, FORMAT_WORDS))
    return Format((LEVEL_WORDS[word],) * rank, tuple(range(rank)))


def _coo(rank: int) -> tuple[LevelFormat, ...]:
    return (_C, *(_S,) * (rank - 1))


def format_text(fmt: Format) -> str:
    """The shortest text that reads back as ``fmt`` for a tensor of its rank.

    Examples
    --------
    >>> format_text(Format.compressed(3).in_blocks(4, (0, 2)))
    'csf block 4 over 0,2'
    """
    plain = Format(fmt.levels, fmt.mode_order)
    if fmt == plain:
        return _levels_text(fmt)
    text = f"{_levels_text(plain)} block {fmt.block}"
    if fmt != replace(plain, block=fmt.block):
        text += " over " + ",".join(map(str, fmt.blocked))
    return text


def _levels_text(fmt: Format) -> str:
    for word, matrix_format in MATRIX_FORMATS.items():
        if fmt == matrix_format:
            return word
    if len(set(fmt.levels)) == 1:
        text = fmt.levels[0].value
        if fmt.levels[0] is _C and len(fmt.levels) > 2:
            text = "csf"
    elif fmt.levels == _coo(len(fmt.levels)):
        text = "coo"
    else:
        text = "[" + ", ".join(level.value for level in fmt.levels) + "]"
    if fmt.mode_order != tuple(range(len(fmt.levels))):
        text += " order " + ",".join(map(str, fmt.mode_order))
    return text
