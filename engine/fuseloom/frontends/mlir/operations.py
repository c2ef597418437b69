"""Reading operations."""

from __future__ import annotations

from fuseloom.frontends.mlir.cursor import generic_form, integer, refuse
from fuseloom.frontends.mlir.linalg_reader import DEFAULTS, ELEMENTWISE, SHORT, LinalgReader
from fuseloom.frontends.mlir.named import NAMED
from fuseloom.frontends.mlir.scalars import SPARSE
from fuseloom.frontends.mlir.syntax import (
    ArithmeticOperation,
    Body,
    CallOperation,
    Cast,
    Concat,
    ConstantOperation,
    Dim,
    Element,
    Empty,
    Entries,
    Foreign,
    New,
    Operation,
    Pack,
    Pad,
    Reshape,
    Return,
    Slice,
    Type,
    Typed,
    Use,
)  # fmt: skip
from fuseloom.frontends.mlir.windows import WINDOWS
from fuseloom.program.formats import suggestion
from fuseloom.program.syntax import SourcePlace
from fuseloom.wording import counted

_CASTS = (
    "tensor.cast", "sparse_tensor.convert", "sparse_tensor.reinterpret_map", "sparse_tensor.load",
    "sparse_tensor.reorder_coo",
)  # fmt: skip
_RESHAPES = ("tensor.expand_shape", "tensor.collapse_shape")
_NEW = ("sparse_tensor.new", "sparse_tensor.assemble", "sparse_tensor.pack")
_EMPTY = ("tensor.empty", "bufferization.alloc_tensor", "linalg.init_tensor")
_PACKS = ("linalg.pack", "linalg.unpack", "tensor.pack", "tensor.unpack")
_SLICES = ("tensor.extract_slice", "tensor.insert_slice")
_ELEMENTS = ("tensor.extract", "tensor.insert", "tensor.from_elements", "tensor.splat")
OPERATIONS = (
    "arith.constant", *_EMPTY, *_PACKS, "tensor.concat", "sparse_tensor.concatenate",
    "tensor.reshape", "tensor.dim", "tensor.pad", *_SLICES, *_ELEMENTS, *_NEW,
    "sparse_tensor.number_of_entries",
    "linalg.generic", ELEMENTWISE, *DEFAULTS, *SHORT, *NAMED, *WINDOWS, *_RESHAPES, *_CASTS,
    "call", "func.call", "return", "func.return",
)  # fmt: skip


class OperationReader(LinalgReader):
    """Reads operations."""

    def _operation(self) -> Operation:
        results = self._results()
        token = self.token
        if token.kind not in ("word", "string"):
            raise self.unexpected("the name of an operation")
        self.advance()
        body = self._body(token.text, token.place) if token.kind == "word" else None
        if body is None:  # an error only where its results are needed
            self.skip_operation()
            body = Foreign(
                generic_form(token.place)
                if token.kind == "string"
                else refuse(
                    f"the operation {token.text} is outside the subset",
                    _way_out(token.text),
                    token.place,
                )
            )
        self.skip_location()
        return Operation(results, body, token.place)

    def _body(self, op: str, place: SourcePlace) -> Body | None:
        """Read the rest of an operation after its name; None if the subset does not have it."""
        if op in ("linalg.generic", ELEMENTWISE, *DEFAULTS) or op in (*SHORT, *NAMED, *WINDOWS):
            return self._linalg(op, place)
        if op in _RESHAPES:
            return self._grouped_reshape()
        if op in _CASTS:
            return self._cast()
        if op in _EMPTY:
            return self._empty()
        if op in _PACKS:
            return self._pack(op.endswith("unpack"))
        if op in _SLICES:
            return self._slice(op)
        if op in _NEW:
            while not self.take("to"):
                if self.token.kind == "end" or self.sees("}"):
                    raise self.unexpected("'to' and a type")
                self.advance()
            return New(self.type())
        if op == "arith.constant":
            self.skip_dictionary()
            literal, type_ = self._typed_literal()
            return ConstantOperation(literal, type_)
        if op.startswith(("arith.", "math.")) or op in SPARSE:
            return ArithmeticOperation(self.scalar(self.tokens[self.at - 1]))
        return self._moved(op) or self._control(op)

    def _moved(self, op: str) -> Body | None:
        """Operations that move elements, and that tell sizes."""
        match op:
            case "tensor.concat":
                return self._concat()
            case "sparse_tensor.concatenate":
                return self._concatenate()
            case "tensor.reshape":
                return self._reshape()
            case "tensor.pad":
                return self._pad()
            case "tensor.dim":
                operand = self.use()
                self.need(",")
                number = self.use()
                self._types_follow()
                self.type()
                return Dim(operand, number)
            case "sparse_tensor.number_of_entries":
                operand = self.use()
                self._types_follow()
                return Entries(Typed(operand, self.type()))
            case "tensor.extract":
                use = self.use()
                places = self._uses("[", "]")
                self._types_follow()
                return Element(use, places, self.type())
            case "tensor.insert":
                use = self.use()
                self.need("into")
                whole = self.use()
                at = self._places()
                self._types_follow()
                type_ = self.type()
                ones = (1,) * len(at)
                element = Typed(use, Type(type_.element, None, place=type_.place))
                return Slice(element, Typed(whole, type_), at, ones, ones, type_)
            case "tensor.from_elements":
                uses = self._operands()
                self._types_follow()
                type_ = self.type()
                return Empty((), type_, splat=uses[0]) if len(uses) == 1 else None
            case "tensor.splat":
                use = self.use()
                sizes = self._uses("[", "]") if self.sees("[") else ()
                self._types_follow()
                return Empty(sizes, self.type(), splat=use)
        return None

    def _control(self, op: str) -> Body | None:
        match op:
            case "call" | "func.call":
                callee = self.kind("symbol", "the function's name").text[1:].strip('"')
                operands = self._uses("(", ")")
                self._types_follow("':' and the function's type")
                self.need("(")
                self.type_list()
                self.need("->")
                return CallOperation(callee, operands, self._result_types())
            case "return" | "func.return":
                self.skip_dictionary()
                return Return(self._typed_list(None) if self.token.kind == "ssa" else ())
        return None

    def _types_follow(self, wanted: str = "':' and a type") -> None:
        """Attributes, which say nothing here, and the colon before the types."""
        self.skip_dictionary()
        self.need(":", wanted)

    def _cast(self) -> Cast:
        if self.token.kind == "word":
            self.advance()  # how reorder_coo sorts
        self.skip_dictionary()
        use = self.use()
        self.take("hasInserts")
        self._types_follow()
        source = self.type()
        return Cast(Typed(use, source), self.type() if self.take("to") else source)

    def _empty(self) -> Empty:
        if self.sees("["):  # of linalg.init_tensor
            sizes = tuple(x for x in self._places() if isinstance(x, Use))
        else:
            sizes = self._uses("(", ")")
        copied: Use | None = None
        while not self.sees(":"):
            if self.take("copy"):
                self.need("(")
                copied = self.use()
                self.need(")")
            elif self.take("size_hint"):
                self.need("=")
                self.use()
            elif self.sees("{"):
                self.skip_group()
            else:
                break
        self._types_follow()
        return Empty(sizes, self.type(), copy=copied)

    def _slice(self, op: str) -> Slice:
        use = self.use()
        inserts = op == "tensor.insert_slice"
        if inserts:
            self.need("into")
        whole = self.use() if inserts else use
        offsets, sizes, strides = self._places(), self._places(), self._places()
        self._types_follow()
        source = self.type()
        self.need("into" if inserts else "to")
        type_ = self.type()
        into = Typed(whole, type_) if inserts else None
        return Slice(Typed(use, source), into, offsets, sizes, strides, type_)

    def _places(self) -> tuple[int | Use, ...]:
        """``[0, %x, 4]``."""
        self.need("[")
        found: list[int | Use] = []
        for _ in self.listed("]"):
            if self.token.kind == "ssa":
                found.append(self.use())
            else:
                found.append(integer(self.kind("int", "a number or a value").text))
        return tuple(found)

    def _pad(self) -> Pad:
        use = self.use()
        self.take("nofold")
        self.need("low")
        low = self._places()
        self.need("high")
        high = self._places()
        region = self.region("tensor.yield")
        if len(region.yields) != 1:
            raise refuse("a pad yields one number", "tensor.yield %zero : f32", region.place)
        self._types_follow()
        source = self.type()
        self.need("to")
        operand = Typed(use, source)
        return Pad(operand, low, high, region.lines, region.yields[0], self.type())

    def _pack(self, unpacks: bool) -> Pack:
        use = self.use()
        padding: Use | None = None
        found: dict[str, tuple[int | Use, ...]] = {}
        while not self.take("into"):
            word = self.kind("word", "'into'").text
            if word == "padding_value":
                self.need("(")
                padding = self.use()
                self.need(":")
                self.type()
                self.need(")")
            else:
                self.need("=")
                found[word] = self._places()
        into = self.use()
        self._types_follow()
        source = self.type()
        self.need("->")
        return Pack(
            Typed(use, source), found.get("inner_dims_pos", ()), found.get("inner_tiles", ()),
            found.get("outer_dims_perm", ()), padding, self.type(), unpacks, into,
        )  # fmt: skip

    def _concatenate(self) -> Concat:
        """``sparse_tensor.concatenate %a, %b {dimension = 0 : index} : T, T to T``."""
        uses = self._operands()
        place = self.need("{", "{dimension = ...}").place
        axis: int | None = None
        for _ in self.listed("}"):
            key = self.advance()
            self.need("=")
            if key.text == "dimension":
                axis = integer(self.kind("int", "a dimension's number").text)
            self.skip_value()
        if axis is None:
            raise refuse("no dimension to concatenate along", "{dimension = 0 : index}", place)
        self._types_follow("':' and the types")
        types = [self.type()]
        while self.take(","):
            types.append(self.type())
        if len(uses) != len(types):
            raise refuse(
                f"{counted(len(uses), 'value')} but {counted(len(types), 'type')}",
                "one type per value",
                place,
            )
        self.need("to")
        operands = tuple(Typed(u, t) for u, t in zip(uses, types, strict=True))
        return Concat(axis, operands, self.type())

    def _concat(self) -> Concat:
        self.need("dim")
        self.need("(")
        axis = integer(self.kind("int", "a dimension's number").text)
        self.need(")")
        uses = [self.use()]
        while self.take(","):
            uses.append(self.use())
        self._types_follow("':' and the operation's type")
        self.need("(")
        types = self.type_list()
        if len(uses) != len(types):
            raise refuse(f"{counted(len(uses), 'value')} but "
                         f"{counted(len(types), 'type')}", "one type per value",
                   uses[0].place)  # fmt: skip
        self.need("->")
        operands = tuple(Typed(u, t) for u, t in zip(uses, types, strict=True))
        return Concat(axis, operands, self.type())

    def _grouped_reshape(self) -> Reshape:
        use = self.use()
        self.need("[")
        groups = [self._numbers() for _ in self.listed("]")]
        sizes = self._places() if self.take("output_shape") else ()
        self._types_follow()
        source = self.type()
        self.need("into")
        return Reshape(Typed(use, source), tuple(groups), self.type(), sizes)

    def _reshape(self) -> Reshape:
        use = self.use()
        shape = self._uses("(", ")")
        self._types_follow("':' and the operation's type")
        self.need("(")
        types = self.type_list()
        if not types:
            raise self.unexpected("the types of the operands")
        self.need("->")
        return Reshape(Typed(use, types[0]), None, self.type(), shape=shape[0] if shape else None)


def _way_out(op: str) -> str:
    """Return a suggestion for an operation that the subset lacks."""
    dialect = op.partition(".")[0]
    if dialect not in ("arith", "math", "linalg", "tensor", "sparse_tensor", "func"):
        return _WAYS.get(dialect, _BEFORE)
    if op.startswith(_STORAGE):
        return _BEFORE
    return _COUNTERPARTS.get(op) or suggestion(op, OPERATIONS)


_STORAGE = tuple(
    f"sparse_tensor.{x}"
    for x in ("positions", "coordinates", "coordinates_buffer", "values", "pointers", "indices",
              "storage_specifier", "expand", "compress", "push_back", "sort", "out", "disassemble",
              "has_runtime_library", "slice.")
)  # fmt: skip
"""Operations on how a tensor is stored, after passes that lower it."""
_LOOPS = "programs have no loops: write a linalg operation on whole tensors"
_COUNTERPARTS = {
    **dict.fromkeys(
        [
            f"sparse_tensor.{x}"
            for x in ("foreach", "iterate", "coiterate", "extract_iteration_space")
        ],
        _LOOPS,
    ),
    "sparse_tensor.insert": "tensor.insert puts a number at known places",
    "linalg.fill_rng_2d": "pass the random numbers as an argument",
}
_BEFORE = "give the file as it is before it is lowered: linalg operations on tensors"
_WAYS = {
    **dict.fromkeys(("memref", "vector", "gpu", "affine", "llvm", "cf", "bufferization"), _BEFORE),
    "scf": "programs have no loops: write a linalg operation on whole tensors, or one per step",
    "complex": "programs compute real numbers: keep the parts in two tensors",
}
