"""One entry per operation of the protobuf schema: its ports, and the primitive it is.

Rules: ``docs/spec/comal.md`` §5.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from fuseloom.dataflow.samml.exchange.schema import pb
from fuseloom.dataflow.samml.graph import Scalar, StreamKind
from fuseloom.errors import GraphError
from fuseloom.program.functions import FUNCTIONS
from fuseloom.wording import counted

CRD, REF, VAL, SIG = StreamKind.CRD, StreamKind.REF, StreamKind.VAL, StreamKind.SIG
Message: TypeAlias = Any
"""A protobuf message; its classes are made at run time."""

BLOCKS = (16, 32, 64)
"""Block edges whose timing the reference simulator has."""

KEEPS_EMPTY = "fuseloom:empty"
"""Label of a reducer of ours that gives nothing, not 0, for an empty fiber on our machine."""

BINARY_CODES: Mapping[str, int] = {
    "add": pb.ALU.ADD,
    "sub": pb.ALU.SUB,
    "mul": pb.ALU.MUL,
    "div": pb.ALU.DIV,
    "elemmul": pb.ALU.ELEMMUL,
}
UNARY_CODES: Mapping[str, int] = {
    "max": pb.ALU.MAX,
    "scalaradd": pb.ALU.SCALARADD,
    "scalarmul": pb.ALU.SCALARMUL,
    "scalardiv": pb.ALU.SCALARDIV,
    **{op.value: getattr(pb.ALU, op.name) for op in FUNCTIONS if hasattr(pb.ALU, op.name)},
}
_BINARY = {code: name for name, code in BINARY_CODES.items()}
_UNARY = {code: name for name, code in UNARY_CODES.items()}
_UNSUPPORTED = {
    "func": "the simulator has no such node",
    "genref": "the simulator has no such node",
    "coord_mask": "the schema does not say what it masks",
    "concat": "the simulator has no such node",
}


@dataclass(frozen=True)
class End:
    """One end of a channel: its kind and the id the file gives it; 0 is void."""

    kind: StreamKind
    id: int
    name: str = ""


@dataclass(frozen=True)
class Parsed:
    """A primitive an operation stands for."""

    op: str
    inputs: tuple[End, ...]
    outputs: tuple[End, ...]
    params: Mapping[str, Scalar] = field(default_factory=dict)
    label: str = ""


def parse_operation(operation: Message, title: str, signal: int) -> list[Parsed]:
    """The primitives of one operation, in order.

    Parameters
    ----------
    title : str
        Its name in messages.
    signal : int
        A free negative id, for the private signal of a repeat.

    Raises
    ------
    GraphError
        If the machine has no such primitive, naming operation, rule and way out.
    """
    kind = operation.WhichOneof("op")
    if kind is None:
        raise GraphError(f"{title} is of a kind the schema lacks",
                         hint="docs/spec/comal.md §5.1 lists what can be read")  # fmt: skip
    if kind in _UNSUPPORTED:
        raise GraphError(f"{title} is a {kind}, which cannot be run: {_UNSUPPORTED[kind]}",
                         hint="rewrite the graph without it")  # fmt: skip
    message = getattr(operation, kind)
    if kind == "repeat":
        return _repeat(message, operation.name, title, signal)
    return [_PARSERS[kind](message, operation.name, title)]


def _id(stream: Message) -> int:
    return int(stream.id.id)


def _crd(stream: Message) -> End:
    return End(CRD, _id(stream), stream.name)


def _ref(stream: Message) -> End:
    return End(REF, _id(stream), stream.name)


def _val(stream: Message) -> End:
    return End(VAL, _id(stream), stream.name)


def _payload(payload: Message, title: str) -> End:
    match payload.WhichOneof("stream"):
        case "ref_stream":
            return _ref(payload.ref_stream)
        case "val_stream":
            return _val(payload.val_stream)
    raise GraphError(f"{title} has a payload that is neither a ref nor a val stream")


def _choice(message: Message, group: str, title: str) -> End:
    """The stream a oneof holds; its field names end in the kind."""
    name = message.WhichOneof(group)
    if name is None:
        raise GraphError(f"{title} has no {group} stream")
    stream = getattr(message, name)
    return _ref(stream) if name.endswith("ref") else _val(stream)


def _root(m: Message, label: str, title: str) -> Parsed:
    return Parsed("root", (), (_ref(m.output_ref),), {}, label)


def _joiner(m: Message, label: str, title: str) -> Parsed:
    if len(m.input_pairs) != len(m.output_refs) or len(m.input_pairs) < 2:
        raise GraphError(
            f"{title} has {counted(len(m.input_pairs), 'operand')} and {len(m.output_refs)} "
            "payload outputs",
            hint="a joiner has two or more operands, and an output (0 if unused) for each",
        )
    if m.join_type not in (pb.Joiner.INTERSECT, pb.Joiner.UNION):
        raise GraphError(f"{title} has join type {m.join_type}", hint="0 intersects, 1 unites")
    union = m.join_type == pb.Joiner.UNION
    inputs: list[End] = []
    for pair in m.input_pairs:
        inputs += (_crd(pair.crd), _payload(pair.in_ref, title))
    outputs = [_crd(m.output_crd)]
    for given, payload in zip(inputs[1::2], m.output_refs, strict=True):
        # An unused output may leave its oneof empty.
        empty = payload.WhichOneof("stream") is None
        outputs.append(End(given.kind, 0) if empty else _payload(payload, title))
    params: dict[str, Scalar] = {"gate": 0} if union else {}
    return Parsed("union" if union else "intersect", tuple(inputs), tuple(outputs), params, label)


def _lookup(m: Message, label: str, title: str) -> Parsed:
    op = "scan" if m.format == "compressed" else "dense_scan"
    params: dict[str, Scalar] = {"tensor": m.tensor, "level": int(m.mode)}
    return Parsed(op, (_ref(m.input_ref),), (_crd(m.output_crd), _ref(m.output_ref)), params, label)


def _fiber_write(m: Message, label: str, title: str) -> Parsed:
    if not m.HasField("input_crd"):
        raise GraphError(f"{title} writes no coordinates", hint="connect input_crd")
    mode = int(m.mode_val) if m.mode_val.isdecimal() and len(m.mode_val) < 4 else -1
    return Parsed("crdwrite", (_crd(m.input_crd),), (), {"tensor": m.tensor, "level": mode}, label)


def _val_write(m: Message, label: str, title: str) -> Parsed:
    return Parsed("valwrite", (_val(m.input_val),), (), {"tensor": m.tensor}, label)


def _repeat(m: Message, label: str, title: str, signal: int) -> list[Parsed]:
    held, out = _choice(m, "input", title), _choice(m, "output", title)
    over = _choice(m, "signal", title)
    if held.kind is not out.kind:
        raise GraphError(f"{title} takes a {held.kind.value} stream and puts a {out.kind.value}")
    sig = End(SIG, signal)
    return [
        Parsed("repsig", (over,), (sig,), {}, m.label),
        Parsed("repeat", (held, sig), (out,), {}, label),
    ]


def _repeat_signal(m: Message, label: str, title: str) -> Parsed:
    out = End(SIG, _id(m.output_rep_sig))
    return Parsed("repsig", (_crd(m.input_crd),), (out,), {}, label)


def _array(m: Message, label: str, title: str) -> Parsed:
    params: dict[str, Scalar] = {"tensor": m.tensor, **_block(m)}
    return Parsed("array", (_ref(m.input_ref),), (_val(m.output_val),), params, label)


def _block(m: Message) -> dict[str, Scalar]:
    """Edge of the blocks a node works on; 0 if the file does not say."""
    if not m.blocked:
        return {}
    edge = m.stream_shape[-1] if m.stream_shape else 0
    return {"block": int(edge) if edge in BLOCKS else 0}


def _alu(m: Message, label: str, title: str) -> Parsed:
    if m.WhichOneof("conn") == "crds":
        raise GraphError(f"{title} computes on coordinates, which the simulator cannot",
                         hint="only ALUs on values can be read")  # fmt: skip
    if m.WhichOneof("conn") is None or not m.stages:
        raise GraphError(f"{title} has no {'stage' if m.stages == [] else 'connection'}")
    inputs = tuple(map(_val, m.vals.inputs))
    code = m.stages[0].op
    outputs = (_val(m.vals.output if m.vals.HasField("output") else m.output_val),)
    if len(inputs) == 2 and code in _BINARY:
        params: dict[str, Scalar] = {"fn": _BINARY[code], **_block(m)}
        return Parsed("binary", inputs, outputs, params, label)
    if len(inputs) == 1 and code in _UNARY:
        fn = "relu" if code == pb.ALU.MAX and m.scalar == 0 else _UNARY[code]
        params = {"fn": fn, "scalar": float(m.scalar), **_block(m)}
        return Parsed("unary", inputs, outputs, params, label)
    names = dict(zip(pb.ALU.Op.values(), pb.ALU.Op.keys(), strict=True))
    raise GraphError(
        f"{title} applies {names.get(code, code)} to {counted(len(inputs), 'input')}",
        hint="add, sub, mul, div and elemmul take two, other functions one",
    )


def _reduce(m: Message, label: str, title: str) -> Parsed:
    types = {pb.Reduce.ADD: "add", pb.Reduce.MAX: "max", pb.Reduce.ADDSUM: "add"}
    if m.reduce_type not in types:
        raise GraphError(f"{title} has reduce type {m.reduce_type}", hint="0 add, 1 max, 2 addsum")
    params: dict[str, Scalar] = {"fn": types[m.reduce_type]}
    if params["fn"] == "add" and m.label != KEEPS_EMPTY:
        params["empty_is_zero"] = True
    return Parsed("reduce", (_val(m.input_val),), (_val(m.output_val),), params, label)


def _coordinates(op: str) -> Callable[[Message, str, str], Parsed]:
    def parse(m: Message, label: str, title: str) -> Parsed:
        ins = _crd(m.in_inner), _crd(m.in_outer)
        return Parsed(op, ins, (_crd(m.out_inner), _crd(m.out_outer)), {}, label)

    return parse


def _spacc(m: Message, label: str, title: str) -> Parsed:
    outer = list(map(_crd, m.input_outer_crds))
    if m.order not in (1, 2):
        raise GraphError(
            f"{title} has order {m.order}; the simulator accumulates over one or two levels",
            hint="choose an order of loops whose summed index lies further in",
        )
    if len(outer) < m.order:
        raise GraphError(f"{title} has order {m.order}, but {len(outer)} outer streams")
    inner, val = _crd(m.input_inner_crd), _val(m.input_val)
    inner_out, val_out = _crd(m.output_inner_crd), _val(m.output_val)
    extra = [s for s in map(_crd, m.output_outer_crds[m.order - 1 :]) if s.id]
    if extra or any(s.id for s in outer[m.order :]):
        raise GraphError(f"{title} has streams that an accumulator of order {m.order} lacks")
    if m.order == 1:
        params: dict[str, Scalar] = {"fn": "add", "dim": 0}
        return Parsed("spacc1", (outer[0], inner, val), (inner_out, val_out), params, label)
    middle = _crd(m.output_outer_crds[0]) if m.output_outer_crds else End(CRD, 0)
    inputs = outer[1], outer[0], inner, val
    return Parsed("spacc2", inputs, (middle, inner_out, val_out), {}, label)


def _locate(m: Message, label: str, title: str) -> Parsed:
    outputs = _ref(m.output_ref1), _ref(m.output_ref2), _crd(m.output_crd)
    return Parsed("sam_locate", (_ref(m.input_ref), _crd(m.input_crd)), outputs, {}, label)


_ENDS: Mapping[str, Callable[[Message], End]] = {
    "crd": _crd,
    "ref": _ref,
    "val": _val,
    "repsig": lambda stream: End(SIG, _id(stream), stream.name),
}


def _routing(op: str) -> Callable[[Message, str, str], Parsed]:
    def parse(m: Message, label: str, title: str) -> Parsed:
        kind = m.WhichOneof("conn")
        if kind is None:
            raise GraphError(f"{title} has no streams")
        if kind == "repsig" and op != "broadcast":
            raise GraphError(f"{title} routes a repeat signal, which the simulator cannot")
        streams, end = getattr(m, kind), _ENDS[kind]
        inputs: tuple[End, ...]
        outputs: tuple[End, ...]
        if op == "join":
            inputs, outputs = tuple(map(end, streams.inputs)), (end(streams.output),)
        else:
            inputs, outputs = (end(streams.input),), tuple(map(end, streams.outputs))
        if not inputs or not outputs:
            raise GraphError(f"{title} has no {'outputs' if inputs else 'inputs'}")
        return Parsed(op, inputs, outputs, {}, label)

    return parse


_PARSERS: Mapping[str, Callable[[Message, str, str], Parsed]] = {
    "root": _root,
    "joiner": _joiner,
    "fiber_lookup": _lookup,
    "fiber_write": _fiber_write,
    "repeatsig": _repeat_signal,
    "alu": _alu,
    "reduce": _reduce,
    "coord_hold": _coordinates("crdhold"),
    "coord_drop": _coordinates("crddrop"),
    "array": _array,
    "spacc": _spacc,
    "val_write": _val_write,
    "broadcast": _routing("broadcast"),
    "fork": _routing("fork"),
    "join": _routing("join"),
    "locate": _locate,
}
