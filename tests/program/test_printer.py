"""Printing and reading back: text is a faithful form of every program."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from fuseloom.program import (
    Access,
    BroadcastAdd,
    Format,
    LevelFormat,
    Op,
    Program,
    Statement,
    Tensor,
    parse,
    print_program,
    program_from_json,
    program_to_json,
    verify,
)
from tests.tiers import counts

SIZES = {"i": 2, "j": 3, "k": 3, "l'": 4, "order": 5}
CONSTANTS = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def formats(draw: st.DrawFn, rank: int) -> Format:
    outermost = st.sampled_from([LevelFormat.DENSE, LevelFormat.COMPRESSED])
    inner = st.sampled_from(LevelFormat)
    order = tuple(draw(st.permutations(range(rank))))
    return Format(tuple(draw(inner if at else outermost) for at in range(rank)), order)


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Statements over fixed index sizes; each reads any earlier tensor."""
    indices = st.lists(st.sampled_from(list(SIZES)), max_size=4, unique=True)
    axes: dict[str, tuple[str, ...]] = {}
    tensors: dict[str, Tensor] = {}
    for n in range(draw(st.integers(1, 4))):
        axes[f"A{n}"] = own = tuple(draw(indices))
        shape = tuple(SIZES[x] for x in own)
        tensors[f"A{n}"] = Tensor(f"A{n}", shape, draw(formats(len(own))))
    broadcast_add = draw(st.sampled_from(BroadcastAdd))
    statements: list[Statement] = []
    read: set[str] = set()
    for n in range(draw(st.integers(1, 5))):
        op = draw(st.sampled_from([op for op in Op if op not in (Op.CONCAT, Op.RESHAPE)]))
        operands = tuple(
            Access(name, axes[name])
            for name in draw(
                st.lists(st.sampled_from(list(axes)), min_size=op.arity, max_size=op.arity)
            )
        )
        available = list(dict.fromkeys(x for a in operands for x in a.indices))
        keep = draw(st.permutations(available))
        if (op.arity == 2 or op in (Op.SUM, Op.MAX)) and op is not Op.MAXIMUM:
            keep = keep[: draw(st.integers(0, len(keep)))]
        if op is Op.MAX and len(keep) == len(available):
            keep = keep[:-1]
        left, right = set(operands[0].indices), set(operands[-1].indices)
        outer = bool(left - right and right - left)
        if (op is Op.MAX and not available) or (
            op.joins_by_union and outer and broadcast_add is BroadcastAdd.SPARSE
        ):
            op, operands, keep = Op.EXP, operands[:1], list(operands[0].indices)
        constant = draw(CONSTANTS) if op.takes_constant else None
        constant = constant or 1.0 if op is Op.AT_LEAST else constant
        name = f"T{n}"
        axes[name] = tuple(keep)
        shape = tuple(SIZES[x] for x in keep)
        order = tuple(draw(st.permutations(range(len(keep)))))
        fmt = Format((LevelFormat.COMPRESSED,) * len(keep), order)
        tensors[name] = Tensor(
            name, shape, draw(st.sampled_from([fmt, Format.compressed(len(keep))]))
        )
        statements.append(Statement(Access(name, tuple(keep)), op, operands, constant))
        read.update(a.tensor for a in operands)
    outputs = [s.out.tensor for s in statements if s.out.tensor not in read]
    for name in outputs:  # a final output may have any format
        fmt = draw(formats(tensors[name].rank))
        tensors[name] = Tensor(name, tensors[name].shape, fmt)
    ordered = tuple(draw(st.permutations(list(tensors.values()))))
    return Program("random", ordered, tuple(statements), tuple(outputs), broadcast_add)


def test_the_shape_of_a_reshape_is_printed() -> None:
    program = parse("A: 4x6 csr\nR: 8x3 csf\nR[a,b] = reshape(A[i,j])\nT[a] = R[a,b]")
    assert parse(print_program(program)) == program


@counts(small=100, deep=200, fuzz=600)
def test_round_trip(count: int) -> None:
    property_ = given(programs())(comes_back)
    settings(max_examples=count, derandomize=True, deadline=None)(property_)()


def comes_back(program: Program) -> None:
    verify(program)
    text = print_program(program)
    assert parse(text) == program
    assert print_program(parse(text)) == text
    assert program_from_json(program_to_json(program)) == program


def test_text_is_short_and_readable() -> None:
    text = (
        "program p\n"
        "A: 4x5 csc\n"
        "B: 5x6x7 [compressed, dense, compressed] order 2,0,1\n"
        "b: 4 dense\n"
        "s: scalar\n"
        "Y: 4 dense\n"
        "option broadcast_add dense\n"
        "T[i] = A[i,j] * b[i]\n"
        "U[j] = max[k,l] B[j,k,l]\n"
        "V[i] = T[i] - 0.5\n"
        "Y[i] = V[i] + s[]\n"
        "output U, Y\n"
    )
    assert print_program(parse(text)) == text
    assert str(parse(text)) == text


def test_a_declared_intermediate_that_could_be_inferred_needs_no_declaration() -> None:
    program = parse("A: 4 csf\nT: 4 csf\nT[i] = A[i]\nY[i] = exp(T[i])")
    assert "T: " not in print_program(program)
    assert parse(print_program(program)) == program
