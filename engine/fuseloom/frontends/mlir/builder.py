"""Collecting inputs and statements, and what becomes of them: a program and a schedule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from fuseloom.errors import FuseloomError, ProgramError
from fuseloom.frontends.mlir.broadcasts import settled
from fuseloom.frontends.mlir.collected import (
    Input,
    Made,
    data_of,
    declaration,
    left_out,
    notes_of,
    plain,
    resources_of,
    schedule_of,
    tensor_places,
)
from fuseloom.frontends.mlir.imported import ImportedMlir
from fuseloom.frontends.mlir.infinities import infinite_signs, with_infinities
from fuseloom.frontends.mlir.lookups import Origins
from fuseloom.frontends.mlir.selected import Selected
from fuseloom.frontends.mlir.sizes import Reach, SizeProduct, choose
from fuseloom.frontends.mlir.syntax import Argument, is_integer, refuse_meaning
from fuseloom.frontends.mlir.values import ConstantTensor, DimensionSize, View, stated
from fuseloom.program.formats import Format, LevelFormat, suggestion
from fuseloom.program.functions import Op
from fuseloom.program.limits import MAX_STATEMENTS
from fuseloom.program.relations import Relation
from fuseloom.program.syntax import SourcePlace
from fuseloom.program.types import Access, BroadcastAdd, Program, Statement, Tensor
from fuseloom.program.verify import Checker
from fuseloom.wording import counted


class MlirBuilder:
    """Inputs and statements in the order in which they are met.

    Attributes
    ----------
    checks : list of (str, callable)
        What to check once all sizes are known, if an input is needed.
    notes : list of str
        What a user should know of the program.
    left : list of FuseloomError
        Why operations and arguments are left out.
    stated : bool
        Whether the text says how broadcast sums mean their rows: then they stay as they stand.
    reaches : list of (str, Reach)
        The made tensors that read at sums of indices, and what these need; reshapes have none.
    counts : dict
        Sizes and places of the arguments that are indices.
    outside : list of str
        Arguments outside the subset, which no result needs.
    open : list of str
        Arguments with sizes that the text leaves open, and those that are indices.
    """

    def __init__(
        self, shapes: Mapping[str, Sequence[int]] | None = None, stated: bool = False
    ) -> None:
        self.shapes = shapes or {}
        self.stated = stated
        self.reaches: list[tuple[str | None, Reach | SizeProduct]] = []
        self.counts: dict[str, tuple[DimensionSize, SourcePlace]] = {}
        self.outside: list[str] = []
        self.open: list[str] = []
        self.checks: list[tuple[str, Callable[[], None]]] = []
        self.notes: list[str] = []
        self.left: list[FuseloomError] = []
        self._relations: dict[
            tuple[Relation, tuple[int, ...]], tuple[str, tuple[DimensionSize, ...]]
        ] = {}
        self.inputs: dict[str, Input] = {}
        self.made: list[Made] = []
        self.region = 0
        self._taken: set[str] = set()
        self._lacking: set[str] = set()
        self._counts: dict[str, int] = {}
        self._views: dict[int, tuple[ConstantTensor, View]] = {}
        self._origins = Origins()
        self._selections: dict[tuple[int, int], tuple[str, DimensionSize]] = {}

    def may_lack(self, value: object) -> bool:
        """Return whether a tensor may lack elements: a sparse one, or one computed from such."""
        if isinstance(value, ConstantTensor):
            return value.format is not None and not value.format.all_dense
        return isinstance(value, View) and self._lacks(value.tensor)

    def _lacks(self, tensor: str) -> bool:
        given = self.inputs.get(tensor)
        if given is None:
            return tensor in self._lacking
        return given.source is None and not given.format.all_dense

    def is_taken(self, wanted: str) -> bool:
        """Return whether the name of a value is that of another one."""
        return plain(wanted) in self._taken

    def name(self, wanted: str) -> str:
        """A name of the text language for a value, used by nothing else."""
        found = base = plain(wanted)
        while found in self._taken:
            self._counts[base] = self._counts.get(base, 1) + 1
            found = f"{base}_{self._counts[base]}"
        self._taken.add(found)
        return found

    def argument(
        self, argument: Argument, origin: tuple[str, int] | None = None, notes: tuple[str, ...] = ()
    ) -> View:
        """The input that an argument of a function is."""
        type_, place = argument.type, argument.place
        made, sizes = self.name(argument.name), stated(type_)
        found = Input(
            sizes, type_.format or Format.dense(len(sizes)), place, origin, where=argument.where,
            notes=notes, whole=type_.is_integer, blocks=type_.blocks,
        )  # fmt: skip
        self.inputs[made] = found
        if None in [size.value for size in sizes]:
            self.open.append(made)
        if made in self.shapes:
            self._given({made: self.shapes[made]}, {made: found})
        return View(made, tuple(range(len(sizes))), sizes)

    def made_tensor(
        self, name: str, relation: Relation, sizes: tuple[DimensionSize, ...], place: SourcePlace
    ) -> str:
        """The input that holds ones where a relation holds."""
        key = relation, tuple(size.identity for size in sizes)
        if key not in self._relations:
            made = self.name(name)
            fmt = relation.format([size.value for size in sizes])
            self.inputs[made] = Input(sizes, fmt, place, made=relation)
            self._relations[key] = made, sizes  # which keeps the sizes, and so their identity
        return self._relations[key][0]

    def selection(self, places: str, extent: DimensionSize, place: SourcePlace) -> str:
        """The input that says which places of a dimension a tensor holds."""
        made = {m.statement.out.tensor: m for m in self.made}
        given = self.inputs.get(places)
        sizes = made[places].sizes if given is None else given.sizes
        origin = self._origins.number(places, self.inputs, made)
        key = origin, extent.identity if extent.value is None else -extent.value
        if key not in self._selections:
            name = self.name(f"{places}_at")
            levels = (*(LevelFormat.DENSE,) * len(sizes), LevelFormat.COMPRESSED)
            fmt = Format(levels, tuple(range(len(levels))))
            self.inputs[name] = Input((*sizes, extent), fmt, place, source=places)
            self._selections[key] = name, extent  # which keeps the size, and so its identity
        return self._selections[key][0]

    def constant(self, data: ConstantTensor) -> View:
        """The input that a constant tensor is, or what it is computed of where it is infinite."""
        signs = infinite_signs(data) if id(data) not in self._views else ()
        if signs:
            self._views[id(data)] = data, with_infinities(self, data, signs)
        elif id(data) not in self._views:
            name = self.name(data.name)
            fmt = data.format or Format.dense(data.rank)
            whole = is_integer(data.element)
            self.inputs[name] = Input(
                data.sizes, fmt, data.place, data=data, whole=whole, blocks=data.blocks
            )
            view = View(name, tuple(range(data.rank)), data.sizes)
            self._views[id(data)] = (data, view)
        return self._views[id(data)][1]

    def assign(
        self,
        name: str,
        op: Op,
        operands: Sequence[Access],
        indices: tuple[str, ...],
        sizes: tuple[DimensionSize, ...],
        place: SourcePlace,
        *,
        constant: float | None = None,
        axis: str | None = None,
        order: tuple[str, ...] = (),
        format: Format | None = None,
    ) -> View:
        """Add a statement; ``name`` is what it would like to assign."""
        if len(self.made) >= 4 * MAX_STATEMENTS:
            raise refuse_meaning(
                f"the file has more than {counted(4 * MAX_STATEMENTS, 'statement')}",
                "split it",
                place,
            )
        made = self.name(name)
        statement = Statement(
            Access(made, indices), op, tuple(operands), constant, axis, place[0], place[1]
        )
        filled = op is Op.RESHAPE and (format is None or format.all_dense)
        lacks = [self._lacks(x.tensor) for x in operands]
        full = [k for k, x in enumerate(operands) if set(x.indices) >= set(indices)]
        if op.unites and full:  # one of them that is whole makes the result whole
            lacks = [all(lacks[k] for k in full)]
        if any(lacks) and not filled:
            self._lacking.add(made)
        wish = tuple(x for x in order if x in statement.indices)
        self.made.append(Made(statement, self.region, wish, sizes, format, place))
        return View(made, tuple(range(len(indices))), sizes)

    def without_zeros(self, tensor: str) -> None:
        """Have the last statement, which assigns this tensor, leave its zeros out."""
        last = self.made[-1]
        assert last.statement.out.tensor == tensor
        self.made[-1] = replace(last, statement=replace(last.statement, nonzero=True))
        self._lacking.add(tensor)

    def finish(
        self,
        name: str,
        outputs: tuple[str, ...],
        broadcast_add: BroadcastAdd | None,
        shapes: Mapping[str, Sequence[int]],
    ) -> ImportedMlir:
        """The verified program of what the outputs need.

        Parameters
        ----------
        broadcast_add : BroadcastAdd, optional
            What the text says; otherwise sums that have no sparse form act everywhere.

        Raises
        ------
        ProgramError
            A size that nothing gives, or a program without meaning.
        """
        live = self.live(outputs)
        read = {access.tensor for m in live for access in m.statement.operands}
        inputs = {n: i for n, i in self.inputs.items() if n in read}
        # Arguments first: constants may be printed anywhere.
        names = sorted(inputs, key=lambda n: inputs[n].argument is None)
        selected = Selected(self, inputs)
        every = selected.inputs
        self._given(shapes, {**self.inputs, **every})
        for count in self.counts:
            self._counted(shapes, count)
        self._choose(every, [*live, *selected.made])
        for wanted, check in self.checks:
            if wanted in every:
                check()
        places: dict[tuple[str | int, ...], SourcePlace] = {}
        tensors = [
            Tensor(
                n,
                self.shape(n, inputs[n].sizes, inputs[n].place),
                inputs[n].format,
                inputs[n].relation(),
            )
            for n in names
        ]
        for n, tensor in enumerate(tensors):
            places.update(tensor_places(n, inputs[tensor.name].place))
        for m in live:
            made = declaration(m, m.statement.out.tensor in read, self.shape)
            if made is not None:
                places.update(tensor_places(len(tensors), m.place))
                tensors.append(made)
        statements = tuple(m.statement for m in live)
        if statements:
            places["program",] = live[0].place
        add = broadcast_add or BroadcastAdd.SPARSE
        checked = Checker(name, tensors, statements, add, places).run(outputs)
        rank = {n: k for k, n in enumerate((*names, *(s.out.tensor for s in statements)))}
        ordered = tuple(sorted(checked, key=lambda t: rank[t.name]))
        program, told = settled(
            Program(name, ordered, statements, outputs, add),
            [m.order for m in live],
            stated=broadcast_add is not None,
        )
        return ImportedMlir(
            program,
            schedule_of(live, program),
            MappingProxyType({**data_of(program, inputs), **selected.data(program)}),
            MappingProxyType({n: i.argument for n, i in every.items() if i.argument}),
            MappingProxyType(resources_of(list(every), every)),
            tuple(
                dict.fromkeys(
                    [
                        *self.notes,
                        *told,
                        *notes_of(names, inputs),
                        *selected.notes(),
                        *left_out(self.left),
                    ]
                )
            ),
            selected.lookups,
            MappingProxyType(selected.indices),
            MappingProxyType({n: i.blocks for n, i in every.items() if i.blocks is not None}),
            (
                *(n for n, i in self.inputs.items() if i.argument and n not in every),
                *(plain(n) for n in (*self.counts, *self.outside)),
            ),
        )

    def count(self, name: str, place: SourcePlace) -> DimensionSize:
        """The number that an index among the arguments is: the size of something."""
        size = DimensionSize()
        self.counts[name] = size, place
        self.open.append(name)
        self._counted(self.shapes, name)
        return size

    def _counted(self, shapes: Mapping[str, Sequence[int]], name: str) -> None:
        """Make an index what the shapes say it is."""
        shape, (size, place) = shapes.get(name), self.counts[name]
        if shape is None:
            return
        if len(shape) != 1 or not shape[0] >= 0 or not size.equate(DimensionSize(shape[0])):
            raise refuse_meaning(
                f"%{name} is an index, its shape is given as {tuple(shape)}",
                f"shapes={{{name!r}: (4,)}} says what it is",
                place,
            )

    def guesses(self) -> dict[str, tuple[int, ...]]:
        """Shapes of all inputs and indices, with chosen sizes where nothing gives them."""
        found = {n: i.sizes for n, i in self.inputs.items() if i.argument is not None}
        found |= {n: (size,) for n, (size, _) in self.counts.items()}
        choose((size for sizes in found.values() for size in sizes), [r for _, r in self.reaches])
        return {n: tuple(size.value or 1 for size in sizes) for n, sizes in found.items()}

    def note_chosen(self, shapes: Mapping[str, Sequence[int]], open_: Iterable[str]) -> None:
        """Say which sizes are chosen."""
        said = [f"{name} {'x'.join(map(str, shapes[name]))}" for name in open_]
        if said:
            self.notes.append(
                f"sizes that the text leaves open are chosen: {', '.join(said)}; give others by "
                "shapes, on the command line by --tensors"
            )

    def _choose(self, inputs: Mapping[str, Input], live: Sequence[Made]) -> None:
        """Choose the sizes that nothing gives, if the program needs one, and say so."""
        found = {n: i.sizes for n, i in inputs.items()}
        made = [m.sizes for m in live]
        if all(s.value is not None for sizes in (*found.values(), *made) for s in sizes):
            return
        found |= {n: (size,) for n, (size, _) in self.counts.items()}
        open_ = [
            n
            for n, sizes in found.items()
            if (n not in inputs or inputs[n].argument) and None in [s.value for s in sizes]
        ]
        live_reaches = [r for name, r in self.reaches if name is None or name in inputs]
        choose((s for sizes in (*found.values(), *made) for s in sizes), live_reaches)
        self.note_chosen({n: [s.value or 1 for s in found[n]] for n in open_}, open_)

    def live(self, outputs: tuple[str, ...]) -> list[Made]:
        """The statements that outputs need."""
        needed = set(outputs)
        live: list[Made] = []
        for m in reversed(self.made):
            if m.statement.out.tensor in needed:
                live.append(m)
                needed.update(access.tensor for access in m.statement.operands)
        return live[::-1]

    def _given(self, shapes: Mapping[str, Sequence[int]], inputs: Mapping[str, Input]) -> None:
        for name, shape in shapes.items():
            found = inputs.get(name)
            if found is None:
                continue
            if len(shape) != len(found.sizes):
                raise refuse_meaning(
                    f"{name} has {counted(len(found.sizes), 'dimension')}, its shape is given as "
                    f"{len(shape)}",
                    "give one size per dimension",
                    found.place,
                )
            for axis, (size, n) in enumerate(zip(found.sizes, shape, strict=True)):
                if not size.equate(DimensionSize(int(n))):
                    raise refuse_meaning(
                        f"dimension {axis} of {name} is {size.value}, the shape given for it "
                        f"says {n}",
                        "give data of the sizes in the file",
                        found.place,
                    )

    def shape(
        self, name: str, sizes: tuple[DimensionSize, ...], place: SourcePlace
    ) -> tuple[int, ...]:
        """Sizes as numbers.

        Raises
        ------
        ProgramError
            If one is not known.
        """
        for axis, size in enumerate(sizes):
            if size.value is None:
                named = [n for n, i in self.inputs.items() if None in [s.value for s in i.sizes]]
                given = name if name in self.inputs or not named else named[0]
                raise refuse_meaning(
                    f"dimension {axis} of {name} is '?', and nothing says its size",
                    f"give shapes={{{given!r}: (...)}}, on the command line --tensors, or write "
                    "the size"
                    if given in self.inputs
                    else "give an operand that dimension, or write the size in its type",
                    place,
                )
        return tuple(size.value or 0 for size in sizes)


def unknown(what: str, name: str, known: Sequence[str], place: SourcePlace) -> ProgramError:
    """The error for a name that nothing defines."""
    hint = suggestion(name, list(known)) if known else "define it first"
    return refuse_meaning(f"{what} is not defined", hint, place)
