"""Phases as Triton: elementwise tiles, reductions of tiles, and products of matrices."""

from __future__ import annotations

from dataclasses import replace

from fuseloom.stitch.phase_values import PhaseValue
from fuseloom.stitch.triton.memory import BlockMemory
from fuseloom.stitch.triton.reductions import TileAccumulator
from fuseloom.stitch.triton.tiles import ROWS, DotTiles, TileAxis, TiledPhase
from fuseloom.stitch.triton.values import TileCode, needed_values


def phase_lines(tiled: TiledPhase, memory: BlockMemory) -> list[str]:
    """Write a phase, without indentation.

    Raises
    ------
    LoweringError
        If an operation has no form in Triton.
    """
    if tiled.is_empty:
        return ["pass"]
    return _PhaseText(tiled, memory).lines()


class _PhaseText:
    """Writes a phase."""

    def __init__(self, tiled: TiledPhase, memory: BlockMemory) -> None:
        self.tiled = tiled
        self.memory = memory
        self.by_level: dict[int, list[str]] = {}
        self.code = TileCode(
            memory.known, tiled.phase, tiled.axes, tiled.prefix, self.by_level, tiled.register_axes
        )
        self.looped = [axis for axis in tiled.axes if axis.is_looped]

    def lines(self) -> list[str]:
        """All of it."""
        self.code.begin()
        if self.tiled.dot is not None:
            return self._dot(self.tiled.dot)
        phase = self.tiled.phase
        if phase.reduction is not None:
            return self._reduction(TileAccumulator(phase))
        value = phase.value
        self.code.write(phase.values)
        return self._nested([], [], self._results(self.code.texts[id(value)], value))

    def _nested(self, begin: list[str], inner: list[str], end: list[str]) -> list[str]:
        """The loops over tiles, with lines around and within those of what is combined."""
        own = self.tiled.own_axes
        made = [*self.by_level.get(0, ())]
        depth, closed = 0, False
        for level, axis in enumerate(self.looped, 1):
            if axis not in own:
                made += _indented(begin, depth)
                closed = True
            counter = f"first_{axis.name}"
            loop = f"for {counter} in range(0, {axis.extent}, {axis.tile}):"
            made += _indented([loop], depth)
            depth += 1
            made += _indented(self.by_level.get(level, []), depth)
        made += _indented(inner if closed else [], depth)
        return made + _indented(end, depth - closed)

    def _results(self, text: str, value: PhaseValue | None) -> list[str]:
        """Lines that keep and store the elements of a tile, which are a value or a reduction."""
        operation = self.tiled.phase.operation
        made = []
        register = self.memory.known.registers.get(operation.name)
        if register is not None:
            axes = [axis for axis in self.tiled.own_axes if axis.tile > 1]
            if axes and value is not None and not self.code.axes_of(value.names):
                text = f"tl.broadcast_to({text}, [{axes[0].tile}])"
            elif axes and axes[0].view:
                made.append(f"{register.variable} = tl.reshape({text}, [{axes[0].tile}])")
            if not made:
                made.append(f"{register.variable} = {text}")
        for store in self.tiled.phase.stores:
            if store.buffered and operation.name not in self.memory.known.stored:
                continue
            if store.buffered and self.tiled.number in self.memory.in_place:
                made.append("tl.debug_barrier()")
            made.append(self.code.store(store, text))
        return made

    def _reduction(self, total: TileAccumulator) -> list[str]:
        tiled, code = self.tiled, self.code
        value, own = tiled.phase.value, tiled.own_axes
        code.write(needed_values([value, *total.start], tiled.phase))
        text, sums = code.texts[id(value)], f"{tiled.prefix}sums"
        begin: list[str] = []
        inner: list[str] = []
        end: list[str] = []
        if len(own) < len(tiled.axes):
            last = tiled.axes[-1]
            dims = [axis.tile for axis in tiled.axes if axis.tile > 1]
            if last.is_masked:
                text = f"tl.where({code.mask([last])}, {text}, {total.neutral})"
            if last.is_looped:
                begin = [f"{sums} = tl.full({dims}, {total.neutral_text}, {total.kind})"]
                inner = [f"{sums} = {total.combined(sums, text)}"]
                text = sums
            elif not self._spans(value, dims, last):
                text = f"tl.broadcast_to({text}, {dims})"
            both = len(dims) > 1
            end = [f"{sums} = {total.reduced(text, len(dims) - 1, keep=both)}"]
        else:
            end = [f"{sums} = {text}"]
        end += [f"{sums} = {total.combined(code.texts[id(one)], sums)}" for one in total.start]
        if tiled.phase.operation.array.element == "bf16":
            end.append(f"{sums} = rounded_bf16({sums})")
        single = value if len(own) == len(tiled.axes) else None
        return self._nested(begin, inner, [*end, *self._results(sums, single)])

    def _spans(self, value: PhaseValue, dims: list[int], last: TileAxis) -> bool:
        """Tell if a value that is masked along the last axis has an element for each place."""
        axes = [axis for axis in self.code.axes_of(value.names) if axis.tile > 1]
        if last.is_masked and last not in axes:
            axes.append(last)
        return len(axes) == len(dims)

    def _dot(self, dot: DotTiles) -> list[str]:
        tiled, code = self.tiled, self.code
        prefix, known = tiled.prefix, self.memory.known
        sums = f"{prefix}sums"
        down = replace(dot.products, name=f"{prefix}l", view=ROWS)
        right = TileCode(
            known, tiled.phase, [*tiled.axes[:-1], down], f"{prefix}right_", self.by_level
        )
        level = code.level([dot.products])
        code.put(level, f"{down.name} = tl.trans({dot.products.name})")
        if down.is_masked:
            code.put(level, f"in_{down.name} = {down.name} < {down.extent}")
        factors = []
        for side, value, dims in (
            (code, dot.left, [dot.rows.tile, dot.products.tile]),
            (right, dot.right, [dot.products.tile, dot.columns.tile]),
        ):
            side.write(needed_values([value], tiled.phase))
            text = side.texts[id(value)]
            axes = [axis for axis in side.axes_of(value.names) if axis.tile > 1]
            if len(axes) < 2:
                text = f"tl.broadcast_to({text}, {dims})"
            if dot.products.is_masked:
                own = dot.products if side is code else down
                text = f"tl.where({side.mask([own])}, {text}, 0.0)"
            factors.append(text)
        begin, inner, end = list[str](), list[str](), list[str]()
        if dot.products.is_looped:
            begin = [f"{sums} = tl.zeros([{dot.rows.tile}, {dot.columns.tile}], tl.float32)"]
            inner = [f'{sums} = tl.dot({", ".join(factors)}, {sums}, input_precision="ieee")']
        else:
            end = [f'{sums} = tl.dot({", ".join(factors)}, input_precision="ieee")']
        if tiled.phase.operation.array.element == "bf16":
            end.append(f"{sums} = rounded_bf16({sums})")
        return self._nested(begin, inner, [*end, *self._results(sums, None)])


def _indented(lines: list[str], depth: int) -> list[str]:
    return [f"{'    ' * depth}{line}" for line in lines]
