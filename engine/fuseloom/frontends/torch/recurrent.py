"""Recurrent layers, unrolled: each step is a cell's products, with the gates' weights apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from fuseloom.frontends.torch import views
from fuseloom.frontends.torch.products import joined, linear_of
from fuseloom.frontends.torch.traced import Traced
from fuseloom.frontends.torch.values import Value
from fuseloom.program import Op
from fuseloom.wording import counted

MOST_STEPS = 256
"""Longer sequences are refused: every step is some 20 statements for each layer."""


@dataclass(frozen=True)
class CellWeights:
    """Parameters of a cell, as nodes."""

    into: Any
    state: Any
    bias_into: Any = None
    bias_state: Any = None
    projection: Any = None


@dataclass(frozen=True)
class CellState:
    """The state that a cell keeps from step to step; None for zeros."""

    hidden: Value | None
    cell: Value | None = None


Cell = Callable[[Traced, Value, CellState, CellWeights, int], CellState]


def _part(m: Traced, node: Any, gate: int, width: int) -> Value:
    """The rows of a gate."""
    rows = slice(gate * width, (gate + 1) * width)
    if m.held(node) is None:
        raise m.builder.refuse(
            "a recurrent layer whose weights are computed from inputs",
            "give the weights as parameters, or write the cell with linear, sigmoid and tanh",
        )
    return m.derived(node, f"{node.name}_{gate}", lambda held: held[rows])


def _parts(m: Traced, weights: CellWeights, gate: int, width: int) -> list[Value | None]:
    """Weights and biases of a gate; made once for all steps."""
    made: list[Value | None] = []
    for node in (weights.into, weights.state, weights.bias_into, weights.bias_state):
        if node is None:
            made.append(None)
            continue
        key = f"{node.name}/{gate}"
        if key not in m.values:
            m.values[key] = _part(m, node, gate, width)
        made.append(m.values[key])
    return made


def _sides(
    m: Traced, x: Value, state: CellState, weights: CellWeights, gate: int, width: int
) -> tuple[Value, Value | None]:
    """Return a gate's terms of the input, and of the state."""
    into, own, bias, bias_own = _parts(m, weights, gate, width)
    assert into is not None
    assert own is not None
    given = linear_of(m, x, into, bias, f"in{gate}")
    if state.hidden is None:
        return given, None if bias_own is None else _row(bias_own, given)
    return given, linear_of(m, state.hidden, own, bias_own, f"state{gate}")


def _row(bias: Value, like: Value) -> Value:
    dims: list[int | None] = [*[None] * (like.rank - 1), 0]
    return bias.picked(dims, [*[1] * (like.rank - 1), bias.shape[0]])


def _total(m: Traced, sides: tuple[Value, Value | None]) -> Value:
    return sides[0] if sides[1] is None else m.builder.add(sides[0], sides[1])


def lstm_step(m: Traced, x: Value, state: CellState, weights: CellWeights, width: int) -> CellState:
    """Gates for input, forgetting, the new content, and output."""
    b = m.builder

    def gate(n: int) -> Value:
        return _total(m, _sides(m, x, state, weights, n, width))

    taken = b.mul(b.apply(Op.SIGMOID, gate(0), "take"), b.apply(Op.TANH, gate(2)), "taken")
    if state.cell is not None:
        kept = b.mul(b.apply(Op.SIGMOID, gate(1), "keep"), state.cell, "kept")
        taken = b.add(kept, taken, "cell")
    hidden = b.mul(b.apply(Op.SIGMOID, gate(3), "say"), b.apply(Op.TANH, taken), "hidden")
    if weights.projection is not None:
        hidden = linear_of(m, hidden, m.value(weights.projection), None, "projected")
    return CellState(hidden, taken)


def gru_step(m: Traced, x: Value, state: CellState, weights: CellWeights, width: int) -> CellState:
    """Gates for forgetting and updating, and the new content."""
    b = m.builder
    reset, update, new = (_sides(m, x, state, weights, n, width) for n in range(3))
    inner = new[0]
    if new[1] is not None:
        share = b.apply(Op.SIGMOID, _total(m, reset), "reset")
        inner = b.add(inner, b.mul(share, new[1], "remembered"))
    made = b.apply(Op.TANH, inner)
    share = b.apply(Op.SIGMOID, _total(m, update), "update")
    if state.hidden is None:
        return CellState(b.add(made, b.mul(share, made, "less"), "hidden", Op.SUB))
    gap = b.add(state.hidden, made, "gap", Op.SUB)
    return CellState(b.add(made, b.mul(share, gap, "moved"), "hidden"))


def simple_step(rectified: bool) -> Cell:
    def step(m: Traced, x: Value, state: CellState, weights: CellWeights, width: int) -> CellState:
        total = _total(m, _sides(m, x, state, weights, 0, width))
        return CellState(m.builder.apply(Op.RELU if rectified else Op.TANH, total))

    return step


# Cells --------------------------------------------------------------------------------------------


def _given(m: Traced, node: Any) -> Value | None:
    return None if m.number(node) == 0 else m.value(node)


def _width(node: Any) -> int:
    return int(node.meta["val"].shape[-1])


def cell(step: Cell) -> Callable[..., Value]:
    def handler(
        m: Traced, input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None
    ) -> Value:
        weights = CellWeights(w_ih, w_hh, b_ih, b_hh)
        made = step(m, m.value(input), CellState(_given(m, hx)), weights, _width(hx)).hidden
        assert made is not None
        return made

    return handler


def lstm_cell(
    m: Traced, input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None
) -> tuple[Value | None, Value | None]:
    weights = CellWeights(w_ih, w_hh, b_ih, b_hh)
    state = CellState(*(_given(m, node) for node in hx))
    made = lstm_step(m, m.value(input), state, weights, _width(hx[1]))
    return made.hidden, made.cell


# Layers -------------------------------------------------------------------------------------------


def layers(step: Cell, cells: bool = False) -> Callable[..., Any]:
    """``lstm``, ``gru``, ``rnn_tanh`` and ``rnn_relu`` of sequences of one length."""

    def handler(
        m: Traced,
        input: Any,
        hx: Any,
        params: Sequence[Any],
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
        batch_first: bool = False,
    ) -> tuple[Any, ...]:
        b = m.builder
        if not isinstance(batch_first, bool):
            raise b.refuse("packed sequences", "pad the sequences, and give them as a tensor")
        if train and dropout:
            raise b.refuse("dropout that trains", "call module.eval() first")
        starts = list(hx) if cells else [hx]
        steps = _steps(m, m.value(input), batch_first)
        sides = 2 if bidirectional else 1
        each = len(params) // (num_layers * sides)
        width = _width(starts[-1])
        last: list[CellState] = []
        for layer in range(num_layers):
            outputs = []
            for side in range(sides):
                at = layer * sides + side
                weights = _weights(params[at * each : (at + 1) * each], has_biases)
                state = CellState(*(_start(m, node, at) for node in starts))
                ran = []
                for x in steps if side == 0 else steps[::-1]:
                    b.step += 1
                    state = step(m, x, state, weights, width)
                    ran.append(state.hidden)
                last.append(state)
                outputs.append(ran if side == 0 else ran[::-1])
            b.step += 1
            steps = [joined(m, list(both), both[0].rank - 1) for both in zip(*outputs, strict=True)]
        time = 1 if batch_first and steps[0].rank == 2 else 0
        result = [_stacked(m, steps, time), _stacked(m, [s.hidden for s in last], 0)]
        return (*result, _stacked(m, [s.cell for s in last], 0)) if cells else tuple(result)

    return handler


def _steps(m: Traced, value: Value, batch_first: bool) -> list[Value]:
    value = m.builder.unmasked(value, "a recurrent layer")
    time = 1 if batch_first and value.rank == 3 else 0
    if value.shape[time] > MOST_STEPS:
        raise m.builder.refuse(
            f"a recurrent layer over {counted(value.shape[time], 'step')}",
            f"sequences of at most {MOST_STEPS} steps are unrolled; give a shorter example",
        )
    return list(views.pieces(m.builder, "unbind", value, (time,)))


def _weights(params: Sequence[Any], has_biases: bool) -> CellWeights:
    into, state, *rest = params
    biases = rest[:2] if has_biases else (None, None)
    projection = rest[2:] if has_biases else rest
    return CellWeights(into, state, biases[0], biases[1], projection[0] if projection else None)


def _start(m: Traced, node: Any, at: int) -> Value | None:
    """The state that a layer begins with; None for zeros."""
    if m.number(node) == 0:
        return None
    value = m.value(node)
    part: Value = views.pieces(m.builder, "select", value, (0, at))
    return part


def _stacked(m: Traced, values: Sequence[Value | None], dim: int) -> Value:
    wider = []
    for v in values:
        assert v is not None
        dims: list[int | None] = [*range(dim), None, *range(dim, v.rank)]
        wider.append(v.picked(dims, [*v.shape[:dim], 1, *v.shape[dim:]]))
    return joined(m, wider, dim)


HANDLERS: dict[str, Callable[..., Any]] = {
    "gru_cell": cell(gru_step), "lstm_cell": lstm_cell,
    "rnn_tanh_cell": cell(simple_step(False)), "rnn_relu_cell": cell(simple_step(True)),
    "lstm": layers(lstm_step, True), "gru": layers(gru_step),
    "rnn_tanh": layers(simple_step(False)), "rnn_relu": layers(simple_step(True)),
}  # fmt: skip
