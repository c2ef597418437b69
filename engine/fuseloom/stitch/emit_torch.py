"""PyTorch of computations: operation by operation, and with kernels in the place of operations.

The former is the baseline that PyTorch runs, as it is or compiled; the latter calls a function for
each kernel, and runs what is in none, such as calls of libraries, with PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from string import ascii_letters
from typing import TypeAlias

from fuseloom.errors import LoweringError
from fuseloom.stitch.graph import DenseModule, DenseOperation
from fuseloom.stitch.kernel_code import KernelCode
from fuseloom.stitch.meaning.evaluation import Evaluation
from fuseloom.stitch.run_order import run_order
from fuseloom.stitch.stitched import DeepFusion

TORCH_TYPES: Mapping[str, str] = {
    "pred": "torch.bool", "bf16": "torch.float32", "f32": "torch.float32", "f64": "torch.float64",
    "s8": "torch.int8", "s16": "torch.int16", "s32": "torch.int32", "s64": "torch.int64",
    "u8": "torch.uint8",
}  # fmt: skip
_CALLS = {
    "abs": "torch.abs", "add": "torch.add", "and": "torch.bitwise_and", "atan2": "torch.atan2",
    "ceil": "torch.ceil", "cosine": "torch.cos", "divide": "torch.div", "erf": "torch.erf",
    "exponential": "torch.exp", "exponential-minus-one": "torch.expm1", "floor": "torch.floor",
    "is-finite": "torch.isfinite", "log": "torch.log", "log-plus-one": "torch.log1p",
    "logistic": "torch.sigmoid", "maximum": "torch.maximum", "minimum": "torch.minimum",
    "multiply": "torch.mul", "negate": "torch.neg", "not": "torch.bitwise_not",
    "or": "torch.bitwise_or", "power": "torch.pow", "remainder": "torch.fmod",
    "round-nearest-even": "torch.round", "rsqrt": "torch.rsqrt", "select": "torch.where",
    "sign": "torch.sign", "sine": "torch.sin", "sqrt": "torch.sqrt", "subtract": "torch.sub",
    "tan": "torch.tan", "tanh": "torch.tanh", "xor": "torch.bitwise_xor",
}  # fmt: skip
"""Functions of PyTorch by opcode, of the same operands."""
_FLOATS_ONLY = {"divide", "power", "remainder", "sign"}
"""Opcodes that mean something else of integers there."""
_COMPARISONS = {
    "EQ": "torch.eq", "NE": "torch.ne", "LT": "torch.lt", "LE": "torch.le", "GT": "torch.gt",
    "GE": "torch.ge",
}  # fmt: skip
_REDUCTIONS = {
    "add": ("torch.sum({0}, {1}, dtype={2})", "torch.add"),
    "maximum": ("torch.amax({0}, {1})", "torch.maximum"),
    "minimum": ("torch.amin({0}, {1})", "torch.minimum"),
    "and": ("torch.all({0}, {1})", "torch.logical_and"),
    "or": ("torch.any({0}, {1})", "torch.logical_or"),
}  # fmt: skip
"""By what combines two values: the reduction, and the function of its result and the start."""


def emit_torch(module: DenseModule, fusion: DeepFusion, codes: Sequence[KernelCode] = ()) -> str:
    """Write a computation as a file of Python with two functions.

    ``whole(given, constants)`` runs it operation by operation, and ``stitched(launch, given,
    constants)`` kernel by kernel: ``launch(function, tensors)`` is called for each, and returns
    what the kernel writes.  ``given`` are the parameters in order, ``constants`` tensors by the
    names of constants, and the result is a tuple.

    Parameters
    ----------
    module : DenseModule
    fusion : DeepFusion
    codes : sequence of KernelCode
        Kernels that are launched; the operations of others run one by one.

    Raises
    ------
    LoweringError
        If an operation has no form here.

    Examples
    --------
    >>> from fuseloom.stitch.fusion import fuse
    >>> from fuseloom.stitch.hlo import read_hlo
    >>> module = read_hlo('''HloModule m
    ... ENTRY main {
    ...   x = f32[3] parameter(0)
    ...   y = f32[3] multiply(x, x)
    ...   ROOT z = f32[3] add(x, y)
    ... }''')
    >>> print(emit_torch(module, fuse(module.main)).split("def stitched")[0].strip())
    import torch
    <BLANKLINE>
    <BLANKLINE>
    def whole(given, constants):
        v0 = given[0]
        v1 = torch.mul(v0, v0)
        v2 = torch.add(v0, v1)
        return (v2,)
    """
    writer = _TorchWriter(module, fusion)
    order = run_order(fusion)
    known = {code.kernel: code for code in codes if code.phased is not None}
    stitched: list[str] = []
    whole: list[str] = []
    for key in order:
        if isinstance(key, str):
            lines = writer.lines((key,))
            stitched += lines
        else:
            kernel = fusion.kernels[key]
            lines = writer.lines(kernel.operations)
            code = known.get(kernel.name)
            stitched += lines if code is None else writer.launch(code)
        whole += lines
    returned = ", ".join(writer.name(one) for one in fusion.computation.outputs)
    parts = [
        "import torch", "", "",
        "def whole(given, constants):", *whole, f"    return ({returned},)", "", "",
        "def stitched(launch, given, constants):", *stitched, f"    return ({returned},)", "",
    ]  # fmt: skip
    return "\n".join(parts)


class _TorchWriter:
    """Writes operations as statements."""

    def __init__(self, module: DenseModule, fusion: DeepFusion) -> None:
        self.module = module
        self.computation = fusion.computation
        self.numbers: dict[str, int] = {}
        self.keys = {operation.name: key for key, operation in constants_of(fusion)}

    def name(self, operation: str) -> str:
        """The variable of an operation."""
        return f"v{self.numbers.setdefault(operation, len(self.numbers))}"

    def lines(self, operations: Sequence[str]) -> list[str]:
        """A statement for each operation that has a value of its own."""
        made = []
        for name in operations:
            operation = self.computation.by_name[name]
            if operation.opcode != "tuple":
                operands = [self.name(one) for one in operation.operands]
                made.append(f"    {self.name(name)} = {self.text(operation, operands)}")
        return made

    def launch(self, code: KernelCode) -> list[str]:
        """The call of a kernel."""
        assert code.phased is not None
        given = ", ".join(self.name(one.name) for one in code.phased.inputs)
        made = ", ".join(self.name(one.name) for one in code.phased.outputs)
        return [f'    {made}, = launch("{code.function}", [{given}])']

    def text(self, operation: DenseOperation, operands: Sequence[str]) -> str:
        """The expression of an operation."""
        opcode, shape = operation.opcode, operation.array
        if shape.element not in TORCH_TYPES or shape.element == "bf16":
            raise _no_torch(operation, f"has elements of {shape.element}")
        if opcode in _WRITERS:
            return _WRITERS[opcode](self, operation, operands)
        if opcode not in _CALLS or (opcode in _FLOATS_ONLY and shape.dtype.kind != "f"):
            raise _no_torch(operation, f"is {opcode} of {shape.element}")
        return f"{_CALLS[opcode]}({', '.join(operands)})"

    def operand(self, operation: DenseOperation, number: int) -> DenseOperation:
        """An operation that another reads."""
        return self.computation.by_name[operation.operands[number]]


_Writer: TypeAlias = Callable[[_TorchWriter, DenseOperation, Sequence[str]], str]


def _no_torch(operation: DenseOperation, words: str) -> LoweringError:
    return LoweringError(f"{operation.name} {words}, which has no form in PyTorch here")


def _parameter(_: _TorchWriter, operation: DenseOperation, __: Sequence[str]) -> str:
    return f"given[{operation.attributes['number']}]"


def _constant(writer: _TorchWriter, operation: DenseOperation, __: Sequence[str]) -> str:
    return f'constants["{writer.keys[operation.name]}"]'


def _same(_: _TorchWriter, __: DenseOperation, operands: Sequence[str]) -> str:
    return operands[0]


def _reshape(_: _TorchWriter, operation: DenseOperation, operands: Sequence[str]) -> str:
    return f"{operands[0]}.reshape({_list(operation.array.dims)})"


def _broadcast(writer: _TorchWriter, operation: DenseOperation, operands: Sequence[str]) -> str:
    dims, given = operation.array.dims, writer.operand(operation, 0).array.dims
    wide = [1] * len(dims)
    for place, extent in zip(operation.attributes.get("dimensions", ()), given, strict=True):
        wide[place] = extent
    return f"{operands[0]}.reshape({_list(wide)}).expand({_list(dims)})"


def _transpose(_: _TorchWriter, operation: DenseOperation, operands: Sequence[str]) -> str:
    return f"{operands[0]}.permute({_list(operation.attributes['dimensions'])})"


def _slice(_: _TorchWriter, operation: DenseOperation, operands: Sequence[str]) -> str:
    bounds = [":".join(map(str, one)) for one in operation.attributes["slice"]]
    return f"{operands[0]}[{', '.join(bounds)}]" if bounds else operands[0]


def _reverse(_: _TorchWriter, operation: DenseOperation, operands: Sequence[str]) -> str:
    return f"torch.flip({operands[0]}, {_list(operation.attributes['dimensions'])})"


def _concatenate(_: _TorchWriter, operation: DenseOperation, operands: Sequence[str]) -> str:
    (along,) = operation.attributes["dimensions"]
    return f"torch.cat([{', '.join(operands)}], {along})"


def _convert(_: _TorchWriter, operation: DenseOperation, operands: Sequence[str]) -> str:
    return f"{operands[0]}.to({TORCH_TYPES[operation.array.element]})"


def _compare(_: _TorchWriter, operation: DenseOperation, operands: Sequence[str]) -> str:
    if operation.attributes.get("type") == "TOTALORDER":
        raise _no_torch(operation, "compares by a total order")
    return f"{_COMPARISONS[operation.attributes['direction']]}({', '.join(operands)})"


def _clamp(_: _TorchWriter, __: DenseOperation, operands: Sequence[str]) -> str:
    low, value, high = operands
    return f"torch.minimum(torch.maximum({value}, {low}), {high})"


def _iota(_: _TorchWriter, operation: DenseOperation, __: Sequence[str]) -> str:
    dims, along = operation.array.dims, operation.attributes["iota_dimension"]
    wide = [extent if place == along else 1 for place, extent in enumerate(dims)]
    kind = TORCH_TYPES[operation.array.element]
    # The device is the default one, which the caller sets.
    return f"torch.arange({dims[along]}, dtype={kind}).reshape({_list(wide)}).expand({_list(dims)})"


def _reduce(writer: _TorchWriter, operation: DenseOperation, operands: Sequence[str]) -> str:
    opcode = Evaluation(writer.module).combiner(operation.attributes["to_apply"])
    if len(operands) != 2 or opcode not in _REDUCTIONS:
        raise _no_torch(operation, "reduces by another computation than a sum or an extreme")
    element = operation.array.element
    if element == "pred":
        opcode = {"add": "or", "maximum": "or", "minimum": "and"}.get(opcode, opcode)
    dims = operation.attributes["dimensions"]
    if not dims:
        return f"{_REDUCTIONS[opcode][1]}({', '.join(operands)})"
    form, combine = _REDUCTIONS[opcode]
    if opcode in ("and", "or") and len(dims) > 1:
        raise _no_torch(operation, "reduces several dimensions of truth values")
    along = str(dims[0]) if opcode in ("and", "or") else _list(dims)
    return f"{combine}({form.format(operands[0], along, TORCH_TYPES[element])}, {operands[1]})"


def _dot(writer: _TorchWriter, operation: DenseOperation, operands: Sequence[str]) -> str:
    names = iter(ascii_letters)
    sides: list[list[str]] = []
    shared: dict[str, list[str]] = {"batch": [], "contracting": []}
    for number, side in enumerate(("lhs", "rhs")):
        own: dict[int, str] = {}
        for kind, letters in shared.items():
            for place, dim in enumerate(operation.attributes.get(f"{side}_{kind}_dims", ())):
                if number == 0:
                    letters.append(next(names))
                own[dim] = letters[place]
        rank = writer.operand(operation, number).array.rank
        sides.append([own.get(dim) or next(names) for dim in range(rank)])
    summed = set(shared["contracting"])
    result = [*shared["batch"]]
    for side_ in sides:
        result += [one for one in side_ if one not in summed and one not in shared["batch"]]
    left, right = ("".join(one) for one in sides)
    return f'torch.einsum("{left},{right}->{"".join(result)}", {", ".join(operands)})'


def _pad(writer: _TorchWriter, operation: DenseOperation, operands: Sequence[str]) -> str:
    padding = operation.attributes["padding"]
    if any(interior for _, _, interior in padding):
        raise _no_torch(operation, "pads between elements")
    sides = [size for low, high, _ in reversed(padding) for size in (low, high)]
    value = writer.operand(operation, 1)
    if value.literal is None:
        raise _no_torch(operation, "pads with a value that is computed")
    number = repr(value.literal.reshape(()).item())
    return f"torch.nn.functional.pad({operands[0]}, {_list(sides)}, value={number})"


_WRITERS: Mapping[str, _Writer] = {
    "bitcast": _reshape, "broadcast": _broadcast, "clamp": _clamp, "compare": _compare,
    "concatenate": _concatenate, "constant": _constant, "convert": _convert, "copy": _same,
    "dot": _dot, "iota": _iota, "pad": _pad, "parameter": _parameter, "reduce": _reduce,
    "reshape": _reshape, "reverse": _reverse, "slice": _slice, "transpose": _transpose,
}  # fmt: skip


def constants_of(fusion: DeepFusion) -> Iterator[tuple[str, DenseOperation]]:
    """Names and constants of a computation, as its text refers to them."""
    for place, operation in enumerate(fusion.computation.operations):
        if operation.opcode == "constant" and operation.literal is not None:
            yield f"c{place}", operation


def _list(numbers: Sequence[int]) -> str:
    return f"[{', '.join(map(str, numbers))}]"
