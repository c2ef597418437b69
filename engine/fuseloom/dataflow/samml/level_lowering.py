"""Levels of a fusion table as streams: scans, look-ups, joins, what accumulators emit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from fuseloom.dataflow.samml.graph import Scalar, StreamKind
from fuseloom.dataflow.samml.graph_draft import GraphDraft, Indices
from fuseloom.dataflow.table.cells import (
    AccIn,
    Accumulator,
    At,
    DenseIn,
    JoinOf,
    LevelTree,
    LocatedLevel,
    Reference,
    RepeatRef,
    Root,
    Scan,
    ScanIn,
    SearchIn,
    Shifted,
    parts_of,
)
from fuseloom.dataflow.table.table import FusionTable
from fuseloom.errors import LoweringError
from fuseloom.program.formats import LevelFormat
from fuseloom.program.stored_views import view_format
from fuseloom.program.walks import Steps, postorder

CRD, REF, SIG = StreamKind.CRD, StreamKind.REF, StreamKind.SIG


@dataclass(frozen=True)
class BuiltLevel:
    """A level that has been built: its coordinates and the payloads riding on them.

    ``partial`` names the payloads that are not those of every coordinate: those of an operand of
    a union, which are empty at some, and those of shifted coordinates.
    """

    crd: int
    payloads: dict[str, int]
    partial: frozenset[str] = frozenset()


class LevelLowering:
    """The levels of a table and the references that ride on them, each made when it is asked for.

    Parameters
    ----------
    draft : GraphDraft
        Where their nodes go.
    accumulated : callable
        The streams of an accumulator by its name: coordinates outermost first, then values.
    """

    def __init__(
        self,
        table: FusionTable,
        draft: GraphDraft,
        accumulated: Callable[[str], Steps[tuple[int, ...]]],
    ) -> None:
        self.table = table
        self.draft = draft
        self._accumulated = accumulated
        self._levels: dict[str, BuiltLevel] = {}
        self._trees: dict[tuple[int, str], BuiltLevel] = {}

    def level(self, name: str) -> Steps[BuiltLevel]:
        """The streams of a level by its name."""
        if name not in self._levels:
            level = self.table.levels[name]
            self._levels[name] = yield self._tree(level.tree, level.prefix, name)
        return self._levels[name]

    def _tree(self, tree: LevelTree, prefix: Indices, name: str) -> Steps[BuiltLevel]:
        key = (id(tree), name)  # trees share parts
        if key not in self._trees:
            self._trees[key] = yield self._new_tree(tree, prefix, name)
        return self._trees[key]

    def _new_tree(self, tree: LevelTree, prefix: Indices, name: str) -> Steps[BuiltLevel]:
        index = prefix[-1]
        match tree:
            case ScanIn(column=column):
                scanned: tuple[int, int] = yield self._scan(column, prefix)
                return BuiltLevel(scanned[0], {column: scanned[1]})
            case SearchIn(column=column, wanted=wanted):
                given: BuiltLevel = yield self._tree(wanted, prefix, name)
                found: tuple[int, int] = yield self._search(column, prefix, given.crd)
                return BuiltLevel(found[0], {column: found[1]})
            case AccIn():
                built: BuiltLevel = yield self._emitted(tree)
                return built
            case DenseIn():
                every: tuple[int, int] = yield self._dense_range(tree, prefix)
                return BuiltLevel(every[0], {})
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

    def _shift(self, shifted: Shifted, built: BuiltLevel, prefix: Indices) -> BuiltLevel:
        params: dict[str, Scalar] = {"offset": shifted.offset, "dim": shifted.size}
        label = f"Shift {prefix[-1]} by {shifted.offset}"
        outputs = ((CRD, prefix, f"{prefix[-1]} crd from {shifted.offset}"),)
        (crd,) = self.draft.add("shift", (built.crd,), outputs, params, label)
        return BuiltLevel(crd, built.payloads, frozenset(built.payloads))

    def _scan(self, column: str, prefix: Indices) -> Steps[tuple[int, int]]:
        index = prefix[-1]
        scan = self._scan_cell(column, index)
        parent: int = yield self.reference(scan.parent)
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
        parent: int = yield self.reference(scan.parent)
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

    def reference(self, reference: Reference) -> Steps[int]:
        """The stream of references to a place of a leaf."""
        match reference:
            case Root():
                return self._root()
            case At(column=column, row=row):
                expression = self.table.cell(column, row).expression
                if isinstance(expression, RepeatRef):
                    source: int = yield self.reference(expression.source)
                    over: BuiltLevel = yield self.level(expression.level)
                    return self.repeat(source, over.crd, f"{column}.{row}")
                home: BuiltLevel = yield self.level(self._home[column, row])
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

    def repeat(self, source: int, crd: int, origin: str, name: str = "") -> int:
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
        source: int = yield self.reference(scan.parent)
        parent = self.repeat(source, crd, origin)
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
        source: int = yield self.reference(scan.parent)
        for other, payload in payloads.items():
            if (other, index) not in self.table.cells:  # an accumulator's values
                continue
            same = self.table.cell(other, index).expression
            if not isinstance(same, Scan):
                continue
            if (same.tensor, same.level) == (scan.tensor, scan.level):
                parent: int = yield self.reference(same.parent)
                if parent == source:
                    return payload
        return None

    def _dense_range(self, dense: DenseIn, prefix: Indices) -> Steps[tuple[int, int]]:
        """All coordinates of an index, once per coordinate of the level outside."""
        parent = self._root()
        for outer in dense.outer:
            level: BuiltLevel = yield self.level(outer)
            parent = self.repeat(parent, level.crd, "", f"dense {dense.index}")
        index = dense.index
        outputs = ((CRD, prefix, f"{index} dense crd"), (REF, prefix, f"{index} dense ref"))
        params: dict[str, Scalar] = {"dim": dense.dim}
        crd, ref = self.draft.add("dense_scan", (parent,), outputs, params, f"dense {index}")
        return crd, ref

    def _join(self, join: JoinOf, prefix: Indices, name: str) -> Steps[BuiltLevel]:
        parts: list[BuiltLevel] = []
        for child in join.children:
            part: BuiltLevel = yield self._tree(child, prefix, name)
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
            return BuiltLevel(parts[0].crd, payloads, frozenset(partial))
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
        return BuiltLevel(made[0], payloads, frozenset(riders if join.union else partial))

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

    def _placeholder(self, part: BuiltLevel) -> int:
        """A payload for a joiner port whose own payload nothing needs."""
        if part.payloads:
            return next(iter(part.payloads.values()))
        node = next(n for n in self.draft.nodes if part.crd in n.outputs)
        nest = self.draft.indices(part.crd)
        other = (s for s in node.outputs if s is not None and s != part.crd)
        return next((s for s in other if self.draft.indices(s) == nest), part.crd)

    def _emitted(self, level: AccIn) -> Steps[BuiltLevel]:
        """A level of an accumulator, aligned with what the levels outside it became."""
        accumulator = self.table.accumulators[level.accumulator]
        depth = accumulator.indices.index(level.index)
        made: tuple[int, ...] = yield self._accumulated(accumulator.name)
        if level.raw:
            return BuiltLevel(made[depth], {})
        crd: int = yield self._aligned(accumulator, made[depth], depth)
        if depth < accumulator.order - 1:
            return BuiltLevel(crd, {})
        value: int = yield self._aligned(accumulator, made[-1], depth)
        return BuiltLevel(crd, {accumulator.name: value})

    def _aligned(self, accumulator: Accumulator, stream: int, depth: int) -> Steps[int]:
        """A stream inside ``depth`` emitted levels, with one fiber per coordinate they have now."""
        for k in range(depth):
            level = accumulator.emitted(accumulator.indices[k])
            entered: BuiltLevel = yield self._shifted(level, accumulator.joined[k])
            joined: BuiltLevel = yield self.level(accumulator.joined[k])
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

    def _shifted(self, level: AccIn, joined: str) -> Steps[BuiltLevel]:
        """The coordinates of an emitted level as they enter the level it is joined in."""
        outer = self.table.levels[joined]

        way = _way_to(level, outer.tree)
        assert way is not None
        built: BuiltLevel = yield self._emitted(level)
        for shifted in way:
            built = self._shift(shifted, built, outer.prefix)
        return built


def _way_to(level: AccIn, tree: LevelTree) -> list[Shifted] | None:
    """The shifts around a level in a tree, the innermost first; None if the tree lacks it."""
    above: dict[int, LevelTree] = {}  # by id: a part of the tree that each other is directly in
    for whole in postorder([tree], parts_of):
        for part in parts_of(whole):
            above.setdefault(id(part), whole)
    parts = postorder([tree], parts_of)
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
    for part in postorder([tree], parts_of):
        match part:
            case ScanIn(column=column) | SearchIn(column=column):
                yield column
            case LocatedLevel(columns=columns):
                yield from columns
