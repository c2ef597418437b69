"""The compiled form of a program: regions with their tables and graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from fuseloom.dataflow.fusion import directives
from fuseloom.dataflow.fusion.directives import (
    Fuse,
    Locate,
    LocateLevel,
    Materialise,
    Order,
    Parallel,
    Permute,
    Repeat,
    Span,
    Store,
)
from fuseloom.dataflow.fusion.pog import MOST_COUNTED, PartialOrderGraph, count_text
from fuseloom.dataflow.fusion.region import FusedRegion
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.samml.lowering import lower
from fuseloom.dataflow.samml.passes import PASSES, PassChange, Setting, run_passes, selected
from fuseloom.dataflow.samml.passes.buffers import DEFAULT_CAPACITY, size_buffers
from fuseloom.dataflow.samml.traits import Arithmetic
from fuseloom.dataflow.samml.verify import verify
from fuseloom.dataflow.table.table import FusionTable
from fuseloom.display import shown, table, tag
from fuseloom.program.dense_levels import written_levels
from fuseloom.program.formats import Format, LevelFormat
from fuseloom.program.late_fields import LateFields
from fuseloom.program.types import Program
from fuseloom.results.text_table import Align, TextColumn, text_table
from fuseloom.wording import counted, described


@dataclass(frozen=True)
class CompiledRegion(LateFields):
    """A region under one order, with its table and graph.

    Attributes
    ----------
    changes : tuple of PassChange
        What each pass did on the way from the table to the graph, in order.
    """

    region: FusedRegion
    table: FusionTable
    graph: Graph
    changes: tuple[PassChange, ...] = field(default_factory=tuple)

    def __repr__(self) -> str:
        return described(
            self,
            f"{self.name}: "
            f"{counted(len(self.region.statements), 'statement')}, order {','.join(self.order)}",
        )

    @property
    def name(self) -> str:
        return self.region.name

    @property
    def pog(self) -> PartialOrderGraph:
        return self.region.pog

    @property
    def order(self) -> tuple[str, ...]:
        like: CompiledRegion | None = self.__dict__.get("_like")  # whose table is there
        return self.table.order if like is None else like.order

    @cached_property
    def legal_orders(self) -> int | None:
        """The number of possible orders of the region; None if there are too many to count."""
        like: CompiledRegion | None = self.__dict__.get("_like")
        return self.pog.count_within(MOST_COUNTED) if like is None else like.legal_orders

    @property
    def own_order(self) -> tuple[str, ...]:
        """The order without the indices that the compiler added: what a schedule may name."""
        return tuple(x for x in self.order if x in self.region.extents)

    @cached_property
    def copies(self) -> tuple[str, ...]:
        """Tensors that memory must hold a second time, in another mode order, for this region.

        Dense tensors are not among them: any order of theirs is address arithmetic.
        """
        keys = dict.fromkeys(str(n.params.get("tensor", "")) for n in self.graph.nodes)
        names = [key.partition("@")[0] for key in keys if "@" in key]
        tensors = [self.region.program.tensor(name) for name in names]
        return tuple(t.name for t in tensors if not t.format.all_dense)

    @cached_property
    def recomputed(self) -> Mapping[str, int]:
        """Statements that the graph computes more than once, and how often.

        A tensor that is used twice is computed once where both uses need its elements at the same
        time; where they do not, it would have to be kept, and is computed again.
        """
        like: CompiledRegion | None = self.__dict__.get("_like")
        if like is not None and not like.recomputed:
            return {}
        computing = {
            node.origin.partition(".")[0]
            for node in self.graph.nodes
            if primitive(node.op).arithmetic in _COMPUTING
        }
        made = Counter(c.tensor for c in self.table.columns if c.name in computing and not c.leaf)
        return {tensor: times for tensor, times in made.items() if times > 1}


_NOTE = "orders and look-ups are the first that can be built; with data, better ones may be found"
_COMPUTING = (Arithmetic.BINARY, Arithmetic.UNARY, Arithmetic.FOLD)


@dataclass(frozen=True)
class Compilation:
    """A compiled program: its regions run one after another.

    Attributes
    ----------
    program : Program
        As its schedule changes it: in blocks, under global iteration, with levels stored dense.
    source : Program or None
        What it was before, if that is known.
    stores : tuple of Store
        How tensors are stored of which the schedule says nothing, where an estimate chose it.
    estimated : bool
        Whether orders and look-ups that the schedule leaves open were chosen by the estimate.

    Examples
    --------
    >>> import fuseloom as fl
    >>> gcn, data = fl.load("gcn", "karate")
    >>> compiled = fl.compile(gcn.program, gcn.presets["partial"])
    >>> [region.name for region in compiled.regions]
    ['T1..H', 'T5..Y']
    >>> sized = compiled.sized()  # channels that no data can deadlock
    >>> fl.simulate(sized, data).cycles
    16845
    """

    program: Program
    schedule: Schedule
    regions: tuple[CompiledRegion, ...]
    source: Program | None = None
    stores: tuple[Store, ...] = ()
    estimated: bool = field(default=False, compare=False)

    def __repr__(self) -> str:
        return described(
            self,
            f"of {self.program.name}: {counted(len(self.regions), 'region')}, "
            f"schedule {str(self.schedule) or 'every statement alone'}"
            f"{'; first orders' if self.note else ''}",
        )

    @property
    def note(self) -> str:
        """That data would allow better orders, for people; empty if data or the schedule chose."""
        if self.estimated or all(region.region.chosen is not None for region in self.regions):
            return ""
        return _NOTE

    @cached_property
    def dense_levels(self) -> Mapping[str, Format]:
        """The tensors between regions that have dense levels, and how they are stored."""
        names = [name for region in self.regions for name in region.region.outputs]
        return {
            name: self.program.tensor(name).format
            for name in names
            if LevelFormat.DENSE in written_levels(self.program, name)
        }

    @cached_property
    def resolved(self) -> Schedule:
        """The schedule with every region and its order named: it gives this very compilation.

        Whatever chose the orders, whatever data they were chosen by.
        """
        wishes = tuple(o for o in self.schedule.orders if o.last is None)
        written = {None, *(name for r in self.regions for name in r.region.outputs)}
        settings: list[directives.Setting] = [
            s
            for s in (*self.schedule.settings, *self.stores)
            if not isinstance(s, LocateLevel | Materialise)
            and (not isinstance(s, Store) or s.tensor in written)
            and self._has_effect(s)
        ]
        fusions, orders = [], []
        for r in self.regions:
            first, _, last = r.name.partition("..")
            if r.own_order:  # scalars alone have none
                orders.append(Order(first, last or first, r.own_order))
            if last:
                fusions.append(Fuse(first, last))
            span, options = Span(first, last or first), r.region.options
            for levels, on in ((options.looked_up, True), (options.scanned, False)):
                settings += [LocateLevel(view, x, on, span) for view, x in sorted(levels)]
        return Schedule(tuple(fusions), (*wishes, *orders), tuple(settings))

    def _has_effect(self, setting: directives.Setting) -> bool:
        """Return whether a setting is about some region there is, not one that was cut."""
        if not isinstance(setting, Locate | Parallel | Permute | Repeat):
            return True
        for r in self.regions:
            if setting.region is not None and setting.region.name != r.name:
                continue
            match setting:
                case Parallel(index=index):
                    there = index in r.region.extents
                case Permute(view=view, indices=indices):
                    names = r.region.views
                    there = view in names and sorted(indices) == sorted(names[view].indices)
                case _:
                    there = True
            if there:
                return True
        return False

    def sized(self, default: int = DEFAULT_CAPACITY) -> Compilation:
        """The same with finite channels, of capacities that no data can deadlock.

        Parameters
        ----------
        default : int
            Capacity of channels in which nothing has to wait (see ``size_buffers``).
        """
        regions = tuple(
            replace(r, graph=size_buffers(r.graph, r.region.extents, default=default))
            for r in self.regions
        )
        return replace(self, regions=regions)

    def with_passes(self, names: Sequence[str]) -> Compilation:
        """The same tables, lowered again, with other passes, as
        :func:`~fuseloom.dataflow.compiler.compile_program` takes them."""
        return replace(
            self, regions=tuple(finished(r.region, r.table, names) for r in self.regions)
        )

    def _repr_html_(self) -> str:
        rows = [
            (
                r.name,
                " → ".join(r.order),
                count_text(r.legal_orders),
                f"{len(r.graph.nodes):,}",
                f"{len(r.graph.streams):,}",
            )
            for r in self.regions
        ]
        heads = ["region", "order, outermost first", "legal orders", "nodes", "streams"]
        return shown(
            tag("h4", f"{self.program.name}: {len(rows)} region{'s' if len(rows) > 1 else ''}"),
            table(heads, rows, figures=(2, 3, 4)),
            tag("p", tag("code", str(self.schedule) or "every statement by itself")),
            tag("p", self.note) if self.note else "",
        )

    def __str__(self) -> str:
        return "\n\n".join(f"{r.region}\n{r.table}\n{r.graph}" for r in self.regions)


def passes_text(compilation: Compilation) -> str:
    """The table of passes, and what those that ran did to each region."""
    columns = tuple(
        TextColumn(title, align=Align.LEFT) for title in ("pass", "runs", "what it does")
    )
    rows = [(p.name, p.place.value, p.text) for p in PASSES.values()]
    lines = text_table(columns, rows, header=False)
    for r in compilation.regions:
        lines += ["", r.name] if r.changes else ["", f"{r.name}: as lowered"]
        told = "nodes {:,} -> {:,}, streams {:,} -> {:,}"
        changes = [(c.name, told.format(*c.nodes, *c.streams)) for c in r.changes]
        lines += text_table(columns[:2], changes, indent="  ", header=False)
    return "\n".join(lines)


def finished(
    region: FusedRegion, table: FusionTable, passes: Sequence[str] | None
) -> CompiledRegion:
    """A region lowered, and rewritten by the passes of those names, or by those that always run.

    A table that was built can be lowered, and the passes that always run keep a graph sound;
    others are the user's choice, so what they leave is verified.
    """
    setting = Setting(region.options.lanes, lambda: region.extents)
    graph, changes = run_passes(lower(table), PASSES, selected(PASSES, passes), setting)
    if passes is not None:
        verify(graph)
    return CompiledRegion(region, table, graph, changes)
