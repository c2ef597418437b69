"""Classes of operations, by which fusion decides: a table of the opcodes of HLO."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, StrEnum
from math import prod

from fuseloom.stitch.graph import DenseComputation, DenseOperation
from fuseloom.stitch.shapes import TensorShape, TupleShape


class OperationClass(StrEnum):
    """Classes of opcodes."""

    CHEAP = "cheap elementwise"
    """Elementwise; an element costs about as much as reading it."""
    EXPENSIVE = "expensive elementwise"
    """Elementwise; recomputing an element is worth avoiding."""
    MODULATION = "shape modulation"
    """Moves, repeats, converts or leaves out elements."""
    INDEXED = "indexed"
    """Reads elements at positions that are computed when it runs."""
    REDUCE = "reduce"
    PRODUCT = "dot"
    CALL = "library call"
    """Runs in a library, whose kernels nothing is fused into."""
    SEPARATE = "separate"
    """A kernel of its own, that nothing is fused into."""
    VALUE = "value"
    """Names what is in memory already."""
    CONTROL = "control"
    """Runs other computations."""
    OPAQUE = "opaque"
    """Unknown: nothing is fused into it, nor across it."""


class ProductFusion(Enum):
    """The dots that may be fused; the others are calls of libraries."""

    NEVER = "never"
    BATCHED = "batched"
    ALL = "all"


_CHEAP = (
    "abs", "add", "and", "bitcast-convert", "ceil", "clamp", "compare", "complex",
    "count-leading-zeros", "floor", "imag", "is-finite", "maximum", "minimum", "multiply",
    "negate", "not", "or", "popcnt", "real", "reduce-precision", "round-nearest-afz",
    "round-nearest-even", "select", "shift-left", "shift-right-arithmetic",
    "shift-right-logical", "sign", "subtract", "xor",
)  # fmt: skip
_EXPENSIVE = (
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cosh", "cosine", "divide",
    "erf", "exponential", "exponential-minus-one", "log", "log-plus-one", "logistic", "map",
    "power", "remainder", "rsqrt", "sine", "sinh", "sqrt", "stochastic-convert", "tan", "tanh",
)  # fmt: skip
_MODULATION = (
    "bitcast", "broadcast", "concatenate", "convert", "copy", "iota", "pad", "reshape", "reverse",
    "slice", "transpose",
)  # fmt: skip
_INDEXED = ("dynamic-slice", "dynamic-update-slice", "gather")
_CALLS = (
    "cholesky", "convolution", "custom-call", "fft", "sort", "topk", "triangular-solve",
    "batch-norm-grad", "batch-norm-inference", "batch-norm-training",
)  # fmt: skip
_SEPARATE = (
    "fusion", "reduce-window", "rng", "rng-bit-generator", "rng-get-and-update-state", "scatter",
    "select-and-scatter",
)  # fmt: skip
_VALUES = ("constant", "get-tuple-element", "parameter", "tuple")
_CONTROL = ("call", "conditional", "while")

OPCODES: Mapping[str, OperationClass] = {
    **dict.fromkeys(_CHEAP, OperationClass.CHEAP),
    **dict.fromkeys(_EXPENSIVE, OperationClass.EXPENSIVE),
    **dict.fromkeys(_MODULATION, OperationClass.MODULATION),
    **dict.fromkeys(_INDEXED, OperationClass.INDEXED),
    "reduce": OperationClass.REDUCE,
    "dot": OperationClass.PRODUCT,
    **dict.fromkeys(_CALLS, OperationClass.CALL),
    **dict.fromkeys(_SEPARATE, OperationClass.SEPARATE),
    **dict.fromkeys(_VALUES, OperationClass.VALUE),
    **dict.fromkeys(_CONTROL, OperationClass.CONTROL),
}
"""The class of each opcode that is known.  Expensive are those that XLA's instruction fusion takes
for expensive, division among them."""
ELEMENTWISE = frozenset({*_CHEAP, *_EXPENSIVE, "convert", "copy"})
"""Opcodes whose element depends on the same element of each operand."""
POINTWISE = frozenset(
    {OperationClass.CHEAP, OperationClass.EXPENSIVE, OperationClass.MODULATION}
)  # fmt: skip
"""Classes whose elements can each be computed where they are read."""


def class_of(opcode: str) -> OperationClass:
    """Return the class of an opcode.

    Examples
    --------
    >>> class_of("divide"), class_of("broadcast"), class_of("all-reduce")
    (<OperationClass.EXPENSIVE: 'expensive elementwise'>, <OperationClass.MODULATION: \
'shape modulation'>, <OperationClass.OPAQUE: 'opaque'>)
    """
    return OPCODES.get(opcode, OperationClass.OPAQUE)


def operation_class(operation: DenseOperation) -> OperationClass:
    """Return the class of an operation: that of its opcode, unless it makes several arrays.

    Those that would be fused and make a tuple, such as a reduction of two arrays at once, are
    kernels of their own.
    """
    found = class_of(operation.opcode)
    fused = found in POINTWISE or found in (OperationClass.REDUCE, OperationClass.INDEXED)
    if fused and isinstance(operation.shape, TupleShape):
        return OperationClass.SEPARATE
    return found


def is_batched(operation: DenseOperation) -> bool:
    """Tell if a dot has batch dimensions.

    Examples
    --------
    >>> shape = TensorShape("f32", (8, 4, 4))
    >>> is_batched(DenseOperation("y", "dot", shape, ("a", "b"), {"lhs_batch_dims": (0,)}))
    True
    """
    return operation.opcode == "dot" and bool(operation.attributes.get("lhs_batch_dims"))


def is_library_call(
    operation: DenseOperation, products: ProductFusion = ProductFusion.NEVER
) -> bool:
    """Tell if an operation runs in a library; whether a dot does is the user's choice.

    Examples
    --------
    >>> dot = DenseOperation("y", "dot", TensorShape("f32", (4, 4)), ("a", "b"))
    >>> is_library_call(dot), is_library_call(dot, ProductFusion.ALL)
    (True, False)
    """
    found = class_of(operation.opcode)
    if found is OperationClass.PRODUCT:
        if products is ProductFusion.BATCHED:
            return not is_batched(operation)
        return products is ProductFusion.NEVER
    return found is OperationClass.CALL


def is_barrier(operation: DenseOperation, products: ProductFusion = ProductFusion.NEVER) -> bool:
    """Tell if nothing is fused across the layer of an operation."""
    found = class_of(operation.opcode)
    return found in (OperationClass.CONTROL, OperationClass.OPAQUE) or is_library_call(
        operation, products
    )


def is_bitcast(computation: DenseComputation, operation: DenseOperation) -> bool:
    """Tell if an operation leaves the elements in memory as they are.

    All arrays lie row by row, so every reshape does, and a transposition that moves only
    dimensions of one element.

    Examples
    --------
    >>> x = DenseOperation("x", "parameter", TensorShape("f32", (1, 4, 3)))
    >>> moved = TensorShape("f32", (4, 1, 3))
    >>> y = DenseOperation("y", "transpose", moved, ("x",), {"dimensions": (1, 0, 2)})
    >>> is_bitcast(DenseComputation("move", (x, y), "y"), y)
    True
    """
    if operation.opcode in ("reshape", "bitcast"):
        return True
    if operation.opcode != "transpose":
        return False
    dims = computation.by_name[operation.operands[0]].array.dims
    order = [old for old in operation.attributes["dimensions"] if dims[old] != 1]
    return order == sorted(order)


def has_no_elements(operation: DenseOperation) -> bool:
    """Tell if an operation makes an array without elements."""
    return isinstance(operation.shape, TensorShape) and operation.shape.elements == 0


def is_launched(computation: DenseComputation, operation: DenseOperation) -> bool:
    """Tell if an operation takes a kernel where it is not fused.

    Parameters, constants, tuples, parts of tuples, and bitcasts take none, nor does what makes no
    elements.

    Examples
    --------
    >>> shape = TensorShape("f32", (4,))
    >>> x = DenseOperation("x", "parameter", shape)
    >>> y = DenseOperation("y", "negate", shape, ("x",))
    >>> both = DenseComputation("negative", (x, y), "y")
    >>> [is_launched(both, one) for one in both.operations]
    [False, True]
    """
    if class_of(operation.opcode) in (OperationClass.VALUE, OperationClass.CONTROL):
        return False
    return not has_no_elements(operation) and not is_bitcast(computation, operation)


def is_light(computation: DenseComputation, operation: DenseOperation) -> bool:
    """Tell if an operation is computed again by each of its readers rather than stored.

    These are bitcasts, iotas, slices, and broadcasts, which read no more than they make.
    """
    return operation.opcode in ("iota", "broadcast", "slice") or is_bitcast(computation, operation)


def reuses_operands(computation: DenseComputation, operation: DenseOperation) -> bool:
    """Tell if an operation reads an element of an operand for several elements of its result.

    Examples
    --------
    >>> x = DenseOperation("x", "parameter", TensorShape("f32", (4,)))
    >>> wide = TensorShape("f32", (3, 4))
    >>> y = DenseOperation("y", "broadcast", wide, ("x",), {"dimensions": (1,)})
    >>> reuses_operands(DenseComputation("rows", (x, y), "y"), y)
    True
    """
    found = operation_class(operation)
    if found is OperationClass.PRODUCT or operation.opcode == "gather":
        return True
    if operation.opcode != "broadcast":
        return False
    return computation.by_name[operation.operands[0]].array.elements < operation.array.elements


def work_of(computation: DenseComputation, operation: DenseOperation) -> int:
    """Count the elements that an operation makes, or reads where it reads more.

    Examples
    --------
    >>> x = DenseOperation("x", "parameter", TensorShape("f32", (8, 4)))
    >>> zero = DenseOperation("zero", "constant", TensorShape("f32", ()))
    >>> sums = TensorShape("f32", (8,))
    >>> y = DenseOperation("y", "reduce", sums, ("x", "zero"), {"dimensions": (1,)})
    >>> work_of(DenseComputation("sums", (x, zero, y), "y"), y)
    32
    """
    if isinstance(operation.shape, TupleShape):
        return 0
    own = operation.shape.elements
    if operation.opcode == "dot":
        dims = computation.by_name[operation.operands[0]].array.dims
        summed: tuple[int, ...] = operation.attributes.get("lhs_contracting_dims", ())
        return own * prod(dims[dim] for dim in summed)
    if operation.opcode == "reduce":
        return max(own, computation.by_name[operation.operands[0]].array.elements)
    return own
