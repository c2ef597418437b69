"""Lowering a fusion table to a graph of primitives, by evaluating its output cells.

Cells name each other, so evaluation starts at the outputs' values and pulls in what they need;
a node asked for twice with the same inputs is made once (``docs/spec/fusion.md`` §6.1).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from fuseloom.dataflow.samml.graph import Graph, Scalar, StreamKind
from fuseloom.dataflow.samml.graph_draft import GraphDraft, Indices
from fuseloom.dataflow.samml.tile_values import with_tiles
from fuseloom.dataflow.table.cells import (
    VALUE_ROW,
    AccIn,
    Accumulated,
    Accumulator,
    At,
    Compute,
    DenseIn,
    Fold,
    JoinOf,
    LevelTree,
    Load,
    LocatedLevel,
    Output,
    Reference,
    RepeatRef,
    RepeatValue,
    Root,
    Scan,
    ScanIn,
    SearchIn,
    Shifted,
    Value,
    ValueOf,
)
from fuseloom.dataflow.table.table import FusionTable
from fuseloom.errors import LoweringError
from fuseloom.program.blocking import blocking
from fuseloom.program.dense_levels import written_levels
from fuseloom.program.formats import LevelFormat
from fuseloom.program.functions import FUNCTIONS, Op
from fuseloom.program.stored_views import view_format
from fuseloom.program.walks import Steps, postorder, unwound

CRD, REF, VAL, SIG = StreamKind.CRD, StreamKind.REF, StreamKind.VAL, StreamKind.SIG

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
    """Lower a fusion table to a verified graph with explicit fan-out.

    Raises
    ------
    LoweringError
        If a cell has no expression to build.
    """
    return _GraphLowering(table).run()


@dataclass(frozen=True)
class _Built:
    """A level that has been built: its coordinates and the payloads riding on them.

    ``partial`` names the payloads that are not those of every coordinate: those of an operand of
    a union, which are empty at some, and those of shifted coordinates.
    """

    crd: int
    payloads: dict[str, int]
    partial: frozenset[str] = frozenset()


class _GraphLowering:
    def __init__(self, table: FusionTable) -> None:
        self.table = table
        self.draft = GraphDraft()
        self.block = blocking(table.region.program).edge
        self.levels: dict[str, _Built] = {}
        self.accumulators: dict[str, tuple[int, ...]] = {}
        self.values: dict[str, int] = {}
        self.trees: dict[tuple[int, str], _Built] = {}

    def run(self) -> Graph:
        for output in self.table.outputs:
            unwound(self._write(output))
        return with_tiles(self.draft.finish(self.table.region.name))

    # Levels and references --------------------------------------------------------------------

    def level(self, name: str) -> Steps[_Built]:
        if name not in self.levels:
            level = self.table.levels[name]
            self.levels[name] = yield self._tree(level.tree, level.prefix, name)
        return self.levels[name]

    def _tree(self, tree: LevelTree, prefix: Indices, name: str) -> Steps[_Built]:
        key = (id(tree), name)  # trees share parts
        if key not in self.trees:
            self.trees[key] = yield self._new_tree(tree, prefix, name)
        return self.trees[key]

    def _new_tree(self, tree: LevelTree, prefix: Indices, name: str) -> Steps[_Built]:
        index = prefix[-1]
        match tree:
            case ScanIn(column=column):
                scanned: tuple[int, int] = yield self._scan(column, prefix)
                return _Built(scanned[0], {column: scanned[1]})
            case SearchIn(column=column, wanted=wanted):
                given: _Built = yield self._tree(wanted, prefix, name)
                found: tuple[int, int] = yield self._search(column, prefix, given.crd)
                return _Built(found[0], {column: found[1]})
            case AccIn():
                built: _Built = yield self._emitted(tree)
                return built
            case DenseIn():
                every: tuple[int, int] = yield self._dense_range(tree, prefix)
                return _Built(every[0], {})
            case Shifted(child=child):
                built = yield self._tree(child, prefix, name)
                return self._shift(tree, built, prefix)
            case LocatedLevel(child=child, columns=columns):
                built = yield self._tree(child, prefix, name)
                payloads = dict(built.payloads)
                for column in columns:
                    everywhere = {c: s for c, s in payloads.items() if c not in built.partial}
                    here: int | None = yield self._at_hand(column, index, everywhere)
                    if here is None:
                        here = yield self._locate(column, index, built.crd)
                    payloads[column] = here
                return replace(built, payloads=payloads)
            case JoinOf():
                built = yield self._join(tree, prefix, name)
                return built

    def _shift(self, shifted: Shifted, built: _Built, prefix: Indices) -> _Built:
        params: dict[str, Scalar] = {"offset": shifted.offset, "dim": shifted.size}
        label = f"Shift {prefix[-1]} by {shifted.offset}"
        outputs = ((CRD, prefix, f"{prefix[-1]} crd from {shifted.offset}"),)
        (crd,) = self.draft.add("shift", (built.crd,), outputs, params, label)
        return _Built(crd, built.payloads, frozenset(built.payloads))

    def _scan(self, column: str, prefix: Indices) -> Steps[tuple[int, int]]:
        index = prefix[-1]
        scan = self._scan_cell(column, index)
        parent: int = yield self._reference(scan.parent)
        outputs = ((CRD, prefix, f"{column}.{index} crd"), (REF, prefix, f"{column}.{index} ref"))
        origin = f"{column}.{index}"
        params: dict[str, Scalar] = {"tensor": scan.tensor, "level": scan.level}
        if scan.dense:
            params["dim"] = scan.dim
        if self._is_singleton(scan):
            params["singleton"] = True
        op = "dense_scan" if scan.dense else "scan"
        crd, ref = self.draft.add(op, (parent,), outputs, params, f"LS {column}.{index}", origin)
        return crd, ref

    def _search(self, column: str, prefix: Indices, wanted: int) -> Steps[tuple[int, int]]:
        index = prefix[-1]
        origin = f"{column}.{index}"
        scan = self._scan_cell(column, index)
        parent: int = yield self._reference(scan.parent)
        outputs = ((CRD, prefix, f"{origin} found crd"), (REF, prefix, f"{origin} ref"))
        params: dict[str, Scalar] = {"tensor": scan.tensor, "level": scan.level}
        label = f"Search {origin}"
        crd, ref = self.draft.add("search", (parent, wanted), outputs, params, label, origin)
        return crd, ref

    def _is_singleton(self, scan: Scan) -> bool:
        name, _, order = scan.tensor.partition("@")
        tensor = self.table.region.program.tensor(name)
        stored = tuple(map(int, order.split(","))) if order else tensor.format.mode_order
        return view_format(tensor, stored).levels[scan.level] is LevelFormat.SINGLETON

    def _scan_cell(self, column: str, index: str) -> Scan:
        expression = self.table.cell(column, index).expression
        if not isinstance(expression, Scan):
            raise LoweringError(f"cell {column}.{index} should scan a level")
        return expression

    def _reference(self, reference: Reference) -> Steps[int]:
        match reference:
            case Root():
                return self._root()
            case At(column=column, row=row):
                expression = self.table.cell(column, row).expression
                if isinstance(expression, RepeatRef):
                    source: int = yield self._reference(expression.source)
                    over: _Built = yield self.level(expression.level)
                    return self._repeat(source, over.crd, f"{column}.{row}")
                home: _Built = yield self.level(self._home[column, row])
                return home.payloads[column]

    @cached_property
    def _home(self) -> dict[tuple[str, str], str]:
        """Column and row of a leaf's scanner to the level whose tree holds it."""
        return {
            (member, level.index): level.name
            for level in self.table.levels.values()
            for member in _columns(level.tree)
        }

    def _root(self) -> int:
        return self.draft.add("root", (), ((REF, (), "root"),), label="root")[0]

    def _repeat(self, source: int, crd: int, origin: str, name: str = "") -> int:
        """Repeat a stream over a level, for the cell ``origin`` or else what ``name`` says."""
        name = name or origin
        indices = self.draft.indices(crd)
        (sig,) = self.draft.add(
            "repsig",
            (crd,),
            ((SIG, indices, f"{name} repeat"),),
            label="repeat signal",
            origin=origin,
        )
        kind = self.draft.kind(source)
        outputs = ((kind, indices, f"{name} {kind.value} repeated"),)
        return self.draft.add("repeat", (source, sig), outputs, None, f"Rep {name}", origin)[0]

    def _locate(self, column: str, index: str, crd: int) -> Steps[int]:
        scan = self._scan_cell(column, index)
        origin = f"{column}.{index}"
        source: int = yield self._reference(scan.parent)
        parent = self._repeat(source, crd, origin)
        outputs = ((REF, self.draft.indices(crd), f"{origin} ref"),)
        params: dict[str, Scalar] = {"dim": scan.dim, "tensor": scan.tensor, "level": scan.level}
        label = f"Locate {origin}"
        return self.draft.add("locate", (crd, parent), outputs, params, label, origin)[0]

    def _at_hand(self, column: str, index: str, payloads: dict[str, int]) -> Steps[int | None]:
        """The references of a column whose level rides along already, for another use of it.

        ``payloads`` are there at every coordinate of the level: one that is empty at some of them,
        because it came through a union, would leave the column's elements there out.
        """
        scan = self._scan_cell(column, index)
        source: int = yield self._reference(scan.parent)
        for other, payload in payloads.items():
            if (other, index) not in self.table.cells:  # an accumulator's values
                continue
            same = self.table.cell(other, index).expression
            if not isinstance(same, Scan):
                continue
            if (same.tensor, same.level) == (scan.tensor, scan.level):
                parent: int = yield self._reference(same.parent)
                if parent == source:
                    return payload
        return None

    def _dense_range(self, dense: DenseIn, prefix: Indices) -> Steps[tuple[int, int]]:
        """All coordinates of an index, once per coordinate of the level outside."""
        parent = self._root()
        for outer in dense.outer:
            level: _Built = yield self.level(outer)
            parent = self._repeat(parent, level.crd, "", f"dense {dense.index}")
        index = dense.index
        outputs = ((CRD, prefix, f"{index} dense crd"), (REF, prefix, f"{index} dense ref"))
        params: dict[str, Scalar] = {"dim": dense.dim}
        crd, ref = self.draft.add("dense_scan", (parent,), outputs, params, f"dense {index}")
        return crd, ref

    def _join(self, join: JoinOf, prefix: Indices, name: str) -> Steps[_Built]:
        parts: list[_Built] = []
        for child in join.children:
            part: _Built = yield self._tree(child, prefix, name)
            parts.append(part)
        ports: dict[tuple[int, int], str] = {}  # coordinates and payload, each pair once
        riders: dict[str, tuple[int, int]] = {}
        partial: set[str] = set()
        gates = 0
        chosen = dict(join.carriers)
        for k, part in enumerate(parts):
            mine = {key: s for key, s in part.payloads.items() if chosen.get(key, k) == k}
            riders.update({key: (part.crd, payload) for key, payload in mine.items()})
            partial |= mine.keys() & part.partial
            for key, payload in mine.items() or [("unused", self._placeholder(part))]:
                if (part.crd, payload) not in ports:
                    ports[part.crd, payload] = key
                    gates += k < join.gate
        if len({crd for crd, _ in ports}) == 1:  # one stream: nothing is filtered or added
            payloads = {key: payload for key, (_, payload) in riders.items()}
            return _Built(parts[0].crd, payloads, frozenset(partial))
        outputs = [(CRD, prefix, f"{name} crd")]
        for (_, payload), key in ports.items():
            outputs.append((self.draft.kind(payload), prefix, f"{name} {key}"))
        params: dict[str, Scalar] = {"gate": gates} if join.union else {}
        op = "union" if join.union else "intersect"
        origin = self._member(join, prefix[-1])
        inputs = tuple(stream for pair in ports for stream in pair)
        made = self.draft.add(op, inputs, tuple(outputs), params, name, origin)
        out = dict(zip(ports, made[1:], strict=True))
        payloads = {key: out[pair] for key, pair in riders.items()}
        return _Built(made[0], payloads, frozenset(riders if join.union else partial))

    def _member(self, tree: LevelTree, index: str) -> str:
        """The first cell of the table that takes part in a level, as ``column.row``."""
        match tree:
            case ScanIn(column=column) | SearchIn(column=column):
                return f"{column}.{index}"
            case AccIn(accumulator=name):
                return f"{self.table.accumulators[name].column}.{index}"
            case LocatedLevel(child=child) | Shifted(child=child):
                return self._member(child, index)
            case JoinOf(children=children):
                return next(filter(None, (self._member(c, index) for c in children)), "")
            case _:
                return ""

    def _placeholder(self, part: _Built) -> int:
        """A payload for a joiner port whose own payload nothing needs."""
        if part.payloads:
            return next(iter(part.payloads.values()))
        node = next(n for n in self.draft.nodes if part.crd in n.outputs)
        nest = self.draft.indices(part.crd)
        other = (s for s in node.outputs if s is not None and s != part.crd)
        return next((s for s in other if self.draft.indices(s) == nest), part.crd)

    # Values -----------------------------------------------------------------------------------

    def value(self, value: Value, origin: str) -> Steps[int]:
        match value:
            case ValueOf(column=column):
                made: int = yield self._column_value(column)
                return made
            case Load(source=source, tensor=tensor, tile=tile):
                ref: int = yield self._reference(source)
                outputs = ((VAL, self.draft.indices(ref), f"{origin} val"),)
                params = {"tensor": tensor, **self._tile(tile)}
                return self.draft.add("array", (ref,), outputs, params, f"Val {tensor}", origin)[0]
            case RepeatValue(source=source, level=level):
                made = yield self.value(source, origin)
                built: _Built = yield self.level(level)
                return self._repeat(made, built.crd, origin)
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
                built = yield self.level(level)
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
            guide: _Built = yield self.level(fold.guide)
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
        level: _Built = yield self.level(accumulator.outer)
        outer = level.crd
        value: int = yield self.value(accumulator.value, origin)
        if accumulator.is_cut:
            made: tuple[int, ...] = (outer, value)
            if accumulator.drops:
                made = self._drop_values(value, outer, origin, origin)[::-1]
        else:
            inner: tuple[int, ...] = ()
            for inside in accumulator.inner:
                level = yield self.level(inside)
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

    def _emitted(self, level: AccIn) -> Steps[_Built]:
        """A level of an accumulator, aligned with what the levels outside it became."""
        accumulator = self.table.accumulators[level.accumulator]
        depth = accumulator.indices.index(level.index)
        made: tuple[int, ...] = yield self._accumulate(accumulator.name)
        if level.raw:
            return _Built(made[depth], {})
        crd: int = yield self._aligned(accumulator, made[depth], depth)
        if depth < accumulator.order - 1:
            return _Built(crd, {})
        value: int = yield self._aligned(accumulator, made[-1], depth)
        return _Built(crd, {accumulator.name: value})

    def _aligned(self, accumulator: Accumulator, stream: int, depth: int) -> Steps[int]:
        """A stream inside ``depth`` emitted levels, with one fiber per coordinate they have now."""
        for k in range(depth):
            level = accumulator.emitted(accumulator.indices[k])
            entered: _Built = yield self._shifted(level, accumulator.joined[k])
            joined: _Built = yield self.level(accumulator.joined[k])
            before, after = entered.crd, joined.crd
            if before == after:
                continue
            nest, kind = self.draft.indices(stream), self.draft.kind(stream)
            params: dict[str, Scalar] = {"levels": len(nest) - len(self.draft.indices(after))}
            outputs = ((kind, nest, f"{accumulator.name} aligned {kind.value}"),)
            inputs = (before, after, stream)
            label = f"Align {accumulator.name}"
            (stream,) = self.draft.add("fiber_align", inputs, outputs, params, label)
        return stream

    def _shifted(self, level: AccIn, joined: str) -> Steps[_Built]:
        """The coordinates of an emitted level as they enter the level it is joined in."""
        outer = self.table.levels[joined]

        way = _way_to(level, outer.tree)
        assert way is not None
        built: _Built = yield self._emitted(level)
        for shifted in way:
            built = self._shift(shifted, built, outer.prefix)
        return built

    # Outputs ----------------------------------------------------------------------------------

    def _drop_values(self, val: int, crd: int, name: str, origin: str = "") -> tuple[int, int]:
        indices = self.draft.indices(crd)
        outputs = ((VAL, indices, f"{name} kept val"), (CRD, indices, f"{name} kept crd"))
        kept = self.draft.add("valdrop", (val, crd), outputs, None, f"Drop {name}", origin)
        return kept[0], kept[1]

    def _write(self, output: Output) -> Steps[None]:
        value: int = yield self.value(output.value, f"{output.column}.{VALUE_ROW}")
        crds: list[int] = []
        for name in output.levels:
            level: _Built = yield self.level(name)
            crds.append(level.crd)
        if output.drop_values:
            value, crds[-1] = self._drop_values(value, crds[-1], output.tensor)
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


def _way_to(level: AccIn, tree: LevelTree) -> list[Shifted] | None:
    """The shifts around a level in a tree, the innermost first; None if the tree lacks it."""
    above: dict[int, LevelTree] = {}  # by id: a part of the tree that each other is directly in
    for whole in postorder([tree], _parts):
        for part in _parts(whole):
            above.setdefault(id(part), whole)
    parts = postorder([tree], _parts)
    at: LevelTree | None = next((part for part in parts if part == level), None)
    if at is None:
        return None
    way = []
    while (outer := above.get(id(at))) is not None:
        way += [outer] if isinstance(outer, Shifted) else []
        at = outer
    return way


def _columns(tree: LevelTree) -> Iterator[str]:
    """The columns whose scanners take part in a level, each part of the tree looked at once."""
    for part in postorder([tree], _parts):
        match part:
            case ScanIn(column=column) | SearchIn(column=column):
                yield column
            case LocatedLevel(columns=columns):
                yield from columns


def _parts(tree: LevelTree) -> tuple[LevelTree, ...]:
    match tree:
        case JoinOf(children=children):
            return children
        case LocatedLevel(child=child) | Shifted(child=child):
            return (child,)
        case SearchIn(wanted=wanted):
            return (wanted,)
        case _:
            return ()
