"""Building a fusion table step by step (``docs/spec/fusion.md`` §3.3; FuseFlow, Algorithm 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fuseloom.dataflow.fusion.nests import Placed, PlacedLeaf, PlacedView
from fuseloom.dataflow.fusion.region import FusedRegion
from fuseloom.dataflow.fusion.views import Cut
from fuseloom.dataflow.table.cells import (
    MAX_ACCUMULATOR_ORDER,
    PASSED,
    REPEATED_BELOW,
    VALUE_ROW,
    AccIn,
    Accumulated,
    Accumulator,
    At,
    Cell,
    CellKind,
    Column,
    Compute,
    Dropped,
    Fold,
    JoinOf,
    Level,
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
    coordinates,
)
from fuseloom.dataflow.table.cuts import arrange
from fuseloom.dataflow.table.emptiness import Emptiness
from fuseloom.dataflow.table.join_trees import AccAtom
from fuseloom.dataflow.table.joins import Joins
from fuseloom.dataflow.table.levels import LevelMaker
from fuseloom.dataflow.table.table import CellChoices, FusionTable
from fuseloom.dataflow.table.table_draft import TableContext, merge
from fuseloom.dataflow.table.tile_axes import Tiles
from fuseloom.errors import LoweringError
from fuseloom.program.formats import LevelFormat
from fuseloom.program.functions import Op
from fuseloom.program.stored_views import view_format, view_key
from fuseloom.program.tile_arrays import grid_shape
from fuseloom.program.walks import Steps, unwound


def build_table(
    region: FusedRegion, order: Sequence[str] | None = None, choices: CellChoices | None = None
) -> FusionTable:
    """Build the fusion table of a region under an order.

    Parameters
    ----------
    order : sequence of str, optional
        Outermost index first; by default the schedule's, else the first legal order.
    choices : CellChoices, optional
        By default the region's options, for all cells alike.

    Raises
    ------
    OrderError
        If the order breaks an edge of the POG or cannot be realised.
    LoweringError
        If the order needs a primitive that the machine lacks.
    """
    chosen = tuple(order or region.default_order())
    region.pog.check(chosen)
    trees, rows, extents = arrange(region, chosen)
    tiles = Tiles(region.program)
    draft = TableContext(tiles.extents((p for joins, _ in trees for p in joins.placed), extents))
    if choices is None:
        options = region.options
        choices = CellChoices(
            options.locate, options.repeat_references, options.looked_up, options.scanned
        )
    outputs = []
    for number, (joins, emptiness) in enumerate(trees):
        builder = _TreeBuilder(draft, joins, emptiness, number, choices, tiles, region.extents)
        outputs.append(builder.build())
    steps = [step for phase in TableContext.PHASES for step in draft.steps[phase]]
    return FusionTable(
        region,
        rows,
        tuple(draft.columns),
        draft.levels,
        draft.accumulators,
        tuple(outputs),
        tuple(steps),
        choices,
    )


class _TreeBuilder:
    """Fills the columns of one output's tree."""

    def __init__(
        self,
        draft: TableContext,
        joins: Joins,
        emptiness: Emptiness,
        number: int,
        choices: CellChoices,
        tiles: Tiles,
        extents: Mapping[str, int],
    ) -> None:
        self.tiles = tiles
        self.extents = extents  # without the aliases of cuts
        self.draft = draft
        self.choices = choices
        self.joins = joins
        self.emptiness = emptiness
        self.number = number
        self.rank = joins.rank
        self.leaf_columns: dict[tuple[int, int], str] = {}
        self.columns: dict[int, str] = {}
        self.results: dict[int, Value] = {}
        self.emits: dict[tuple[int, str], str] = {}
        self.readers: dict[int, list[Placed]] = {}
        self.maker = LevelMaker(
            joins,
            emptiness,
            number,
            draft.extents,
            draft.levels,
            lambda atom: self.leaf_columns[id(atom.leaf), id(atom.consumer)],
            self._accumulator_of,
            choices,
        )

    def build(self) -> Output:
        for placed in self.joins.placed:
            for operand in placed.operands:
                self.readers.setdefault(id(operand), []).append(placed)
        self._name_columns()
        for placed in self.joins.placed:
            for leaf in dict.fromkeys(v for v in placed.operands if isinstance(v, PlacedLeaf)):
                self._leaf(leaf, placed)
            self._instance(placed)
        output = self._output()
        self._align()
        merge(self.draft, self.number)
        return output

    def _name_columns(self) -> None:
        def add(name: str, view: PlacedView, nest: tuple[str, ...], statement: str) -> None:
            leaf = isinstance(view, PlacedLeaf)
            column = Column(name, view.tensor, view.indices, nest, leaf, statement)
            self.draft.columns.append(column)

        named: set[int] = set()

        def visit(placed: Placed) -> Steps[None]:
            if id(placed) in named:
                return
            named.add(id(placed))
            for operand in placed.operands:
                if isinstance(operand, Placed):
                    yield visit(operand)
                elif (id(operand), id(placed)) not in self.leaf_columns:
                    name = self.draft.column_name(operand.tensor)
                    self.leaf_columns[id(operand), id(placed)] = name
                    add(name, operand, placed.nest, placed.tensor)
            name = self.draft.column_name(placed.tensor)
            self.columns[id(placed)] = name
            add(name, placed, placed.nest, placed.tensor)

        unwound(visit(self.joins.root))

    def _accumulator_of(self, atom: AccAtom) -> Accumulator:
        self._reduce(atom.placed)
        return self.draft.accumulators[self.emits[id(atom.placed), atom.index]]

    def level(self, placed: Placed, index: str) -> str:
        return self.maker.level(self.joins.prefix(placed, index))

    # Leaves -----------------------------------------------------------------------------------

    def _leaf(self, leaf: PlacedLeaf, reader: Placed) -> None:
        name = self.leaf_columns[id(leaf), id(reader)]
        tensor = self.joins.program.tensor(leaf.tensor)
        stored = sorted(range(tensor.rank), key=lambda m: self.rank[leaf.indices[m]])
        key = view_key(tensor, tuple(stored))
        formats = view_format(tensor, stored).levels
        last = max((self.rank[x] for x in leaf.indices), default=-1)
        scans: list[tuple[str, str, Cell]] = []
        repeats: list[tuple[str, str, Cell]] = []
        parent: Reference = Root()
        for row in self.rank:
            if row not in reader.nest:
                repeats.append((name, row, PASSED))
            elif row in leaf.indices:
                at = [leaf.indices[m] for m in stored].index(row)
                dense = formats[at] is LevelFormat.DENSE
                size = grid_shape(tensor)[stored[at]]
                scan = Scan(parent, key, at, dense, size)
                scans.append((name, row, self._cell(CellKind.SCAN, scan, parent)))
                self.level(reader, row)
                parent = At(name, row)
            elif self.rank[row] < last or self._repeats_references(name, reader):
                repeat = RepeatRef(parent, self.level(reader, row))
                repeats.append((name, row, self._cell(CellKind.REPEAT, repeat, parent)))
                parent = At(name, row)
            else:
                repeats.append((name, row, REPEATED_BELOW))
        load = Load(parent, key, self.tiles.load(leaf))
        scans.append((name, VALUE_ROW, self._cell(CellKind.VALUE, load, parent)))
        repeated = self._repeats_references(name, reader)
        value = load if repeated else self._repeated(load, reader, last)
        if value != load:
            repeats.append((name, VALUE_ROW, self._cell(CellKind.VALUE, value, parent)))
        self.draft.step("leaves", f"scan and load {name}", scans)
        self.draft.step("repeats", f"repeat {name} under {reader.tensor}", repeats)

    def _repeats_references(self, column: str, reader: Placed) -> bool:
        return self.choices.references(column) and not isinstance(reader.view, Cut)

    def _repeated(self, value: Value, reader: Placed, last: int) -> Value:
        """A value repeated over the indices of its reader's nest inside rank ``last``."""
        if isinstance(reader.view, Cut):
            return value
        for x in reader.nest:
            if self.rank[x] > last:
                value = RepeatValue(value, self.level(reader, x))
        return value

    @staticmethod
    def _cell(
        kind: CellKind, expression: Scan | RepeatRef | Value, target: Reference | None = None
    ) -> Cell:
        at = f"{target.column}.{target.row}" if isinstance(target, At) else ""
        return Cell(kind, str(expression), expression, at)

    # Instances --------------------------------------------------------------------------------

    def _instance(self, placed: Placed) -> None:
        name = self.columns[id(placed)]
        self._reduce(placed)
        reader = self._only_reader(placed)
        rows: list[tuple[str, str, Cell]] = []
        reductions: list[tuple[str, str, Cell]] = []
        for row in self.rank:
            accumulator = self.emits.get((id(placed), row))
            if row in placed.reduced:
                reductions.append((name, row, Cell(CellKind.REDUCED, "reduced")))
            elif accumulator is not None:
                emitted = self.draft.accumulators[accumulator].emitted(row)
                text = coordinates(emitted.name)
                reductions.append((name, row, Cell(CellKind.ACCUMULATE, text)))
            elif row in placed.nest:
                level = self.level(placed, row)
                cell = Cell(CellKind.REFERENCE, level, None, self._member(level))
                rows.append((name, row, cell))
            elif reader and row in reader.nest and self._inside(placed, row):
                rows.append((name, row, REPEATED_BELOW))
            else:
                rows.append((name, row, PASSED))
        if not isinstance(placed.view, Cut):
            cell = self._cell(CellKind.COMPUTE, self._compute(placed))
            rows.append((name, VALUE_ROW, cell))
        self.draft.step("compute", f"compute {name}", rows)
        if placed.reduced:
            cell = self._cell(CellKind.ACCUMULATE, self._at_reader(placed))
            reductions.append((name, VALUE_ROW, cell))
            over = ", ".join(placed.reduced)
            self.draft.step("reduce", f"reduce {name} over {over}", reductions)
        elif isinstance(value := self._at_reader(placed), RepeatValue):
            cell = self._cell(CellKind.COMPUTE, value)
            self.draft.step("compute", f"repeat {name}", [(name, VALUE_ROW, cell)])

    def _inside(self, placed: Placed, row: str) -> bool:
        return all(self.rank[x] < self.rank[row] for x in placed.outer_nest)

    def _only_reader(self, placed: Placed) -> Placed | None:
        readers = self.readers.get(id(placed), [])
        return readers[0] if len({id(r) for r in readers}) == 1 else None

    def _member(self, level: str) -> str:
        """The cell a reference to a level points at."""
        tree: LevelTree = self.draft.levels[level].tree
        while isinstance(tree, JoinOf | LocatedLevel | Shifted):
            tree = tree.children[0] if isinstance(tree, JoinOf) else tree.child
        match tree:
            case ScanIn(column=column) | SearchIn(column=column):
                return f"{column}.{self.draft.levels[level].index}"
            case AccIn(accumulator=name, index=index):
                return f"{self.draft.accumulators[name].column}.{index}"
            case _:
                return ""

    def _compute(self, placed: Placed) -> Compute:
        operands = tuple(self._operand(v, placed) for v in placed.operands)
        statement = placed.view.statement
        needed = self.joins.needed(placed)
        tile = self.tiles.compute(placed)
        return Compute(statement.op, operands, statement.constant, needed, tile)

    def _operand(self, view: PlacedView, reader: Placed) -> Value:
        if isinstance(view, PlacedLeaf):
            return ValueOf(self.leaf_columns[id(view), id(reader)])
        value = ValueOf(self.columns[id(view)])
        if self._only_reader(view) is not None:
            return value
        return self._repeated(value, reader, self._last(view))

    def _last(self, placed: Placed) -> int:
        return max((self.rank[x] for x in placed.outer_nest), default=-1)

    def _at_reader(self, placed: Placed) -> Value:
        """The value cell: what an only reader takes, else the bare result."""
        value = self.results.get(id(placed)) or self._compute(placed)
        if isinstance(value, Accumulated):
            value = Accumulated(value.accumulator, self.maker.level(placed.outer_nest))
        reader = self._only_reader(placed)
        return value if reader is None else self._repeated(value, reader, self._last(placed))

    # Reductions (docs/spec/fusion.md §3.4) ---------------------------------------------------

    def _reduce(self, placed: Placed) -> None:
        """Apply the reductions of an instance, innermost first."""
        if id(placed) in self.results or not placed.reduced:
            return
        if isinstance(placed.view, Cut):
            self._cut(placed)
            return
        maximum = placed.view.statement.op is Op.MAX
        value: Value = self._compute(placed)
        self.results[id(placed)] = value
        left = [(x, self.level(placed, x)) for x in placed.nest]
        for r in sorted(placed.reduced, key=self.rank.__getitem__, reverse=True):
            at = [x for x, _ in left].index(r)
            inner = left[at + 1 :]
            if not inner:
                zero = not placed.indices and not any(x in placed.reduced for x, _ in left[:at])
                guide = self.emptiness.guide(left[:at])
                value = Fold(maximum, value, r, left[at][1], guide, zero)
                left = left[:at]
            else:
                accumulator = self._accumulator(placed, r, left[at][1], inner, value)
                value = Accumulated(accumulator.name)
                left = [*left[:at], *((x, accumulator.emitted(x, raw=True).name) for x, _ in inner)]
                if not any(x in placed.reduced for x, _ in left):
                    self.emits |= {(id(placed), x): accumulator.name for x in accumulator.indices}
        self.results[id(placed)] = value

    def _accumulator(
        self, placed: Placed, reduced: str, outer: str, inner: list[tuple[str, str]], value: Value
    ) -> Accumulator:
        """A sparse accumulator over one index, of the order of the levels inside it."""
        indices = tuple(x for x, _ in inner)
        if len(indices) > MAX_ACCUMULATOR_ORDER:
            raise LoweringError(
                f"{placed.tensor} reduces over {reduced} outside {', '.join(indices)}: that takes "
                f"an accumulator of order {len(indices)}, and the machine has up to "
                f"{MAX_ACCUMULATOR_ORDER}",
                hint=f"move {reduced} further in",
            )
        accumulator = Accumulator(
            self.draft.accumulator_name(f"Acc{len(indices)}_{reduced}"),
            self.columns[id(placed)],
            reduced,
            indices,
            tuple(level for _, level in inner),
            outer,
            value,
            placed.view.statement.op is Op.MAX,
            tuple(self.draft.extents[x] for x in indices),
        )
        self._add(accumulator, placed)
        return accumulator

    def _add(self, accumulator: Accumulator, placed: Placed) -> None:
        """Enter an accumulator and the levels it emits, as they come."""
        self.draft.accumulators[accumulator.name] = accumulator
        inside = placed.nest.index(accumulator.reduced)
        outside = tuple(x for x in placed.nest[:inside] if x not in placed.reduced)
        for k, x in enumerate(accumulator.indices):
            tree = accumulator.emitted(x, raw=True)
            prefix = (*outside, *accumulator.indices[: k + 1])
            self.draft.levels[tree.name] = Level(tree.name, prefix, self.number, tree)

    def _cut(self, placed: Placed) -> None:
        alias, index = placed.reduced[0], placed.nest[-1]
        producer = placed.operands[0]
        assert isinstance(producer, Placed)
        accumulator = Accumulator(
            self.draft.accumulator_name(f"Stream_{alias}"),
            self.columns[id(placed)],
            alias,
            (index,),
            (),
            self.level(placed, alias),
            self._operand(producer, placed),
            False,
            (self.draft.extents[index],),
            self._dropped(producer),
        )
        self._add(accumulator, placed)
        self.emits |= {(id(placed), x): accumulator.name for x in accumulator.indices}
        self.results[id(placed)] = Accumulated(accumulator.name)

    def _align(self) -> None:
        """Tell accumulators of higher order which levels their outer levels take part in."""
        for placed in self.joins.placed:
            names = {self.emits.get((id(placed), x)) for x in placed.outer_nest} - {None}
            for name in filter(None, names):
                accumulator = self.draft.accumulators[name]
                outside = len(placed.outer_nest) - accumulator.order
                joined = tuple(
                    self.maker.level(placed.outer_nest[: outside + k + 1])
                    for k in range(accumulator.order - 1)
                )
                self.draft.accumulators[name] = replace(accumulator, joined=joined)

    def _output(self) -> Output:
        root = self.joins.root
        nest = root.outer_nest
        levels = tuple(self.maker.level(nest[: k + 1]) for k in range(len(nest)))
        drop_values = self._dropped(root) if nest else None
        drops = [False] * len(nest)
        for k in range(len(nest) - 1, 0, -1):
            below = drops[k] if k + 1 < len(nest) else drop_values is not None
            drops[k - 1] = below or self._level_may_be_empty(nest[: k + 1])
        return Output(
            root.tensor,
            self.columns[id(root)],
            self.number,
            levels,
            nest,
            ValueOf(self.columns[id(root)]),
            drop_values,
            tuple(drops),
        )

    def _dropped(self, placed: Placed) -> Dropped | None:
        if not placed.drops_zeros:
            return Dropped() if self.emptiness.absent(placed) else None
        shifts, blocked = dict(placed.view.shifts), self.tiles.axes(placed)
        return Dropped(
            placed.tensor,
            tuple(placed.outer_nest.index(x) for x in placed.indices),
            tuple(
                0
                if x not in self.extents  # an alias counts from 0
                else shifts.get(x, 0) // (self.tiles.edge if x in blocked else 1)
                for x in placed.indices
            ),
        )

    def _level_may_be_empty(self, prefix: tuple[str, ...]) -> bool:
        root = self.joins.root
        if (id(root), prefix[-1]) in self.emits:
            return self.emptiness.tree(self.joins.emitted(root, prefix[-1]), prefix)
        return self.emptiness.level(prefix)
