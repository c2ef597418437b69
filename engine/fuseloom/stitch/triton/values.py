"""Values of phases as Triton expressions, each in the outermost loop over tiles that it can be in.

A value is a scalar, a row or column of a tile, or a tile, by the axes that it depends on; where
such values meet, Triton broadcasts them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fuseloom.stitch.c.values import KernelNames
from fuseloom.stitch.phase_values import (
    ElementChoice,
    ElementLoad,
    ElementNumber,
    ElementPosition,
    KernelPhase,
    PhaseStore,
    PhaseValue,
)
from fuseloom.stitch.positions import AtomRule, PositionAtom, PositionSum
from fuseloom.stitch.triton.scalars import number_text, scalar_text, triton_type
from fuseloom.stitch.triton.tiles import COLUMNS, ROWS, AxisRun, TileAxis, axis_runs


@dataclass(frozen=True)
class RegisterTile:
    """A buffer that is a variable, and not in memory.

    Attributes
    ----------
    variable : str
        A scalar if there is one element, else a tile of one dimension.
    extent : int
        The number of elements.
    tile : int
        Of places.
    """

    variable: str
    extent: int
    tile: int


@dataclass(frozen=True)
class TritonNames:
    """Names of a kernel's arrays, and the places of its buffers, for its phases.

    Attributes
    ----------
    names : KernelNames
    registers : mapping
        Per operation the tile that its buffer is kept in.
    stored : frozenset of str
        Operations whose buffers lie in memory.
    index : str
        The type of positions.
    """

    names: KernelNames
    registers: Mapping[str, RegisterTile] = field(default_factory=dict)
    stored: frozenset[str] = frozenset()
    index: str = "tl.int32"


class TileCode:
    """Values of a phase as variables of Triton.

    Parameters
    ----------
    known : TritonNames
    phase : KernelPhase
    axes : sequence of TileAxis
        In the order of their loops.
    prefix : str
        What names of variables begin with.
    lines : dict
        Per level, 0 being before all loops, the lines that are written so far.
    register_axes : sequence of TileAxis
        Those along which tiles are read that are kept in registers.

    Attributes
    ----------
    texts : dict
        Per ``id`` of a value the name of its variable.
    """

    def __init__(
        self,
        known: TritonNames,
        phase: KernelPhase,
        axes: Sequence[TileAxis],
        prefix: str,
        lines: dict[int, list[str]],
        register_axes: Sequence[TileAxis] = (),
    ) -> None:
        self.known = known
        self.phase = phase
        self.axes = tuple(axes)
        self.prefix = prefix
        self.lines = lines
        self.register_axes = tuple(register_axes)
        self.texts: dict[int, str] = {}
        self._defined: set[str] = set()

    def begin(self) -> None:
        """Write the variables of the axes, and the conditions that they are in their range."""
        for axis in self.axes:
            own = axis.name
            if axis.tile == 1:
                text = f"first_{own}" if axis.is_looped else "0"
            else:
                wide = "" if self.known.index == "tl.int32" else f".to({self.known.index})"
                text = f"tl.arange(0, {axis.tile}){wide}"
                if axis.is_looped:
                    text = f"first_{own} + {text}"
                if axis.view:
                    text = f"({text}){axis.view}" if axis.is_looped else f"{text}{axis.view}"
            level = self.level([axis])
            self.put(level, f"{own} = {text}")
            if axis.is_masked:
                self.put(level, f"in_{own} = {own} < {axis.extent}")

    def name(self, own: str) -> str:
        """The name of a variable of this phase."""
        return f"{self.prefix}{own}"

    def put(self, level: int, line: str) -> None:
        """Add a line to a level."""
        self.lines.setdefault(level, []).append(line)

    def axes_of(self, names: frozenset[str]) -> list[TileAxis]:
        """The axes that variables of loops belong to."""
        return [axis for axis in self.axes if names & axis.names]

    def level(self, axes: Iterable[TileAxis]) -> int:
        """The loop that is the innermost of those of some axes; 0 for none."""
        looped = [axis for axis in self.axes if axis.is_looped]
        return max((looped.index(axis) + 1 for axis in axes if axis.is_looped), default=0)

    def mask(self, axes: Iterable[TileAxis]) -> str:
        """The condition that places of a tile of some axes are elements; empty if all are."""
        return " & ".join(f"in_{axis.name}" for axis in axes if axis.is_masked)

    def write(self, values: Iterable[PhaseValue]) -> None:
        """Write values, each behind those that it is computed of."""
        fixed: dict[int, list[tuple[str, int]]] = {}
        for name, one in self.phase.fixed.items():
            fixed.setdefault(id(one.value), []).append((name, one.most))
        numbers = {id(value): number for number, value in enumerate(self.phase.values)}
        for value in values:
            level = self.level(self.axes_of(value.names))
            text = self.text(value)
            own = self.name(f"v{numbers[id(value)]}")
            if text.isidentifier():
                own = text
            else:
                self.put(level, f"{own} = {text}")
            self.texts[id(value)] = own
            for name, most in fixed.get(id(value), ()):
                near = f"tl.minimum(tl.maximum({own}.to(tl.int64), 0), {most})"
                self.put(level, f"{self.name(name)} = {near}.to({self.known.index})")

    def text(self, value: PhaseValue) -> str:
        """The expression of a value, of variables of those that it is computed of."""
        if isinstance(value, ElementNumber):
            return number_text(value.number, value.element)
        if isinstance(value, ElementLoad):
            return self._load(value)
        if isinstance(value, ElementPosition):
            kind = triton_type(value.element)
            text = self.position(value.at)
            text = f"({text}).to({kind})" if value.at.names else f"tl.full([], {text}, {kind})"
            return f"rounded_bf16({text})" if value.element == "bf16" else text
        if isinstance(value, ElementChoice):
            return self._choice(value)
        operands = [(self.texts[id(one)], one.element) for one in value.operands]
        return scalar_text(value.opcode, operands, value.element, value.attributes)

    def _load(self, value: ElementLoad) -> str:
        if value.buffered:
            register = self.known.registers.get(value.source)
            text = register_text(register, value.at, self.register_axes) if register else None
            if text is not None:
                return text
        arrays = self.known.names.buffers if value.buffered else self.known.names.inputs
        place = self.address(arrays[value.source], value.at)
        mask = self.mask(self.axes_of(value.names))
        made = f"tl.load({place}, mask={mask}, other=0)" if mask else f"tl.load({place})"
        if value.element == "bf16":
            return f"{made}.to(tl.float32)"
        return f"{made} != 0" if value.element == "pred" and value.buffered else made

    def address(self, array: str, at: PositionSum) -> str:
        """The pointer to an element of an array."""
        text = self.position(at)
        if text == "0":
            return array
        return f"{array} + {text if text.isidentifier() or text.isdigit() else f'({text})'}"

    def store(self, store: PhaseStore, value: str) -> str:
        """The line that stores the value of the phase."""
        operation = self.phase.operation
        axes = self.axes_of(store.at.names)
        arrays = self.known.names.buffers if store.buffered else self.known.names.outputs
        place = self.address(arrays[operation.name], store.at)
        if operation.array.element == "bf16":
            value = f"{value}.to(tl.bfloat16)"
        elif operation.array.element == "pred" and store.buffered:
            value = f"{value}.to(tl.int8)"
        mask = self.mask(axes)
        return f"tl.store({place}, {value}{f', mask={mask}' if mask else ''})"

    def position(self, at: PositionSum) -> str:
        """A sum as an expression of variables of axes, and of numbers that are made of these."""
        runs, others = axis_runs(at, self.axes)
        terms = [(self._run(run), run.factor) for run in runs]
        terms += [(self._atom(atom), factor) for atom, factor in others]
        return sum_text(terms, at.constant)

    def _run(self, run: AxisRun) -> str:
        if run.is_axis:
            return run.axis.name
        own = self.name(run.name)
        if own not in self._defined:
            self._defined.add(own)
            self.put(self.level([run.axis]), f"{own} = {run.text}")
        return own

    def _atom(self, atom: PositionAtom) -> str:
        if atom.of is None:
            return self.name(atom.name) if atom.name in self.phase.fixed else atom.name
        inner = self.position(atom.of)
        if atom.rule is AtomRule.CLAMPED:
            return f"tl.minimum(tl.maximum({inner}, 0), {atom.size - 1})"
        return f"(({inner}) {'//' if atom.rule is AtomRule.QUOTIENT else '%'} {atom.by})"

    def _choice(self, value: ElementChoice) -> str:
        tests = []
        for test in value.tests:
            at = self.position(test.at)
            if test.at.least < 0:
                tests.append(f"({at} >= 0)")
            if test.at.most >= test.extent:
                tests.append(f"({at} < {test.extent})")
            if test.step > 1:
                tests.append(f"(({at}) % {test.step} == 0)")
        inside, outside = self.texts[id(value.inside)], self.texts[id(value.outside)]
        return f"tl.where({' & '.join(tests)}, {inside}, {outside})"


def register_text(tile: RegisterTile, at: PositionSum, axes: Sequence[TileAxis]) -> str | None:
    """Write the part of a tile that is read at a position; None if it is none of the plain cases.

    Examples
    --------
    >>> from fuseloom.stitch.phase_values import PhaseLoop
    >>> from fuseloom.stitch.positions import variable
    >>> row, place = variable("i", 16), variable("r", 32)
    >>> axes = [TileAxis("e", (PhaseLoop("i", 16),), 16, ROWS),
    ...         TileAxis("r", (PhaseLoop("r", 32),), 32, COLUMNS)]
    >>> register_text(RegisterTile("x", 16, 16), row, axes)
    'x[:, None]'
    >>> register_text(RegisterTile("x", 512, 512), row.times(32).plus(place), axes)
    'tl.reshape(x, [16, 32])'
    >>> register_text(RegisterTile("x", 512, 512), place.times(16).plus(row), axes)
    'tl.trans(tl.reshape(x, [32, 16]))'
    >>> register_text(RegisterTile("x", 512, 512), row.times(32), axes)
    """
    runs, others = axis_runs(at, axes)
    if tile.extent == 1:
        return tile.variable
    if others or at.constant:
        return None
    if len(runs) == 1:
        return _of_one_axis(tile, runs[0])
    if len(runs) != 2 or not all(run.is_axis and run.axis.is_whole for run in runs):
        return None
    slow, fast = sorted(runs, key=lambda run: -run.factor)
    if fast.factor != 1 or slow.factor != fast.extent or tile.tile != slow.extent * fast.extent:
        return None
    made = f"tl.reshape({tile.variable}, [{slow.extent}, {fast.extent}])"
    if (slow.axis.view, fast.axis.view) == (ROWS, COLUMNS):
        return made
    return f"tl.trans({made})" if (slow.axis.view, fast.axis.view) == (COLUMNS, ROWS) else None


def _of_one_axis(tile: RegisterTile, run: AxisRun) -> str | None:
    axis = run.axis
    if run.factor != 1 or axis.is_looped or run.extent != tile.extent:
        return None
    if run.is_axis:
        return f"{tile.variable}{axis.view}" if axis.tile == tile.tile else None
    if not axis.is_whole or tile.tile != tile.extent:
        return None
    others = axis.tile // tile.tile
    if run.stride == 1:
        wide, dims = COLUMNS, [others, tile.tile]
    elif run.loops[0] is axis.loops[0]:
        wide, dims = ROWS, [tile.tile, others]
    else:
        return None
    spread = f"tl.broadcast_to({tile.variable}{wide}, {dims})"
    return f"tl.reshape({spread}, [{axis.tile}]){axis.view}"


def sum_text(terms: Sequence[tuple[str, int]], constant: int) -> str:
    """Write a sum of products with constants.

    Examples
    --------
    >>> sum_text([("i", 8), ("j", -1)], -1), sum_text([], 3)
    ('8 * i - j - 1', '3')
    """
    made = ""
    for name, factor in terms:
        size = abs(factor)
        text = name if size == 1 else f"{size} * {name}"
        if made:
            made += f" {'-' if factor < 0 else '+'} {text}"
        else:
            made = f"-{text}" if factor < 0 else text
    if constant or not made:
        sign = f" {'-' if constant < 0 else '+'} " if made else "-" if constant < 0 else ""
        made += f"{sign}{abs(constant)}"
    return made


def needed_values(ends: Iterable[PhaseValue], phase: KernelPhase) -> list[PhaseValue]:
    """Return the values that some are computed of, and these, in the order of the phase.

    Positions that are known only when the kernel runs are computed of values, too.

    Examples
    --------
    >>> one, other = ElementNumber(1.0, "f32"), ElementNumber(2.0, "f32")
    >>> from fuseloom.stitch.graph import DenseOperation
    >>> from fuseloom.stitch.shapes import TensorShape
    >>> y = DenseOperation("y", "constant", TensorShape("f32", ()))
    >>> phase = KernelPhase(y, (), (), (one, other), other, None, ())
    >>> needed_values([other], phase) == [other]
    True
    """
    fixed: Mapping[str, PhaseValue] = {name: one.value for name, one in phase.fixed.items()}
    found: set[int] = set()
    stack = list(ends)
    while stack:
        value = stack.pop()
        if id(value) in found:
            continue
        found.add(id(value))
        if isinstance(value, ElementChoice):
            stack += [value.inside, value.outside]
        elif not isinstance(value, ElementLoad | ElementNumber | ElementPosition):
            stack += value.operands
        stack += [fixed[name] for name in value.names if name in fixed]
    return [value for value in phase.values if id(value) in found]
