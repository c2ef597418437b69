"""The names of a function, and what they stand for."""

from __future__ import annotations

from fuseloom.frontends.mlir.builder import MlirBuilder, unknown
from fuseloom.frontends.mlir.syntax import Type, Typed, Use, refuse_meaning
from fuseloom.frontends.mlir.values import (
    Blank,
    ConstantNumber,
    ConstantTensor,
    Extent,
    Ignored,
    Value,
    View,
    constant_tensor,
    stated,
)
from fuseloom.program.syntax import SourcePlace
from fuseloom.wording import counted

FOREIGN = "give the file as it is on tensors of floats and integers, before other passes"


class Scope:
    """Values by name."""

    def __init__(self, builder: MlirBuilder) -> None:
        self.builder = builder
        self.values: dict[tuple[str, int], Value] = {}

    def define(self, name: str, number: int, value: Value, place: SourcePlace) -> None:
        """Give a value its name."""
        if (name, number) in self.values:
            raise refuse_meaning(f"%{name} is defined twice", "give each value its own name", place)
        self.values[name, number] = value

    def value(self, use: Use) -> Value:
        """Return the value of a name."""
        found = self.values.get((use.name, use.number))
        if found is None:
            raise unknown(str(use), use.name, [name for name, _ in self.values], use.place)
        return found

    def typed(self, typed: Typed) -> Value:
        """A value that the text gives a type, which must have its sizes."""
        value = self.value(typed.use)
        if typed.type.foreign and not isinstance(value, Ignored):
            value = Ignored(typed.type.foreign)
        self.agree(value, typed.type, str(typed.use))
        return value

    def agree(self, value: Value, type_: Type, what: str) -> None:
        """Make the sizes of a value and of a type one, or refuse what differs."""
        if not isinstance(value, View | ConstantTensor | Blank):
            return
        if len(value.sizes) != type_.rank:
            raise refuse_meaning(
                f"{what} has {counted(len(value.sizes), 'dimension')}, its type {type_.rank}",
                "a use repeats the type of the value",
                type_.place,
            )
        for axis, (size, other) in enumerate(zip(value.sizes, stated(type_), strict=True)):
            if not size.equate(other):
                raise refuse_meaning(
                    f"dimension {axis} of {what} is {size.value}, its type says {other.value}",
                    "a use repeats the type of the value",
                    type_.place,
                )

    def view(self, typed: Typed) -> View:
        """A value that is read: a tensor of the program."""
        value = self.typed(typed)
        if isinstance(value, ConstantTensor):
            return self.builder.constant(value)
        if isinstance(value, Blank) and value.fill is not None:
            return self.builder.constant(filled(value, typed.use.name, typed.use.place))
        if isinstance(value, Ignored):
            raise value.error(f"{typed.use} cannot be read", typed.use.place)
        if not isinstance(value, View):
            raise refuse_meaning(
                f"{typed.use} cannot be read: it has no elements", "leave it out", typed.use.place
            )
        return value

    def number(self, given: int | Use) -> int:
        """A place that the text says as a number, or as a value that is one."""
        if isinstance(given, int):
            return given
        value = self.value(given)
        if isinstance(value, ConstantNumber) and value.value == int(value.value):
            return int(value.value)
        if isinstance(value, Extent) and value.size.value is not None:
            return value.size.value
        raise refuse_meaning(
            f"{given} is not known here", "write the number; programs read at known places",
            given.place,
        )  # fmt: skip


def filled(blank: Blank, name: str, place: SourcePlace) -> ConstantTensor:
    """A filled tensor as the constant it is."""
    assert blank.fill is not None
    return constant_tensor(name, blank.fill, blank.sizes, place, blank.format)
