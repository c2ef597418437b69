"""The declaration of one tensor: its name, shape, format and relation."""

from __future__ import annotations

from collections.abc import Callable

from fuseloom.errors import ProgramError
from fuseloom.program.formats import LevelFormat
from fuseloom.program.functions import Op
from fuseloom.program.limits import MAX_DIMENSION, MAX_NAME_CHARS, MAX_RANK, NAME
from fuseloom.program.relations import check_relation
from fuseloom.program.tile_arrays import block_problem
from fuseloom.program.types import Tensor
from fuseloom.wording import counted

RESERVED = frozenset({"program", "option", "output", "min", "nonzero"}) | {
    op.value for op in Op if op.value.isalpha() and not op.takes_constant
}

Refuse = Callable[..., ProgramError]
"""Makes the error of a message, a hint, and the keys of places in the text, the first best."""


def check_name(refuse: Refuse, what: str, name: str, *keys: tuple[str | int, ...]) -> None:
    if len(name) > MAX_NAME_CHARS:
        raise refuse(
            f"the name {name[:20]}... has {counted(len(name), 'character')}",
            f"the limit is {MAX_NAME_CHARS}",
            *keys,
        )
    if not NAME.fullmatch(name):
        raise refuse(
            f"{what} cannot be called {name!r}",
            "a name is a letter or _, then letters, digits, _ or '",
            *keys,
        )


def check_tensor_name(refuse: Refuse, name: str, *keys: tuple[str | int, ...]) -> None:
    check_name(refuse, "a tensor", name, *keys)
    if name in RESERVED:
        raise refuse(
            f"{name} is a word of the language and cannot name a tensor",
            f"call it {name}_ or {name.upper()}",
            *keys,
        )


def check_shape(refuse: Refuse, tensor: Tensor, *keys: tuple[str | int, ...]) -> None:
    if tensor.rank > MAX_RANK:
        raise refuse(
            f"tensor {tensor.name} has {counted(tensor.rank, 'dimension')}, the limit is "
            f"{MAX_RANK}",
            "merge dimensions",
            *keys,
        )
    for axis, size in enumerate(tensor.shape):
        if size <= 0:
            raise refuse(
                f"dimension {axis} of {tensor.name} is {size}",
                "a dimension is at least 1",
                *keys,
            )
        if size > MAX_DIMENSION:
            raise refuse(
                f"dimension {axis} of {tensor.name} exceeds {MAX_DIMENSION:,}",
                "coordinates are 32-bit; split the dimension in two",
                *keys,
            )


def check_format(refuse: Refuse, tensor: Tensor, n: int) -> None:
    levels, order = tensor.format.levels, tensor.format.mode_order
    at_format, at_name = ("tensor", n, "format"), ("tensor", n, "name")
    if len(levels) != tensor.rank:
        raise refuse(
            f"tensor {tensor.name} has {counted(tensor.rank, 'dimension')} but its format has "
            f"{counted(len(levels), 'level')}",
            "give one level format per dimension, e.g. [dense, compressed], "
            "or one word for all, e.g. csf",
            at_format,
            at_name,
        )
    if sorted(order) != list(range(tensor.rank)):
        raise refuse(
            f"the mode order {','.join(map(str, order))} of {tensor.name} is not a "
            f"permutation of its {counted(tensor.rank, 'dimension')}",
            f"name each of {','.join(map(str, range(tensor.rank)))} once",
            ("tensor", n, "order"),
            at_format,
            at_name,
        )
    if levels[:1] == (LevelFormat.SINGLETON,):
        raise refuse(
            f"tensor {tensor.name} has a singleton level outermost, but a singleton level "
            "keeps one coordinate per position of the level above",
            "start with a compressed level, e.g. coo",
            at_format,
            at_name,
        )

    if problem := block_problem(tensor):
        raise refuse(*problem, ("tensor", n, "block"), at_format, at_name)


def check_made(refuse: Refuse, tensor: Tensor, n: int, producer: int | None) -> None:
    """A tensor that is made says where one of its indices lies, and nothing assigns it."""
    if tensor.made is None:
        return
    at = ("tensor", n, "name")
    try:
        check_relation(tensor.name, tensor.made, tensor.shape)
    except ProgramError as problem:
        raise refuse(problem.message, problem.hint or "", at) from None
    if LevelFormat.SINGLETON in tensor.format.levels and not tensor.made.total(tensor.shape):
        raise refuse(
            f"{tensor.name} may lack a coordinate, and a singleton level keeps one",
            "use compressed",
            ("tensor", n, "format"),
            at,
        )
    if producer is not None:
        raise refuse(
            f"{tensor.name} is assigned, and its declaration says what it holds",
            "give the result another name",
            ("access", producer, 0),
            at,
        )
