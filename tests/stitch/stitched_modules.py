"""Modules whose kernels are run as C, and the computations that their reductions apply."""

from __future__ import annotations

from typing import Any

from fuseloom.stitch.fusion import FusionSettings, fuse
from fuseloom.stitch.graph import DenseComputation, DenseModule, DenseOperation
from fuseloom.stitch.opcodes import ProductFusion
from fuseloom.stitch.shapes import TensorShape, TupleShape
from fuseloom.stitch.stitched_program import StitchedProgram

COMBINERS = {
    "sum": "add", "product": "multiply", "largest": "maximum", "least": "minimum", "every": "and",
    "some": "or", "odd": "xor",
}  # fmt: skip
FAST = ("-O1",)
"""Flags with which many small kernels are compiled soon."""


def combiner(name: str, opcode: str, element: str = "f32") -> DenseComputation:
    """A computation of one operation on two elements."""
    one = TensorShape(element, ())
    both = [DenseOperation(f"p{n}", "parameter", one, (), {"number": n}) for n in range(2)]
    return DenseComputation(name, (*both, DenseOperation("r", opcode, one, ("p0", "p1"))), "r")


def module_of(computation: DenseComputation, element: str = "f32") -> DenseModule:
    """A module of a computation whose reductions apply :data:`COMBINERS`."""
    applied = {name: combiner(name, opcode, element) for name, opcode in COMBINERS.items()}
    return DenseModule("made", {**applied, computation.name: computation}, computation.name)


class GraphMaker:
    """Makes a computation line by line; its result is what nothing reads."""

    def __init__(self, element: str = "f32") -> None:
        self.element = element
        self.operations: list[DenseOperation] = []

    def add(
        self, opcode: str, dims: tuple[int, ...], *operands: str, element: str = "", **more: Any
    ) -> str:
        """An operation; its name."""
        literal = more.pop("literal", None)
        name = f"{opcode}.{len(self.operations)}"
        shape = TensorShape(element or self.element, dims)
        self.operations.append(DenseOperation(name, opcode, shape, operands, more, literal))
        return name

    def parameter(self, *dims: int, element: str = "") -> str:
        """A parameter; its name."""
        number = sum(one.opcode == "parameter" for one in self.operations)
        return self.add("parameter", dims, element=element, number=number)

    def module(self) -> DenseModule:
        """The module, with :data:`COMBINERS`."""
        used = {name for one in self.operations for name in one.operands}
        ends = [one for one in self.operations if one.name not in used]
        root = ends[-1].name
        if len(ends) > 1:
            shape = TupleShape(tuple(one.array for one in ends))
            names = tuple(one.name for one in ends)
            self.operations.append(DenseOperation("result", "tuple", shape, names))
            root = "result"
        return module_of(DenseComputation("graph", tuple(self.operations), root), self.element)


def fused(
    module: DenseModule,
    products: ProductFusion = ProductFusion.ALL,
    settings: FusionSettings | None = None,
    **more: Any,
) -> StitchedProgram:
    """The program of a module."""
    return StitchedProgram(module, fuse(module.main, products, settings=settings), **more)
