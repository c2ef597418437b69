"""Lowering a fusion table to a graph of primitives, by evaluating its output cells.

Cells name each other, so evaluation starts at the outputs' values and pulls in what they need;
a node asked for twice with the same inputs is made once (``docs/spec/fusion.md`` §6.1).
"""

from __future__ import annotations

from fuseloom.dataflow.samml.graph import Graph, Scalar, StreamKind
from fuseloom.dataflow.samml.graph_draft import GraphDraft
from fuseloom.dataflow.samml.level_lowering import BuiltLevel, LevelLowering
from fuseloom.dataflow.samml.tile_values import with_tiles
from fuseloom.dataflow.table.cells import (
    VALUE_ROW,
    Accumulated,
    Compute,
    Dropped,
    Fold,
    Load,
    Output,
    RepeatRef,
    RepeatValue,
    Scan,
    Value,
    ValueOf,
)
from fuseloom.dataflow.table.table import FusionTable
from fuseloom.errors import LoweringError
from fuseloom.program.blocking import blocking
from fuseloom.program.dense_levels import written_levels
from fuseloom.program.formats import LevelFormat
from fuseloom.program.functions import FUNCTIONS, Op
from fuseloom.program.walks import Steps, unwound

CRD, VAL = StreamKind.CRD, StreamKind.VAL

# A concat adds operands of which one is always absent.
_BINARY = {Op.MUL: "mul", Op.ADD: "add", Op.SUB: "sub", Op.DIV: "div", Op.CONCAT: "add",
           Op.MAXIMUM: "max"}  # fmt: skip
_UNARY = {
    **{op: op.value for op in FUNCTIONS},
    Op.AT_LEAST: "max",
    Op.SCALE: "scalarmul",
    Op.SHIFT: "scalaradd",
}


def lower(table: FusionTable) -> Graph:
    """Lower a fusion table to a graph with explicit fan-out.

    Raises
    ------
    LoweringError
        If a cell has no expression to build.
    """
    return _GraphLowering(table).run()


class _GraphLowering:
    """The values of a table, and its outputs, above its levels."""

    def __init__(self, table: FusionTable) -> None:
        self.table = table
        self.draft = GraphDraft()
        self.block = blocking(table.region.program).edge
        self.levels = LevelLowering(table, self.draft, self._accumulate)
        self.accumulators: dict[str, tuple[int, ...]] = {}
        self.values: dict[str, int] = {}

    def run(self) -> Graph:
        for output in self.table.outputs:
            unwound(self._write(output))
        return with_tiles(self.draft.finish(self.table.region.name))

    def value(self, value: Value, origin: str) -> Steps[int]:
        match value:
            case ValueOf(column=column):
                made: int = yield self._column_value(column)
                return made
            case Load(source=source, tensor=tensor, tile=tile):
                ref: int = yield self.levels.reference(source)
                outputs = ((VAL, self.draft.indices(ref), f"{origin} val"),)
                params = {"tensor": tensor, **self._tile(tile)}
                return self.draft.add("array", (ref,), outputs, params, f"Val {tensor}", origin)[0]
            case RepeatValue(source=source, level=level):
                made = yield self.value(source, origin)
                built: BuiltLevel = yield self.levels.level(level)
                return self.levels.repeat(made, built.crd, origin)
            case Compute():
                made = yield self._compute(value, origin)
                return made
            case Fold():
                made = yield self._fold(value, origin)
                return made
            case Accumulated(accumulator=accumulator, level=level):
                if level is None:
                    streams: tuple[int, ...] = yield self._accumulate(accumulator)
                    return streams[-1]
                built = yield self.levels.level(level)
                return built.payloads[accumulator]

    def _column_value(self, column: str) -> Steps[int]:
        if column not in self.values:
            expression = self.table.cell(column, VALUE_ROW).expression
            if expression is None or isinstance(expression, Scan | RepeatRef):
                raise LoweringError(f"cell {column}.{VALUE_ROW} holds no value")
            self.values[column] = yield self.value(expression, f"{column}.{VALUE_ROW}")
        return self.values[column]

    def _compute(self, compute: Compute, origin: str) -> Steps[int]:
        operands: tuple[int, ...] = ()
        for part in compute.operands:
            operand: int = yield self.value(part, origin)
            operands += (operand,)
        indices = self.draft.indices(operands[0])
        column = origin.split(".", 1)[0]
        outputs = ((VAL, indices, f"{column} val"),)
        tile = compute.tile
        if compute.op in _BINARY:
            params: dict[str, Scalar] = {"fn": _BINARY[compute.op]}
            if compute.needs is not None:
                params["needs"] = "ab"[compute.needs]
            value, label = operands[0], f"{compute.op.value} {column}"
            for k, other in enumerate(operands[1:]):  # a product of many factors is a chain
                inside = self._tile(tile.compute[k]) if tile else {}
                (value,) = self.draft.add(
                    "binary", (value, other), outputs, params | inside, label, origin
                )
        elif compute.op in _UNARY:
            params = {"fn": _UNARY[compute.op], "scalar": float(compute.constant or 0.0)}
            params |= self._tile(tile.compute[0]) if tile else {}
            value = self.draft.add(
                "unary", operands, outputs, params, f"{compute.op.value} {column}", origin
            )[0]
        else:
            value = operands[0]
        if tile is None or not tile.fold:
            return value
        outputs = ((VAL, indices, f"{column} folded val"),)
        params = {"fn": "max" if compute.op is Op.MAX else "add", **self._tile(tile.fold)}
        return self.draft.add("tilefold", (value,), outputs, params, f"Fold {column}", origin)[0]

    def _tile(self, spec: str) -> dict[str, Scalar]:
        """Parameters of a node whose values are tiles."""
        return {"tile": spec, "block": self.block} if spec else {}

    def _fold(self, fold: Fold, origin: str) -> Steps[int]:
        value: int = yield self.value(fold.value, origin)
        inputs: tuple[int, ...] = (value,)
        if fold.guide is not None:
            guide: BuiltLevel = yield self.levels.level(fold.guide)
            inputs = (value, guide.crd)
        params: dict[str, Scalar] = {"fn": "max" if fold.maximum else "add"}
        if fold.zero_if_empty:
            params["empty_is_zero"] = True
        outputs = ((VAL, self.draft.indices(value)[:-1], f"{origin} reduced"),)
        return self.draft.add("reduce", inputs, outputs, params, f"Red {fold.index}", origin)[0]

    def _accumulate(self, name: str) -> Steps[tuple[int, ...]]:
        """The streams of an accumulator as it emits them: coordinates outermost first, values."""
        if name in self.accumulators:
            return self.accumulators[name]
        accumulator = self.table.accumulators[name]
        origin = f"{accumulator.column}.{accumulator.indices[0]}"
        level: BuiltLevel = yield self.levels.level(accumulator.outer)
        outer = level.crd
        value: int = yield self.value(accumulator.value, origin)
        if accumulator.is_cut:
            made: tuple[int, ...] = (outer, value)
            if accumulator.drops is not None:
                made = self._drop(accumulator.drops, value, outer, origin, origin)[::-1]
        else:
            inner: tuple[int, ...] = ()
            for inside in accumulator.inner:
                level = yield self.levels.level(inside)
                inner += (level.crd,)
            outside = self.draft.indices(outer)[:-1]
            params: dict[str, Scalar] = {"fn": "max" if accumulator.maximum else "add"}
            outputs = []
            for k, x in enumerate(accumulator.indices):
                nest = (*outside, *accumulator.indices[: k + 1])
                text = accumulator.emitted(x, raw=True).name
                outputs.append((CRD, nest, f"{text} crd"))
                outside_of = accumulator.order - 1 - k  # "dim" is the innermost size
                params[f"dim{outside_of or ''}"] = accumulator.dims[k]
            outputs.append((VAL, nest, f"{name} val"))
            op = f"spacc{accumulator.order}"
            made = self.draft.add(op, (outer, *inner, value), tuple(outputs), params, name, origin)
        self.accumulators[name] = made
        return made

    # Outputs ----------------------------------------------------------------------------------

    def _drop(
        self, dropped: Dropped, val: int, crd: int, name: str, origin: str = ""
    ) -> tuple[int, int]:
        op, params = "valdrop", dict[str, Scalar]()
        if dropped.zeros_of:
            op, params = (
                "zerodrop",
                {
                    "of": dropped.zeros_of,
                    "axes": " ".join(map(str, dropped.axes)),
                    "shifts": " ".join(map(str, dropped.shifts)),
                },
            )
        indices = self.draft.indices(crd)
        outputs = ((VAL, indices, f"{name} kept val"), (CRD, indices, f"{name} kept crd"))
        kept = self.draft.add(op, (val, crd), outputs, params, f"Drop {name}", origin)
        return kept[0], kept[1]

    def _write(self, output: Output) -> Steps[None]:
        value: int = yield self.value(output.value, f"{output.column}.{VALUE_ROW}")
        crds: list[int] = []
        for name in output.levels:
            level: BuiltLevel = yield self.levels.level(name)
            crds.append(level.crd)
        if output.drop_values is not None:
            value, crds[-1] = self._drop(output.drop_values, value, crds[-1], output.tensor)
        for k in range(len(crds) - 1, 0, -1):
            if output.drop_levels[k - 1]:
                inner, outer = crds[k], crds[k - 1]
                outputs = (
                    (CRD, output.indices[: k + 1], f"{output.tensor}.{output.indices[k]} crd"),
                    (CRD, output.indices[:k], f"{output.tensor}.{output.indices[k - 1]} crd"),
                )
                crds[k], crds[k - 1] = self.draft.add(
                    "crddrop",
                    (inner, outer),
                    outputs,
                    None,
                    f"Drop {output.tensor}.{output.indices[k - 1]}",
                )
        levels = written_levels(self.table.region.program, output.tensor)
        for k, crd in enumerate(crds):
            if levels[k] is LevelFormat.DENSE:
                continue  # it has every coordinate: where a value comes says which it is of
            label = f"LW {output.tensor}.{output.indices[k]}"
            self.draft.add("crdwrite", (crd,), (), {"tensor": output.tensor, "level": k}, label)
        self.draft.add("valwrite", (value,), (), {"tensor": output.tensor}, f"VW {output.tensor}")
