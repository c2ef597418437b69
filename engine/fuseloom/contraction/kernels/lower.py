"""From a nest with layouts to loops over positions.

A loop over an index runs through the intersection of the compressed levels of what it makes: of
all references, within the loop, that the result of the loop is a product of, directly or by way
of workspaces that begin empty within.  Where one is absent, nothing would be added.  A loop that
makes several things makes them independently of each other, as none is read within; it is split
into one loop for each set of levels, so that each is added to only where all of its own operands
are present.
"""

from __future__ import annotations

from collections.abc import Mapping

from fuseloom.codegen.imperative import (
    Add,
    ArrayParameter,
    BinaryOperation,
    Block,
    Clear,
    Command,
    Declare,
    ElementAccess,
    Expr,
    For,
    If,
    Increase,
    Int,
    Put,
    Real,
    Routine,
    Seek,
    Set,
    Var,
    While,
    every,
)
from fuseloom.contraction.kernels.loops import split, touches_few
from fuseloom.contraction.kernels.parts import (
    LISTS,
    PRODUCTS,
    Lowered,
    Slot,
    is_whole,
    made_by,
    outer,
    pruned,
)
from fuseloom.contraction.kernels.references import Bound, Key, assignments
from fuseloom.contraction.loopnest.ir import Assign, Forall, Nest, Where, workspaces
from fuseloom.errors import ProgramError
from fuseloom.program import Access, LevelFormat

MOST_COMMANDS = 20_000


def lower(bound: Bound, listed: bool = False, counted: bool = False) -> Lowered:
    """The loops over positions of a nest.

    Parameters
    ----------
    listed : bool
        The result is a list of elements: at the end of the outermost loops, as far as their
        indices are the result's, all that it has there is read out of a dense array.
    counted : bool
        It counts how often each assignment is executed.

    Raises
    ------
    ProgramError
        If there are far too many.

    Examples
    --------
    >>> from fuseloom.codegen.emit_c import emit_c
    >>> from fuseloom.contraction.kernels.references import bind
    >>> from fuseloom.contraction.loopnest.parser import parse_nest
    >>> from fuseloom.contraction.networks import from_einsum
    >>> from fuseloom.contraction.paths import binary
    >>> tree = binary(from_einsum("ij,j->i", {"i": 2, "j": 3}))
    >>> nest = parse_nest("forall(i, forall(j, R(i) += A(i,j) * B(j)))")
    >>> levels = {"B": (LevelFormat.DENSE,)}
    >>> text = emit_c([lower(bind(nest, tree, levels)).routine])
    >>> print(text[text.index("{", text.index("void t0")):text.index("void k0")].strip())
    {
        int64_t v0 = a0[0];
        int64_t v1 = a0[(0 + 1)];
        for (int64_t v2 = v0; v2 < v1; v2++) {
            int64_t v3 = a1[v2];
            int64_t v4 = a2[v2];
            int64_t v5 = a2[(v2 + 1)];
            for (int64_t v6 = v4; v6 < v5; v6++) {
                int64_t v7 = a3[v6];
                r0[v3] += (a4[v6] * a5[v7]);
            }
        }
    }
    """
    return _LoopLowering(bound, listed, counted).lowered()


class _LoopLowering:
    """The names that were given out so far."""

    def __init__(self, bound: Bound, listed: bool, counted: bool) -> None:
        self.bound = bound
        self.listed = outer(bound) if listed else None
        self.to_list = listed
        self.slots: dict[Slot, str] = {}
        self.sizes: dict[str, str] = {}
        self.scalars: dict[str, str] = {}
        self.variables = 0
        self.commands = 0
        self.emptying = False
        self.empty_at_first: list[Command] = []
        for layout in bound.stored:
            for level, kind in enumerate(layout.format.levels):
                if kind is LevelFormat.COMPRESSED:
                    self._array(Slot(layout, "seg", level))
                    self._array(Slot(layout, "crd", level))
            self._array(Slot(layout, "values"))
        for number, access in enumerate(bound.workspaces):
            if access.indices:
                self.slots[Slot(None, access.tensor)] = f"w{number}"
            else:
                self.scalars[access.tensor] = f"s{number}"
        self.slots[Slot(None, bound.result.tensor)] = "r0"
        if listed:
            for number, part in enumerate(LISTS):
                self.slots[Slot(None, part)] = f"r{number + 1}"
        self.counts = "c0" if counted else None
        if counted:
            self.slots[Slot(None, PRODUCTS)] = "c0"

    def lowered(self) -> Lowered:
        body = self._nest(self.bound.nest, {}, {})
        body = (*self.empty_at_first, *body)
        arrays = tuple(
            ArrayParameter(name, not is_whole(slot), slot.layout is None)
            for slot, name in self.slots.items()
        )
        names = tuple(self.sizes.values())
        routine = Routine(names, arrays, tuple(self.scalars.values()), body)
        return Lowered(self.bound, routine, tuple(self.sizes), tuple(self.slots), self.listed)

    def _array(self, slot: Slot) -> str:
        return self.slots.setdefault(slot, f"a{len(self.slots)}")

    def _size(self, index: str) -> Var:
        return Var(self.sizes.setdefault(index, f"n{len(self.sizes)}"))

    def _new(self) -> str:
        self.variables += 1
        return f"v{self.variables - 1}"

    def _nest(self, nest: Nest, loops: Mapping[str, Expr], at: Mapping[Key, Expr]) -> Block:
        self.commands += 1
        if self.commands > MOST_COMMANDS:
            raise ProgramError(
                f"the nest becomes more than {MOST_COMMANDS:,} loops and assignments",
                hint="use a network of fewer contractions",
            )
        if self.to_list and tuple(loops) == self.listed:
            self.to_list = False
            return (*self._nest(nest, loops, at), *self._read_out(loops))
        match nest:
            case Forall(index=index, body=body):
                parts = split(self.bound, index, body)
                return tuple(c for n, b in parts for c in self._loop(index, n, b, loops, at))
            case Where():
                return self._where(nest, loops, at)
            case Assign():
                return (self._assign(nest, loops, at), *self._count(nest))

    # -- assignments and workspaces

    def _assign(self, assign: Assign, loops: Mapping[str, Expr], at: Mapping[Key, Expr]) -> Command:
        out = assign.out
        if self.emptying:
            return Put(self._array(Slot(None, out.tensor)), self._located(out, loops), Real(0.0))
        factors: list[Expr] = []
        for place, access in enumerate(assign.operands):
            key = assign.out.tensor, place
            layout = self.bound.layouts.get(key)
            if layout is None:
                factors.append(self._made(access, loops))
            else:
                position = at.get(key) or self._located(access, loops)
                factors.append(ElementAccess(self._array(Slot(layout, "values")), position))
        value = every("*", factors)
        if out.tensor in self.scalars:
            return Increase(self.scalars[out.tensor], value)
        return Add(self._array(Slot(None, out.tensor)), self._located(out, loops), value)

    def _count(self, assign: Assign) -> Block:
        if self.counts is None or self.emptying:
            return ()
        number = list(self.bound.tree.by_name).index(assign.out.tensor)
        return (Add(self.counts, Int(number), Int(1)),)

    def _made(self, access: Access, loops: Mapping[str, Expr]) -> Expr:
        if access.tensor in self.scalars:
            return Var(self.scalars[access.tensor])
        # A workspace lies as it is assigned, whatever the order of the reference.
        return ElementAccess(self.slots[Slot(None, access.tensor)], self._located(access, loops))

    def _located(self, access: Access, loops: Mapping[str, Expr]) -> Expr:
        """The position in a dense array."""
        position: Expr = Int(0)
        for depth, index in enumerate(self._held(access)):
            if depth:
                position = BinaryOperation("*", position, self._size(index))
                position = BinaryOperation("+", position, loops[index])
            else:
                position = loops[index]
        return position

    def _held(self, access: Access) -> tuple[str, ...]:
        """The indices of a dense array."""
        if self.listed and access is self.bound.result:
            return tuple(x for x in access.indices if x not in self.listed)
        return access.indices

    def _read_out(self, loops: Mapping[str, Expr]) -> Block:
        """Append what the result's array holds to the list, as far as there is room, and empty it.

        Positions count through all of the result, in the order of the nest's reference.
        """
        count, positions, values = (self.slots[Slot(None, part)] for part in LISTS)
        place, used = Var(self._new()), ElementAccess(count, Int(0))
        element = ElementAccess("r0", place)
        sizes: list[Expr] = [self._size(x) for x in self._held(self.bound.result)]
        end = every("*", sizes or [Int(1)])
        position: Expr = place
        if self.listed:
            above = self._located(Access("", self.listed), loops)
            position = BinaryOperation("+", BinaryOperation("*", above, end), place)
        room = BinaryOperation("<", used, ElementAccess(count, Int(1)))
        put = (Put(positions, used, position), Put(values, used, element))
        more = (If(room, put), Add(count, Int(0), Int(1)), Put("r0", place, Real(0.0)))
        test = If(BinaryOperation("!=", element, Real(0.0)), more)
        return (For(place.name, Int(0), end, (test,)),)

    def _where(self, nest: Where, loops: Mapping[str, Expr], at: Mapping[Key, Expr]) -> Block:
        block: list[Command] = []
        after: list[Command] = []
        own = sorted(workspaces(nest))
        for name in own:
            if name in self.scalars:
                block.append(Set(self.scalars[name], Real(0.0)))
                continue
            extents = [self._size(x) for x in self.bound.assigns[name].out.indices]
            clear = Clear(self.slots[Slot(None, name)], every("*", extents))
            touching = pruned(nest.producer, {name})
            assert touching is not None
            if loops and touches_few(self.bound, name, touching):
                self.empty_at_first.append(clear)
                self.emptying = True
                after += self._nest(touching, loops, at)
                self.emptying = False
            else:
                block.append(clear)
        block += self._nest(nest.producer, loops, at)
        consumer = self._nest(nest.consumer, loops, at)
        if isinstance(nest.consumer, Forall) and len(made_by(nest.consumer)) == 1:
            # All that the consumer makes is a multiple of a scalar: nothing if that is 0.
            for name in own:
                if name in self.scalars:
                    test = BinaryOperation("!=", Var(self.scalars[name]), Real(0.0))
                    consumer = (If(test, consumer),)
        return (*block, *consumer, *after)

    # -- loops

    def _loop(
        self,
        index: str,
        needed: tuple[Key, ...],
        body: Nest,
        loops: Mapping[str, Expr],
        at: Mapping[Key, Expr],
    ) -> Block:
        positions = dict(at)
        if not needed:
            name = self._new()
            positions |= self._outermost(index, body, Var(name))
            inner = self._nest(body, {**loops, index: Var(name)}, positions)
            return (For(name, Int(0), self._size(index), inner),)
        block: list[Command] = []
        crds, firsts, ends = [], [], []
        for key in needed:
            layout = self.bound.layouts[key]
            access = self.bound.assigns[key[0]].operands[key[1]]
            level = access.indices.index(index)
            seg = self._array(Slot(layout, "seg", level))
            crds.append(self._array(Slot(layout, "crd", level)))
            firsts.append(self._new())
            ends.append(self._new())
            above = at[key] if level else Int(0)
            block.append(Declare(firsts[-1], ElementAccess(seg, above)))
            block.append(Declare(ends[-1], ElementAccess(seg, BinaryOperation("+", above, Int(1)))))
        if len(needed) == 1:
            position, here = self._new(), self._new()
            positions[needed[0]] = Var(position)
            positions |= self._outermost(index, body, Var(here))
            inner = self._nest(body, {**loops, index: Var(here)}, positions)
            declared = Declare(here, ElementAccess(crds[0], Var(position)))
            block.append(For(position, Var(firsts[0]), Var(ends[0]), (declared, *inner)))
            return tuple(block)
        founds = [self._new() for _ in needed]
        here = self._new()
        positions |= {key: Var(name) for key, name in zip(needed, firsts, strict=True)}
        positions |= self._outermost(index, body, Var(here))
        inner = self._nest(body, {**loops, index: Var(here)}, positions)
        left = [BinaryOperation("<", Var(f), Var(e)) for f, e in zip(firsts, ends, strict=True)]
        same = [BinaryOperation("==", Var(found), Var(here)) for found in founds]
        block.append(
            While(
                every("and", left),
                (
                    *(
                        Declare(found, ElementAccess(crd, Var(first)))
                        for found, crd, first in zip(founds, crds, firsts, strict=True)
                    ),
                    Declare(here, every("max", [Var(found) for found in founds])),
                    If(
                        every("and", same),
                        (*inner, *(Increase(first, Int(1)) for first in firsts)),
                        tuple(
                            Set(first, Seek(crd, Var(first), Var(end), Var(here)))
                            for crd, first, end in zip(crds, firsts, ends, strict=True)
                        ),
                    ),
                ),
            )
        )
        return tuple(block)

    def _outermost(self, index: str, body: Nest, here: Expr) -> dict[Key, Expr]:
        """Positions in dense levels above compressed ones."""
        found: dict[Key, Expr] = {}
        for assign, _ in assignments(body):
            for place, access in enumerate(assign.operands):
                layout = self.bound.layouts.get((assign.out.tensor, place))
                if (
                    layout is not None
                    and not layout.format.all_dense
                    and layout.format.levels[0] is LevelFormat.DENSE
                    and access.indices[0] == index
                ):
                    found[assign.out.tensor, place] = here
        return found
