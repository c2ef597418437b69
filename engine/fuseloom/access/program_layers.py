"""The dense products, convolutions and pooling of a program as terms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod

import numpy as np

from fuseloom.access.constructs.construct import Array
from fuseloom.access.kernels import apply, dot_products, grouped_products
from fuseloom.access.layers import Layer, OtherCall
from fuseloom.access.meaning import random_data
from fuseloom.access.program_windows import window_term
from fuseloom.access.shapes import AccessShape, Dims
from fuseloom.access.terms import Term
from fuseloom.errors import DataError, ProgramError
from fuseloom.program import Access, Format, Op, Program, Statement, evaluate
from fuseloom.program.completeness import ElementPresence, presence_of, presences
from fuseloom.program.windows import (
    Extents,
    IndexPlaces,
    IndexSum,
    WindowView,
    are_filled,
    check_windows,
    has_windows,
    index_places,
)

NO_PRODUCT = "no product of two tensors: computed beside the array"
"""Why a statement is no layer."""


def layers_of_program(
    program: Program, seed: int = 0
) -> tuple[tuple[Layer, ...], tuple[OtherCall, ...]]:
    """The products, convolutions and pooling of dense tensors, each with random data of its own.

    A result counts as dense if it has every element whatever the data.  Statements that only read
    a dense tensor at windows, or pad it, belong to the layers that read their results.

    Parameters
    ----------
    seed : int
        Of the random data.

    Returns
    -------
    tuple of Layer
        In order of the statements; each is named by its last statement.
    tuple of OtherCall
        The statements that no layer includes, each with its reason.

    Examples
    --------
    >>> import fuseloom as fl
    >>> program = fl.parse("A: 8x4 dense\\nB: 4x5 dense\\nC[i,j] = A[i,k] * B[k,j]")
    >>> layers, others = layers_of_program(program)
    >>> layers[0].name, layers[0].result.shape
    ('C', (8, 5))

    A convolution of stride 2:

    >>> program = fl.parse("x: 9 dense\\nw: 3 dense\\ny[i] = x[2*i+k] * w[k]")
    >>> layers, others = layers_of_program(program)
    >>> layers[0].name, layers[0].result.shape, others
    ('y', (4,), ())
    """
    reader = _ProgramReader(program)
    layers: dict[str, Layer] = {}
    reasons: dict[str, str] = {}
    included: dict[str, frozenset[str]] = {}
    for statement, extents in zip(program.statements, program.extents, strict=True):
        name = statement.out.tensor
        try:
            made = reader.read(statement, extents)
            if isinstance(made, WindowView):
                reasons[name] = f"reads elements of {made.tensor}: computed beside the array"
            else:
                layers[name] = _layer(made, program, seed)
                included[name] = made.chain
        except (ProgramError, DataError) as error:
            reasons[name] = error.message
    part_of = _only_within(program, included)
    others = (OtherCall(x, reason) for x, reason in reasons.items() if x not in part_of)
    return tuple(layers.values()), tuple(others)


def _only_within(program: Program, included: Mapping[str, frozenset[str]]) -> set[str]:
    """Names that are needed for nothing but layers that include their statement."""
    found: set[str] = set()
    readers: dict[str, set[str]] = {}
    for statement in program.statements:
        for access in statement.operands:
            readers.setdefault(access.tensor, set()).add(statement.out.tensor)
    candidates = frozenset[str]().union(*included.values()) - {*program.outputs}
    for statement in reversed(program.statements):
        name = statement.out.tensor
        if name in candidates and all(
            reader in found or name in included.get(reader, ()) for reader in readers[name]
        ):
            found.add(name)
    return found


@dataclass(frozen=True)
class _Computation:
    """A statement as a term, and the statements before it that the term includes."""

    term: Term
    name: str
    views: tuple[WindowView, ...]

    @property
    def chain(self) -> frozenset[str]:
        return frozenset[str]().union(*(view.chain for view in self.views))


@dataclass
class _ProgramReader:
    """Reads one statement after another.

    Attributes
    ----------
    presence : dict
        Where tensors have elements whatever the data.
    views : dict
        What statements assign that only read another tensor: its indices, and where they read.
    failed : dict
        What statements assign that read another tensor as no term does, and why.
    """

    program: Program
    presence: dict[str, ElementPresence] = field(default_factory=dict)
    views: dict[str, tuple[tuple[str, ...], WindowView]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.presence = presences(self.program)

    def read(self, statement: Statement, extents: Extents) -> WindowView | _Computation:
        """A statement as a view of a dense tensor, or as a term.

        Raises
        ------
        ProgramError
            Of a statement that is neither, with the reason.
        """
        name = statement.out.tensor
        self.presence[name] = presence_of(self.program, statement, self.presence)
        if statement.op not in (Op.MUL, Op.SUM, Op.MAX) or statement.constant is not None:
            raise ProgramError(NO_PRODUCT)
        try:
            return self._read(statement, extents)
        except ProgramError as error:
            given = [x for x in statement.operands if self.program.tensor(x.tensor).made is None]
            if statement.op is Op.MUL and len(given) == 1:
                self.failed[name] = error.message
            raise

    def _read(self, statement: Statement, extents: Extents) -> WindowView | _Computation:
        """A statement as the first that it is of what its operands may be read from."""
        places = index_places(statement, extents, self.program)
        if not places.operands:
            raise ProgramError(f"{statement.operands[0].tensor} is no data")
        first: ProgramError | DataError | None = None
        for views in product(*(self._choices(x, places) for x in places.operands)):
            chain = frozenset[str]().union(*(view.chain for view in views))
            if any(view.tensor in chain for view in views):
                continue  # it would be given and computed
            try:
                return self._made(statement, extents, views, places)
            except (ProgramError, DataError) as error:
                first = first or error
        raise first or ProgramError(NO_PRODUCT)

    def _choices(self, access: Access, places: IndexPlaces) -> Iterator[WindowView]:
        """The tensor from which an operand is read: the base of a view, or itself if dense."""
        name = access.tensor
        at = [places.places.get(x, IndexSum.index(x)) for x in access.indices]
        if name in self.views:
            indices, view = self.views[name]
            yield view.read(name, dict(zip(indices, at, strict=True)))
        if self.presence[name].whole:
            yield WindowView(name, self.program.tensor(name).shape, tuple(at))
        elif name not in self.views:
            sparse = f"{name} is sparse: the dataflow machine skips what an array multiplies"
            raise ProgramError(self.failed.get(name, sparse))

    def _made(
        self, statement: Statement, extents: Extents, views: Sequence[WindowView],
        places: IndexPlaces,
    ) -> WindowView | _Computation:  # fmt: skip
        """A statement whose operands are read as these views."""
        views = (
            replace(
                views[0], ranges=(*views[0].ranges, *places.ranges),
                padded=views[0].padded or places.padded,
            ),
            *views[1:],
        )  # fmt: skip
        check_windows(views, extents)
        out, name = statement.out.indices, statement.out.tensor
        read = frozenset[str]().union(*(view.indices for view in views))
        if any(x not in read and x not in places.places for x in statement.indices):
            raise ProgramError("an index says only how often elements count: no windows")
        if len(views) > 2:
            raise ProgramError(NO_PRODUCT)
        if len(views) == 1 and read == {*out}:
            if statement.nonzero:
                raise ProgramError(f"{name} leaves out what is 0: computed beside the array")
            self.views[name] = (out, views[0])
            return views[0]
        if len(views) == 2:
            term = product_term(out, views[0], views[1], extents)
        else:
            term = pooling_term(statement, views[0], extents)
        if not statement.nonzero and are_filled(views, extents, [*read.difference(out)]):
            self.presence[name] = ElementPresence(frozenset(range(len(out))), True)
        return _Computation(term, name, views)


def product_term(out: Sequence[str], left: WindowView, right: WindowView, extents: Extents) -> Term:
    """A product of two dense tensors as dot products.

    Indices of the result that both operands have number groups; indices that the result lacks are
    summed.

    Parameters
    ----------
    out : sequence of str
        Indices of the result.
    left, right : WindowView
        Where the tensors are read.

    Raises
    ------
    ProgramError
        If nothing is summed, or something in one operand alone.

    Examples
    --------
    >>> rows = WindowView("A", (8, 4), (IndexSum.index("i"), IndexSum.index("k")))
    >>> columns = WindowView("B", (4, 5), (IndexSum.index("k"), IndexSum.index("j")))
    >>> product_term("ij", rows, columns, {"i": 8, "j": 5, "k": 4}).construct
    'transpose'
    """
    groups = [x for x in out if x in left.indices and x in right.indices]
    rows = [x for x in out if x not in right.indices]
    columns = [x for x in out if x not in left.indices]
    names = [x for view in (left, right) for place in view.places for x in place.names]
    summed = [x for x in dict.fromkeys(names) if x not in out]
    if not summed:
        raise ProgramError("nothing is summed: computed beside the array")
    if any(x not in left.indices or x not in right.indices for x in summed):
        raise ProgramError("an operand is summed by itself first")
    first = _pattern(left, groups, rows, summed, extents)
    second = _pattern(right, groups, columns, summed, extents)
    order = [*groups, *rows, *columns]
    dots = grouped_products(first, second) if groups else dot_products(first, second)
    shaped = apply("reshape", dots, AccessShape(_dims(order, extents), ()))
    return apply("transpose", shaped, tuple(order.index(x) for x in out))


def _dims(indices: Sequence[str], extents: Extents) -> Dims:
    return tuple(extents[x] for x in indices)


def _pattern(
    view: WindowView,
    groups: Sequence[str],
    own: Sequence[str],
    summed: Sequence[str],
    extents: Extents,
) -> Term:
    """An operand that iterates over groups and its own indices, and computes on the summed ones."""
    term = window_term(view, extents, [*groups, *own], summed)
    own_extent, group_extent = prod(_dims(own, extents)), prod(_dims(groups, extents))
    rows = (group_extent, own_extent) if groups else (own_extent,)
    return apply("reshape", term, AccessShape(rows, _dims(summed, extents)))


def pooling_term(statement: Statement, view: WindowView, extents: Extents) -> Term:
    """The sum or the maximum of windows.

    Raises
    ------
    ProgramError
        If what is reduced are no windows, or a window has no maximum.

    Examples
    --------
    >>> import fuseloom as fl
    >>> program = fl.parse("x: 9 dense\\nk: index 3\\ny[i] = max[k] x[2*i+k]")
    >>> view = WindowView("x", (9,), (IndexSum((("i", 2), ("k", 1))),))
    >>> pooling_term(program.statements[-1], view, {"i": 4, "k": 3}).attributes
    ('reduceMax',)
    """
    out = statement.out.indices
    summed = [x for place in view.places for x in place.names if x not in out]
    if not has_windows(view, summed):
        raise ProgramError(NO_PRODUCT)
    if statement.op is Op.MAX:
        if view.padded:
            raise ProgramError("its windows hold zeros beside elements: computed beside the array")
        if not are_filled([view], extents, summed):
            raise ProgramError("a window has no elements: computed beside the array")
        return apply("compute", "reduceMax", window_term(view, extents, out, summed, "minimum"))
    return apply("compute", "reduceSum", window_term(view, extents, out, summed))


def _layer(made: _Computation, program: Program, seed: int) -> Layer:
    """A term with data, and with what the program's statements compute of them."""
    data = {x: _as_stored(array) for x, array in random_data(made.term, seed).items()}
    needed = {*made.chain, made.name}
    statements = tuple(s for s in program.statements if s.out.tensor in needed)
    used = needed | {access.tensor for s in statements for access in s.operands}
    tensors = tuple(
        replace(x, format=Format.dense(x.rank)) if x.name in data else x
        for x in program.tensors
        if x.name in used
    )
    part = Program(made.name, tensors, statements, (made.name,), program.broadcast_add)
    return Layer(made.name, made.term, data, evaluate(part, data)[made.name].dense())


def _as_stored(array: Array) -> Array:
    """Numbers that the storage of a program, which is in float32, holds exactly."""
    return array.astype(np.float32).astype(np.float64)
