"""Values of modules, computed with NumPy: what every fusion must keep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from fuseloom.errors import DataError, FuseloomError, ProgramError
from fuseloom.stitch.graph import DenseComputation, DenseModule, DenseOperation
from fuseloom.stitch.meaning import (
    control,
    conversions,
    elementwise,
    indexing,
    normalization,
    ordering,
    products,
    reductions,
    shape_changes,
)
from fuseloom.stitch.meaning.values import (
    MOST_BYTES,
    Array,
    DenseValue,
    Meaning,
    fault,
    fits,
    rounded,
    shown,
)
from fuseloom.stitch.shapes import TensorShape, TupleShape, ValueShape

MEANINGS: Mapping[str, Meaning] = {
    **elementwise.MEANINGS,
    **conversions.MEANINGS,
    **shape_changes.MEANINGS,
    **reductions.MEANINGS,
    **ordering.MEANINGS,
    **products.MEANINGS,
    **indexing.MEANINGS,
    **normalization.MEANINGS,
    **control.MEANINGS,
}
"""By opcode: functions of an operation, its operands' values and what it calls."""
MOST_STEPS = 20_000_000
"""Operations that one evaluation computes, again and again within loops."""
MOST_LIVE = 2**34
"""Bytes of values that operations still read."""
MOST_CALLS = 100
"""Calls within each other."""
_REFUSED = {
    "rng": "random numbers", "custom-call": "code of another library", "infeed": "side effects",
    "outfeed": "side effects", "send": "side effects", "recv": "side effects",
    "after-all": "side effects", "all-": "several machines", "collective-": "several machines",
    "reduce-scatter": "several machines", "partition-id": "several machines",
    "replica-id": "several machines", "async-": "several threads", "copy-start": "several threads",
    "copy-done": "several threads", "set-dimension-size": "extents known in a run only",
    "dynamic-reshape": "extents known in a run only",
    "stochastic-convert": "random numbers",
}  # fmt: skip
"""Beginnings of opcodes that have no meaning here, and what they stand for."""
_HELD = {"parameter", "tuple", "get-tuple-element"}
"""Opcodes of values that are others, or parts of them."""
_COMMUTATIVE = {"add", "multiply", "maximum", "minimum", "and", "or", "xor"}
_LIFTED = {
    *elementwise.MEANINGS, "convert", "reduce-precision", "parameter", "constant", "tuple",
    "get-tuple-element", "call",
}  # fmt: skip
"""Opcodes that mean of arrays what they mean of scalars, element by element."""


def evaluate(module: DenseModule, inputs: Mapping[str, Any]) -> tuple[Array, ...]:
    """Compute the results of a module.

    Floats are computed with their own type, sums and products of many of them with float64 and
    rounded once; bf16 is rounded behind each operation.

    Parameters
    ----------
    module : DenseModule
    inputs : mapping
        Arrays for the parameters of the computation that is run, by name.

    Returns
    -------
    tuple of array
        The result, or the arrays of a tuple that is the result.

    Raises
    ------
    DataError
        If an input is missing, is none, or has another type than its parameter.
    ProgramError
        If an operation has no meaning here, its operands do not fit it, it makes a value of another
        type than it says, or the module takes more than it may: memory, iterations, calls.

    Examples
    --------
    >>> from fuseloom.stitch.hlo import read_hlo
    >>> module = read_hlo('''HloModule m
    ... ENTRY main {
    ...   x = f32[3] parameter(0)
    ...   ROOT y = f32[3] multiply(x, x)
    ... }''')
    >>> evaluate(module, {"x": np.float32([1, 2, 3])})
    (array([1., 4., 9.], dtype=float32),)
    """
    values = [_input(one, inputs) for one in module.main.parameters]
    names = {one.name for one in module.main.parameters}
    for name in inputs:
        if name not in names:
            raise DataError(f"{name} is no parameter of {module.entry}")
    with np.errstate(all="ignore"):
        return tuple(_arrays(Evaluation(module).run(module.entry, values)))


def value_of(
    module: DenseModule, operation: DenseOperation, operands: Sequence[DenseValue]
) -> DenseValue:
    """The value of one operation for values of its operands.

    Raises
    ------
    ProgramError
        As :func:`evaluate` does.
    """
    with np.errstate(all="ignore"):
        return Evaluation(module).value(operation, operands)


class Evaluation:
    """The computations of a module, while it is evaluated.

    Parameters
    ----------
    module : DenseModule
    """

    def __init__(self, module: DenseModule) -> None:
        self._module = module
        self._steps = 0
        self._depth = 0
        self._live = 0
        self._combiners: dict[str, str | None] = {}
        self._readers: dict[str, Counter[str]] = {}

    def run(self, name: str, operands: Sequence[DenseValue]) -> DenseValue:
        """The value of a computation; values are given back to memory behind their last reader."""
        computation = self._enter(name, len(operands))
        readers = self._readers.get(name)
        if readers is None:
            reads = [x for one in computation.operations for x in one.operands]
            readers = self._readers[name] = Counter([*reads, computation.root])
        left = readers.copy()
        values: dict[str, DenseValue] = {}
        for operation in computation.operations:
            if operation.opcode == "parameter":
                made = operands[operation.attributes["number"]]
                if not fits(made, operation.shape):
                    raise fault(operation, f"is {operation.shape}, and gets {shown(made)}")
            else:
                made = self.value(operation, [values[x] for x in operation.operands])
            values[operation.name] = made
            self._hold(operation)
            for x in operation.operands:
                left[x] -= 1
                if not left[x]:
                    del values[x]
                    self._live -= _own_bytes(computation.by_name[x])
        self._depth -= 1
        self._live -= sum(_own_bytes(computation.by_name[x]) for x in values)
        return values[computation.root]

    def _hold(self, operation: DenseOperation) -> None:
        """Count the bytes of a value that operations will read."""
        self._live += _own_bytes(operation)
        if self._live > MOST_LIVE:
            raise fault(operation, f"brings values to more than {MOST_LIVE:,} bytes")

    def value(self, operation: DenseOperation, operands: Sequence[DenseValue]) -> DenseValue:
        """The value of an operation, which is of the type that it says."""
        meaning = self._meaning(operation)
        if operation.shape.byte_size > MOST_BYTES:
            raise fault(operation, f"makes more than {MOST_BYTES:,} bytes")
        try:
            made = rounded(meaning(operation, operands, self), operation.shape)
        except FuseloomError:
            raise
        except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
            raise fault(operation, "has operands or attributes that do not fit it") from error
        except MemoryError:
            raise fault(operation, "takes more memory than there is") from None
        if not fits(made, operation.shape):
            raise fault(operation, f"is said to be {operation.shape}, and makes {shown(made)}")
        return made

    def run_elementwise(self, name: str, operands: Sequence[Array]) -> tuple[Array, ...]:
        """The values of a computation of scalars for all elements of arrays of one shape."""
        shape = np.shape(operands[0])
        if not self._lifted.get(name, False):
            rows = [
                _arrays(self.run(name, [np.asarray(one[index]) for one in operands]))
                for index in np.ndindex(shape)
            ]
            if not rows:
                shapes = _parts(self._computation(name))
                return tuple(np.empty(shape, one.dtype) for one in shapes)
            columns = zip(*rows, strict=True)
            return tuple(np.stack(column).reshape(shape) for column in columns)
        return tuple(_arrays(self._run_lifted(name, operands, shape)))

    def _run_lifted(
        self, name: str, operands: Sequence[DenseValue], shape: tuple[int, ...]
    ) -> DenseValue:
        computation = self._enter(name, len(operands))
        values: dict[str, DenseValue] = {}
        for operation in computation.operations:
            given = [values[x] for x in operation.operands]
            if operation.opcode == "parameter":
                made = np.asarray(operands[operation.attributes["number"]])
            elif operation.opcode == "constant":
                made = np.broadcast_to(np.asarray(operation.literal), shape)
            elif operation.opcode == "call":
                made = self._run_lifted(operation.attributes["to_apply"], given, shape)
            else:
                made = rounded(self._meaning(operation)(operation, given, self), operation.shape)
            values[operation.name] = made
        self._depth -= 1
        return values[computation.root]

    def combiner(self, name: str) -> str | None:
        """The opcode of a computation that is one operation of its two parameters."""
        if name not in self._combiners:
            self._combiners[name] = _combiner(self._computation(name))
        return self._combiners[name]

    @cached_property
    def _lifted(self) -> Mapping[str, bool]:
        """True for computations of scalars that are computed for whole arrays at once."""
        made: dict[str, bool] = {}
        for name, computation in self._module.computations.items():  # callees come first
            made[name] = all(
                one.opcode in _LIFTED
                and all(not shape.rank for shape in _shapes(one.shape))
                and (one.opcode != "call" or made.get(one.attributes["to_apply"], False))
                for one in computation.operations
            )
        return made

    def _computation(self, name: str) -> DenseComputation:
        computation = self._module.computations.get(name)
        if computation is None:
            raise ProgramError(f"there is no computation {name}")
        return computation

    def _enter(self, name: str, operands: int) -> DenseComputation:
        computation = self._computation(name)
        if len(computation.parameters) != operands:
            raise ProgramError(
                f"{name} has {len(computation.parameters)} parameters, and gets {operands} values"
            )
        self._depth += 1
        if self._depth > MOST_CALLS:
            raise ProgramError(f"more than {MOST_CALLS} calls are within each other")
        return computation

    def _meaning(self, operation: DenseOperation) -> Meaning:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise fault(operation, f"is beyond the {MOST_STEPS:,} operations that one run may take")
        meaning = MEANINGS.get(operation.opcode)
        if meaning is None:
            raise _refused(operation)
        return meaning


def _refused(operation: DenseOperation) -> ProgramError:
    target = operation.attributes.get("custom_call_target")
    of = f" of {target}" if target else ""
    for beginning, what in _REFUSED.items():
        if operation.opcode.startswith(beginning):
            return fault(operation, f"has no meaning here{of}: it stands for {what}")
    return fault(operation, "has no meaning here: the opcode is not known")


def _own_bytes(operation: DenseOperation) -> int:
    """Bytes of a value, if it is not made of others."""
    return 0 if operation.opcode in _HELD else operation.shape.byte_size


def _combiner(computation: DenseComputation) -> str | None:
    root = computation.by_name[computation.root]
    names = [one.name for one in computation.parameters]
    if len(names) != 2 or len(_parts(computation)) != 1:
        return None
    if root.opcode == "parameter":
        return "parameter" if root.name == names[1] else None
    if list(root.operands) == names:
        return root.opcode
    backwards = list(root.operands) == names[::-1] and root.opcode in _COMMUTATIVE
    return root.opcode if backwards else None


def _parts(computation: DenseComputation) -> list[TensorShape]:
    return _shapes(computation.by_name[computation.root].shape)


def _shapes(shape: ValueShape) -> list[TensorShape]:
    if isinstance(shape, TupleShape):
        return [one for part in shape.parts for one in _shapes(part)]
    return [shape]


def _arrays(value: DenseValue) -> list[Array]:
    if isinstance(value, tuple):
        return [one for part in value for one in _arrays(part)]
    return [np.asarray(value)]


def _input(parameter: DenseOperation, inputs: Mapping[str, Any]) -> DenseValue:
    if parameter.name not in inputs:
        raise DataError(f"there is no value for the parameter {parameter.name}")
    return _typed(parameter.name, inputs[parameter.name], parameter.shape)


def _typed(name: str, value: Any, shape: ValueShape) -> DenseValue:
    if isinstance(shape, TupleShape):
        if not isinstance(value, tuple) or len(value) != len(shape.parts):
            raise DataError(f"{name} is {shape}, and gets what is no tuple of its length")
        return tuple(_typed(name, *pair) for pair in zip(value, shape.parts, strict=True))
    array = np.asarray(value)
    if array.shape != shape.dims or not np.can_cast(array.dtype, shape.dtype, "same_kind"):
        raise DataError(f"{name} is {shape}, and gets {shown(array)}")
    return rounded(array.astype(shape.dtype, copy=False), shape)
