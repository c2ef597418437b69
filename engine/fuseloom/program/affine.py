"""Accesses at computed places: ``x[2*i + k - 1]``, ``A[i,i]``, ``X[p[i],c]``, ``A[0,j]``.

Each becomes a product with a tensor that is made (:mod:`fuseloom.program.relations`), summed over
an
index of its own, which has one coordinate or none for every place that is read::

    y[i] = x[2*i + k] * w[k]      x_at[i,k,x0]: 4x3x10 [dense, dense, compressed] where x0 = 2*i + k
                            ->    y_1[i,k] = x[x0] * x_at[i,k,x0]
                                  y[i] = y_1[i,k] * w[k]

So such accesses stream, fuse and cost what any product does, and what lies outside is absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from fuseloom.errors import ProgramError
from fuseloom.program.functions import Op
from fuseloom.program.primes import numbered, unused
from fuseloom.program.relations import Relation, bounds, check_relation
from fuseloom.program.syntax import (
    Binary,
    ComputedAccess,
    Expression,
    Gather,
    Identifier,
    Position,
    Read,
    Reduce,
    SourcePlace,
    StatementSyntax,
    Unary,
    parts,
    rebuilt,
    walk,
)
from fuseloom.program.types import Tensor

Shape = tuple[int, ...]
Sizes = dict[str, int]


@dataclass
class AccessRewriter:
    """Rewrites the accesses of one line after another.

    Parameters
    ----------
    shapes : dict
        Of the declared tensors; those that lines assign are added.
    lists : mapping
        Lists of numbers by name.
    indices : mapping
        Declared sizes of indices.
    taken : set of str
        Names that made tensors must avoid; theirs are added.
    versions : mapping
        What is assigned as part of a declared tensor: its name, and which dimensions it has.
    """

    shapes: dict[str, Shape]
    lists: Mapping[str, tuple[int, ...]]
    indices: Mapping[str, int]
    taken: set[str]
    versions: Mapping[str, tuple[str, tuple[int, ...]]]
    made: dict[tuple[Shape, Relation], Tensor] = field(default_factory=dict)
    places: dict[str, SourcePlace] = field(default_factory=dict)

    def rewritten(self, line: StatementSyntax) -> StatementSyntax:
        """The line without accesses at computed places.

        Raises
        ------
        ProgramError
            A place that never lies inside the tensor, an index without a size, a list that is not
            declared, or a tensor that its own statement reads.
        """
        located = [x for x in walk(line.expression) if isinstance(x, ComputedAccess)]
        for node in located:
            if node.name == line.target.name:
                raise _recurrence(node)
        sizes = self._sizes(line.expression)
        target = line.target
        declared = () if _is_reshape(line.expression) else self._declared(target.name)
        if len(declared) == len(target.indices):
            for x, size in zip(target.indices, declared, strict=True):
                sizes.setdefault(x.text, size)
        if located:
            _check_concats(line.expression)
            self._check_sizes(line, sizes)
            known = [x for x in located if len(self.shapes.get(x.name, ())) == len(x.positions)]
            self._infer(known, sizes, target)  # the check of the program says what others lack
            used = {x.text for x in target.indices} | _indices(line.expression)
            order = [x.text for x in target.indices]

            def change(node: Expression) -> Expression:
                if isinstance(node, ComputedAccess):
                    return self._product(node, sizes, order, used)
                return node

            line = replace(line, expression=rebuilt(line.expression, change))
        if target.name not in self.shapes and all(x.text in sizes for x in target.indices):
            self.shapes[target.name] = tuple(sizes[x.text] for x in target.indices)
        return line

    def _declared(self, name: str) -> Shape:
        """The shape of a result, where that is declared."""
        whole, dimensions = self.versions.get(name, (name, None))
        shape = self.shapes.get(whole, ())
        if dimensions is None:
            return shape
        return (
            tuple(shape[d] for d in dimensions) if all(d < len(shape) for d in dimensions) else ()
        )

    # Sizes ------------------------------------------------------------------------------------

    def _sizes(self, node: Expression) -> Sizes:
        """Return the known sizes of indices: those that are alone at a known dimension."""
        if isinstance(node, Read | ComputedAccess):
            shape = self.shapes.get(node.name, ())
            at = node.indices if isinstance(node, Read) else node.positions
            if len(shape) != len(at):
                return {}
            pairs = [*zip(at, shape, strict=True)]
            return {x.text: n for x, n in reversed(pairs) if isinstance(x, Identifier)}
        found: Sizes = {}
        several = [self._sizes(part) for part in parts(node)]
        for sizes in several:
            found = sizes | found
        if isinstance(node, Gather) and node.axis is not None:
            axis = node.axis.text
            found.pop(axis, None)
            if all(axis in sizes for sizes in several):
                found[axis] = sum(sizes[axis] for sizes in several)
        return found

    def _check_sizes(self, line: StatementSyntax, sizes: Sizes) -> None:
        """Take the declared sizes of indices, and refuse another one."""
        for x in {x.text for x in line.target.indices} | _indices(line.expression):
            size = self.indices.get(x)
            if size is None:
                continue
            if sizes.setdefault(x, size) != size:
                raise _error(
                    f"index {x} is declared with size {size}, and has {sizes[x]} here",
                    f"write {x}+0 where it stands alone, to read at as many places as declared, or "
                    "use another index",
                    line.target.place,
                )

    def _infer(self, located: Iterable[ComputedAccess], sizes: Sizes, target: Read) -> None:
        """Give an index without a size the largest for which nothing outside is read."""
        at = [
            (node, position, length)
            for node in located
            for position, length in zip(node.positions, self._lengths(node), strict=True)
            if isinstance(position, Position)
        ]
        while True:
            open_: dict[str, int] = {}
            for node, position, length in at:
                unknown = [(c, x) for c, x in position.terms if x.text not in sizes]
                if len(unknown) == 1:
                    ((coefficient, x),) = unknown
                    size = _largest(position, coefficient, x, sizes, length)
                    if size < 1:
                        raise _no_size(node, x, target, "0 lies outside")
                    open_[x.text] = min(size, open_.get(x.text, size))
            if not open_:
                break
            sizes.update(open_)
        for node, position, _ in at:
            for _, x in position.terms:
                if x.text not in sizes:
                    raise _no_size(node, x, target, "no tensor has it alone")

    def _lengths(self, node: ComputedAccess) -> Shape:
        """Return the limit of each position: its dimension, or its list."""
        found = []
        for position, size in zip(node.positions, self.shapes[node.name], strict=True):
            entries = self._entries(position) if isinstance(position, Position) else None
            found.append(size if entries is None else len(entries))
        return tuple(found)

    def _entries(self, position: Position) -> tuple[int, ...] | None:
        name = position.entries
        if not isinstance(name, Identifier):
            return name
        if name.text in self.lists:
            return self.lists[name.text]
        if name.text in self.shapes:
            raise _error(
                f"{name.text} is a tensor, and where another tensor is read cannot depend on data",
                f"list the numbers, e.g. p: list 2, 0, 1, or multiply by a matrix that selects, "
                f"e.g. {name.text}[i,a] * X[a,c]",
                name.place,
            )
        raise _error(
            f"no list is called {name.text}", f"declare it, e.g. {name.text}: list 2, 0, 1",
            name.place,
        )  # fmt: skip

    # Products ---------------------------------------------------------------------------------

    def _product(
        self, node: ComputedAccess, sizes: Sizes, order: list[str], used: set[str]
    ) -> Expression:
        """The product that reads a tensor at computed places."""
        shape = self.shapes.get(node.name, ())
        known = len(shape) == len(node.positions)
        indices: list[Identifier] = []
        bound: list[Identifier] = []
        relations: list[Read] = []
        named: set[str] = set()
        for axis, position in enumerate(node.positions):
            if isinstance(position, Identifier):
                if position.text not in named:
                    named.add(position.text)
                    indices.append(position)
                    continue
                position = Position(((1, position),), 0, position.place)
            index = Identifier(_fresh_index(node.name, axis, used), position.place)
            named.add(index.text)
            indices.append(index)
            bound.append(index)
            if known:
                relations.append(self._made(node, position, index, shape[axis], sizes, order))
        read = Read(node.name, tuple(indices), node.place)
        if not known:  # so that the check of the program says what is wrong
            return read
        factors = (read, *relations)
        product: Expression
        if len(relations) == 1:
            product = Binary(Op.MUL, read, relations[0], node.place, 2)
        else:
            product = Gather(Op.MUL, None, factors, node.place, 2)
        return Reduce(Op.SUM, tuple(bound), product, node.place, 3, "sum", node.free)

    def _made(
        self,
        node: ComputedAccess,
        position: Position,
        index: Identifier,
        size: int,
        sizes: Sizes,
        order: list[str],
    ) -> Read:
        """The tensor that says where a position lies, and how it is read."""
        entries = self._entries(position)
        rank = {x: k for k, x in enumerate(order)}
        terms = sorted(position.terms, key=lambda term: rank.get(term[1].text, len(rank)))
        shape = (*(sizes[x.text] for _, x in terms), size)
        relation = Relation.of([c for c, _ in terms], position.offset, entries)
        low, high = bounds([(c, sizes[x.text]) for c, x in terms], position.offset)
        length = size if entries is None else len(entries)
        names = (*(x.text for _, x in terms), index.text)
        if high < 0 or low >= length:
            what = f"dimension of size {size}" if entries is None else f"list of {length}"
            raise _error(
                f"{relation.right(names) if entries is None else 'the place in the list'} runs "
                f"from {low} to {high}, and never lies inside the {what}",
                "places count from 0",
                position.place,
            )
        if (shape, relation) not in self.made:
            name = self._fresh(f"{node.name[:40]}_at")
            try:
                check_relation(name, relation, shape)
            except ProgramError as problem:
                raise _error(problem.message, problem.hint or "", position.place) from None
            self.made[shape, relation] = Tensor(name, shape, relation.format(shape), relation)
            self.shapes[name] = shape
            self.places[name] = position.place
        words = (*(x for _, x in terms), index)
        return Read(self.made[shape, relation].name, words, position.place)

    def _fresh(self, base: str) -> str:
        name = numbered(base, self.taken, first=2)
        self.taken.add(name)
        return name


def _check_concats(expression: Expression) -> None:
    """Along its own index a concat has plain accesses."""
    for gather in walk(expression):
        if not isinstance(gather, Gather) or gather.axis is None:
            continue
        for node in walk(gather):
            if not isinstance(node, ComputedAccess):
                continue
            alone = [x.text for x in node.positions if isinstance(x, Identifier)]
            for x in node.positions:
                computed = isinstance(x, Position) and any(
                    y.text == gather.axis.text for _, y in x.terms
                )
                if computed or alone.count(gather.axis.text) > 1:
                    raise _error(
                        f"{node.name} is read at a computed place along {gather.axis.text}, the "
                        "index of the concat",
                        "give it a statement of its own, and concat its result",
                        x.place,
                    )


def _indices(expression: Expression) -> set[str]:
    """All index names in an expression, bound ones too."""
    found: set[str] = set()
    for node in walk(expression):
        if isinstance(node, Read | ComputedAccess):
            found.update(node.free)
        elif isinstance(node, Reduce):
            found.update(x.text for x in node.bound)
    return found


def _fresh_index(tensor: str, axis: int, used: set[str]) -> str:
    """A name for the index that runs over a dimension."""
    name = unused(f"{tensor[:20].lower()}{axis}", used)
    used.add(name)
    return name


def _is_reshape(expression: Expression) -> bool:
    return isinstance(expression, Unary) and expression.op is Op.RESHAPE


def _largest(position: Position, coefficient: int, x: Identifier, sizes: Sizes, length: int) -> int:
    """The largest size of an index for which a position stays inside; 0 if it never does."""
    others = [(c, sizes[y.text]) for c, y in position.terms if y is not x]
    low, high = bounds(others, position.offset)
    if low < 0 or high >= length:
        return 0
    room = length - 1 - high if coefficient > 0 else low
    return room // abs(coefficient) + 1


def _no_size(node: ComputedAccess, x: Identifier, target: Read, why: str) -> ProgramError:
    shown = f"index {x.text} of {node.name} has no size: {why}"
    if x.text in {y.text for y in target.indices}:
        shape = "x".join("8" * len(target.indices))
        ways = f"declare the result, e.g. {target.name}: {shape} csf, or the index, "
    else:
        ways = "declare the index, "
    return _error(shown, f"{ways}e.g. {x.text}: index 3", x.place)


def _recurrence(node: ComputedAccess) -> ProgramError:
    name = node.name
    return _error(
        f"{name} is read by the statement that assigns it: a recurrence",
        f"write a statement per step, e.g. {name}1[n] = ..., then {name}2[n] = ... of {name}1",
        node.place,
    )


def _error(message: str, hint: str, place: SourcePlace) -> ProgramError:
    return ProgramError(message, hint=hint, line=place[0], column=place[1])
