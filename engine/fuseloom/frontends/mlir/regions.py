"""The trees that the region of a ``linalg.generic`` yields."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from fuseloom.errors import ProgramError
from fuseloom.frontends.algebra.evaluation import Places, as_places
from fuseloom.frontends.algebra.expressions import (
    Apply,
    Arg,
    Index,
    Node,
    Num,
    Raw,
    Unsupported,
    arguments,
    cast_of,
    places,
)
from fuseloom.frontends.mlir.arithmetic import apply, checked
from fuseloom.frontends.mlir.builder import unknown
from fuseloom.frontends.mlir.region_values import (
    Bad,
    BadValueError,
    Captured,
    dimensions_of,
    leaf,
    number_of,
    range_of_value,
)
from fuseloom.frontends.mlir.semirings import Branch, binary, kept, unary
from fuseloom.frontends.mlir.syntax import (
    AffineMap,
    Number,
    OperationLine,
    RegionBody,
    Use,
    refuse_meaning,
)
from fuseloom.frontends.mlir.values import (
    ConstantNumber,
    ConstantTensor,
    Extent,
    Ignored,
    Value,
    View,
    is_least,
    number,
)
from fuseloom.program.functions import Op
from fuseloom.program.syntax import SourcePlace
from fuseloom.wording import counted


def region_trees(
    region: RegionBody,
    ins: Sequence[Value],
    outs: Sequence[Value],
    reduces: bool,
    outside: Callable[[Use], Value],
    maps: Sequence[AffineMap],
    place: SourcePlace,
) -> tuple[tuple[Node | Ignored, ...], list[Captured]]:
    """Per output the tree it yields, or why it has none, which counts where it is needed.

    Returns also what the region reads of the function around it, as ``Arg(-1)``, ``Arg(-2)``...

    Raises
    ------
    ProgramError
        What is yielded as a floating-point number is outside the subset.
    """
    reader = _RegionReader(outside, [dimensions_of(m) for m in maps], len(ins))
    operands = [*ins, *outs]
    if len(region.arguments) != len(operands):
        raise refuse_meaning(
            f"the region has {counted(len(region.arguments), 'argument')} for "
            f"{counted(len(operands), 'operand')}",
            "one per input and output",
            region.place,
        )
    for k, (argument, value) in enumerate(zip(region.arguments, operands, strict=True)):
        is_output = k >= len(ins)
        node = leaf(k, value, is_output, reduces)
        if isinstance(node, Arg):
            node = replace(node, range=range_of_value(value, argument.type.element))
        reader.define(argument.name, node, argument.place)
    for line in region.lines:
        reader.line(line)
    if len(region.yields) != len(outs):
        raise refuse_meaning(
            f"the region yields {counted(len(region.yields), 'value')} for "
            f"{counted(len(outs), 'output')}",
            "one per output",
            region.yields[0].place if region.yields else region.place,
        )
    trees: list[Node | Ignored] = []
    for use, argument in zip(region.yields, region.arguments[len(ins) :], strict=True):
        found = reader.node(use)
        if isinstance(found, Bad):
            problem = refuse_meaning(found.message, found.hint, found.place)
            if argument.type.is_float:
                raise problem
            trees.append(Ignored(problem.message, problem))
        elif argument.type.foreign:
            raise refuse_meaning(
                argument.type.foreign, "elements are floats and integers", argument.type.place
            )
        elif isinstance(found, Arg) and use.name not in {a.name for a in region.arguments}:
            trees.append(cast_of(found))
        else:
            trees.append(found)
    return tuple(trees), reader.captured


class _RegionReader:
    """Reads lines, one after another.

    Parameters
    ----------
    outside
        What names mean in the function around the region.
    dimensions
        Per operand the numbers of the dimensions that it has.
    inputs : int
        How many of the operands are inputs.
    """

    def __init__(
        self,
        outside: Callable[[Use], Value],
        dimensions: Sequence[tuple[int, ...]],
        inputs: int,
    ) -> None:
        self.outside = outside
        self.dimensions = dimensions
        self.inputs = inputs
        self.nodes: dict[str, Node | Bad] = {}
        self.captured: list[Captured] = []
        self._seen: dict[str, Node | Bad] = {}

    def define(self, name: str, node: Node | Bad, place: SourcePlace) -> None:
        if name in self.nodes:
            raise refuse_meaning(f"%{name} is defined twice", "give each value its own name", place)
        self.nodes[name] = node

    def node(self, use: Use) -> Node | Bad:
        """A value of the region, or a number of the function around it."""
        if use.number == 0 and use.name in self.nodes:
            return self.nodes[use.name]
        key = str(use)
        if key not in self._seen:
            self._seen[key] = self._captured(use)
        return self._seen[key]

    def _captured(self, use: Use) -> Node | Bad:
        try:
            value = self.outside(use)
        except ProgramError:
            raise unknown(str(use), use.name, list(self.nodes), use.place) from None
        if isinstance(value, ConstantNumber):
            return number_of(value.value, value.element, use.place)
        if isinstance(value, View) and value.rank == 0:
            self.captured.append(Captured(value, ()))
            return Arg(-len(self.captured))
        if isinstance(value, Extent) and value.size.value is not None:
            return number_of(float(value.size.value), "index", use.place)
        if isinstance(value, Extent):
            return Bad(
                f"{use} is a size that is not known here", "write the size, or give shapes",
                use.place,
            )  # fmt: skip
        if isinstance(value, Ignored):
            return Bad(f"{use} cannot be read: {value.reason}", value.hint, use.place)
        return Bad(
            f"{use} is neither an argument of the region nor a number",
            "pass a tensor by ins(...)",
            use.place,
        )

    def line(self, line: OperationLine) -> None:
        found = self._value(line)
        if len(line.results) != 1 and not isinstance(found, Bad):
            raise refuse_meaning(
                f"{line.scalar.op} gives one value, {len(line.results)} are named",
                "%0 = ...",
                line.place,
            )
        for name in line.results:
            self.define(name, found, line.place)

    def _value(self, line: OperationLine) -> Node | Bad:
        scalar = line.scalar
        if scalar.op == "arith.constant":
            return self._constant(line)
        if scalar.type is not None and scalar.type.foreign:
            return Bad(scalar.type.foreign, "elements are floats and integers", scalar.type.place)
        if scalar.op == "tensor.extract":
            return self._extracted(line)
        operands = [self.node(use) for use in scalar.operands]
        if scalar.op == "sparse_tensor.reduce":  # may start at any number
            operands = [
                Num(x.value) if isinstance(x, Bad) and x.value is not None else x for x in operands
            ]
        for x in operands:
            if isinstance(x, Bad):
                return x
        good = tuple(x for x in operands if not isinstance(x, Bad))
        try:
            if scalar.op == "linalg.index":
                return Index(scalar.number)
            if scalar.op.startswith("sparse_tensor."):
                return checked(self._sparse(line, good), good)
            return apply(scalar.op, good, scalar.predicate, scalar.type, scalar.source)
        except Unsupported as problem:
            return Bad(problem.message, problem.hint, line.place)
        except BadValueError as problem:
            return problem.bad

    def _constant(self, line: OperationLine) -> Node | Bad:
        literal, type_ = line.scalar.literal, line.scalar.type
        if not isinstance(literal, Number) or type_ is None or type_.shape is not None:
            return Bad("a constant of a region is a number", "define it outside", line.place)
        return number_of(number(literal, type_.element), type_.element, line.place)

    def _extracted(self, line: OperationLine) -> Node | Bad:
        """An element of a tensor of the function, at sums of indices or at entries of tensors."""
        scalar = line.scalar
        (use,) = scalar.operands or (None,)
        value = None if use is None else self.outside(use)
        found: list[Places | Node] = []
        for place in scalar.places:
            node = self.node(place)
            if isinstance(node, Bad):
                return node
            at = as_places(node)
            found.append(node if at is None else at)
        if isinstance(value, Ignored):
            return Bad(f"{use} cannot be read: {value.reason}", value.hint, line.place)
        if not isinstance(value, View | ConstantTensor) or value.rank != len(found):
            return Bad(
                f"{use} is no tensor of {counted(len(found), 'dimension')}",
                "one place for each",
                line.place,
            )
        self.captured.append(Captured(value, tuple(found)))
        return Arg(-len(self.captured))

    # The sparse dialect.

    def _sparse(self, line: OperationLine, operands: tuple[Node, ...]) -> Node:
        scalar = line.scalar
        wanted = _OPERANDS.get(scalar.op)
        if wanted is None or len(operands) != wanted:
            raise Unsupported(
                f"{scalar.op} in a region"
                if wanted is None
                else f"{scalar.op} takes {counted(wanted, 'operand')}, not {len(operands)}",
                "of the sparse dialect: " + ", ".join(_OPERANDS),
            )
        regions = dict(scalar.regions)
        match scalar.op:
            case "sparse_tensor.unary":
                dims = self._dims(operands[0])
                return unary(
                    operands[0],
                    self._branch(regions.get("present"), 1),
                    self._branch(regions.get("absent"), 0),
                    dims,
                )
            case "sparse_tensor.binary":
                left, right = regions.get("left"), regions.get("right")
                return binary(
                    operands[0],
                    operands[1],
                    self._branch(regions.get("overlap"), 2),
                    self._branch(left, 1),
                    self._branch(right, 1),
                    (self._hands_on(left, operands[0]), self._hands_on(right, operands[1])),
                )
            case "sparse_tensor.select":
                branch = self._branch(regions["region"], 1)
                assert branch is not None
                return kept(operands[0], branch(operands[0]))
        return self._reduce(line, operands)

    def _branch(self, region: RegionBody | str | None, count: int) -> Branch:
        if region is None:
            return None
        if isinstance(region, str):
            return lambda *given: given[0]
        if len(region.arguments) != count or len(region.yields) != 1:
            raise Unsupported(
                f"a region with {counted(len(region.arguments), 'argument')} that yields "
                f"{counted(len(region.yields), 'value')}",
                f"here it has {count} and yields one",
            )
        known: dict[tuple[Node, ...], Node] = {}

        def branch(*given: Node) -> Node:
            if given not in known:
                known[given] = self._inside(region, given)
            return known[given]

        return branch

    def _inside(self, region: RegionBody, given: Sequence[Node]) -> Node:
        """Return the value that a nested region yields."""
        inner = _RegionReader(self.outside, self.dimensions, self.inputs)
        inner.nodes, inner.captured, inner._seen = dict(self.nodes), self.captured, self._seen
        for argument, node in zip(region.arguments, given, strict=True):
            inner.nodes[argument.name] = node
        for line in region.lines:
            for name in line.results:
                inner.nodes.pop(name, None)
            inner.line(line)
        found = inner.node(region.yields[0])
        if isinstance(found, Bad):
            raise BadValueError(found)
        return found

    def _hands_on(self, region: RegionBody | str | None, node: Node) -> bool:
        branch = self._branch(region, 1)
        return branch is not None and branch(node) == node

    def _dims(self, node: Node) -> tuple[int, ...]:
        """Numbers of the dimensions that a tree has."""
        found = set(places(node))
        for k in arguments(node):
            found.update(self.dimensions[k] if 0 <= k < len(self.dimensions) else ())
        return tuple(sorted(found))

    def _reduce(self, line: OperationLine, operands: tuple[Node, ...]) -> Node:
        """``sparse_tensor.reduce %x, %out, %identity``: %out + x, or a maximum or minimum."""
        x, out, identity = operands
        branch = self._branch(dict(line.scalar.regions)["region"], 2)
        assert branch is not None
        found = branch(x, out)
        value = identity.value if isinstance(identity, Num) else None
        element = "" if line.scalar.type is None else line.scalar.type.element
        starts = isinstance(identity, Arg) and identity.number >= self.inputs
        adds = isinstance(found, Apply) and found.op is Op.ADD
        if adds and (value == 0.0 or (starts and identity in (x, out))):
            return found
        if isinstance(found, Raw) and found.name in ("max", "or") and is_least(value, element):
            return found
        least = is_least(value, element, minimum=True)
        if isinstance(found, Raw) and found.name in ("min", "and") and least:
            return found
        raise Unsupported(
            "this reduction is no sum from 0, and no maximum or minimum from an infinity",
            "yield arith.addf, maximumf or minimumf of both, or an arith.select that chooses the "
            "larger or smaller; a product of all elements has no counterpart",
        )


_OPERANDS = {
    "sparse_tensor.unary": 1, "sparse_tensor.binary": 2, "sparse_tensor.select": 1,
    "sparse_tensor.reduce": 3,
}  # fmt: skip
