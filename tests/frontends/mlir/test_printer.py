"""Programs as MLIR: what comes back is the same program, up to names, with the same meaning."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import fuseloom as fl
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import FuseloomError, ProgramError
from fuseloom.frontends.mlir import from_mlir, to_mlir
from fuseloom.models import (
    Model,
    autoencoder,
    bigbird_data,
    gcn,
    gpt3,
    graphsage,
    random_data,
)
from fuseloom.program import Op, Program, Statement, evaluate, parse
from fuseloom.program.functions import FUNCTIONS
from tests.tiers import counts

MODELS = {
    "gcn": gcn(nodes=12, features=6, hidden=5, classes=3),
    "graphsage": graphsage(nodes=11, features=6, hidden=5, classes=3),
    "autoencoder": autoencoder(batch=5, inputs=12, hidden=6),
    "gpt3": gpt3(tokens=16, width=8, heads=2, inner=12, decoders=2),
}
HEAD = """
A: 3x4 csr
B: 4x5 dense
v: 4 compressed
s: scalar
C: 4x6 dcsc
D: 3x4 coo
E: 1x4x1 [compressed, dense, compressed] order 2,0,1
"""
BODIES = (
    "T[i] = A[i,j]",
    "T[j,i] = A[i,j]",
    "T[i,j] = A[i,j]",
    "T = A[i,j]",
    "T[i] = max[j] A[i,j]",
    "T = max[i,j] A[i,j]",
    "T[i,j] = gelu(A[i,j])",
    "T[i,j] = sigmoid(A[i,j])",
    "T[i,j] = relu(A[i,j])",
    "T[i,j] = exp(A[i,j])",
    "T[i,j] = log(A[i,j])",
    "T[i,j] = rsqrt(A[i,j])",
    "T[i,j] = sqrt(A[i,j])",
    "T[i,j] = tanh(A[i,j])",
    "T[i,j] = abs(A[i,j])",
    "T[i,j] = nonzero(A[i,j])",
    "T[j,i] = nonzero(relu(A[i,j]))",
    "T[i,j] = nonzero(A[i,j] - D[i,j])",
    *(f"T[i,j] = {op.value}(A[i,j])" for op in FUNCTIONS),
    "T[i,j] = max(A[i,j], D[i,j])",
    "T[i,j] = max(A[i,j], v[j])",
    "T[i,j] = max(A[i,j], -2.5)",
    "T[i,j] = min(A[i,j], D[i,j], 6)",
    "T[i] = min[j] A[i,j]",
    "T[i] = C[i,i]",
    "T[i,k] = B[i+k,2*i]",
    "T[i,j] = A[(2, 0)[i],j]",
    "T[i,j] = -2.5e-7 * A[i,j]",
    "T[i,j] = A[i,j] + 1e-300",
    "T[i,j] = A[i,j] - 0.1",
    "T[i,l] = product(A[i,k], B[k,j], B[l,j])",
    "T[i,c] = concat[c](A[i,c], D[i,c])",
    "T: 2x6 dense\nT[a,b] = reshape(A[i,j])",
    "T: 3x2x2 csf order 1,0,2\nT[a,b,c] = reshape(A[i,j])",
    "T: 12 dense\nT[a] = reshape(A[i,j])",
    "T[i] = A[i,j] + D[i,j]",
    "T[i] = A[i,j] / D[i,j]",
    "T[i,j] = s * A[i,j]",
    "T[i,j] = A[i,j] + v[j]",
    "option broadcast_add dense\nT[i,j] = A[i,j] + v[j]",
    "T[i,i'] = A[i,j] * C[j,i']",
    "U[i,j] = A[i,j] * D[i,j]\nT: 3x5 csf order 1,0\nT[i,k] = U[i,j] * B[j,k]",
    "T = s * s",
    "U[a,b,c] = exp(E[a,b,c])\nT[b] = U[a,b,c]",
    "T[i] = A[i,j]\nU[j] = A[i,j]\noutput U, T",
)


def shape_of(s: Statement) -> tuple[object, ...]:
    """A statement without the names of its indices; those of a reshape only name dimensions."""
    if s.op is Op.RESHAPE:
        return s.op, s.operands[0].tensor, s.out.tensor
    names: dict[str, int] = {}
    accesses = [
        (a.tensor, tuple(names.setdefault(x, len(names)) for x in a.indices))
        for a in (*s.operands, s.out)
    ]
    return s.op, s.nonzero, s.constant, None if s.axis is None else names[s.axis], accesses


def same(first: Program, second: Program) -> None:
    """Equal up to the names of indices; tensors that nothing reads may be missing."""
    assert [shape_of(s) for s in second.statements] == [shape_of(s) for s in first.statements]
    used = {a.tensor for s in first.statements for a in (*s.operands, s.out)}
    assert second.by_name == {n: t for n, t in first.by_name.items() if n in used}
    assert second.outputs == first.outputs
    assert second.broadcast_add is first.broadcast_add


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("schedule", [None, Schedule()], ids=["one function", "functions"])
def test_every_operation(body: str, schedule: Schedule | None) -> None:
    program = parse(HEAD + body)
    same(program, from_mlir(to_mlir(program, schedule)).program)


@pytest.mark.parametrize(
    "body",
    [
        "T[i,k] = nonzero(A[i,j] * B[j,k])",
        "T[i] = nonzero(max[j] A[i,j])",
        "T[i,c] = nonzero(concat[c](A[i,c], D[i,c]))",
    ],
)
def test_zeros_of_what_is_reduced_or_joined_are_left_out_behind_it(body: str) -> None:
    program = parse(HEAD + body)
    again = from_mlir(to_mlir(program)).program
    assert [s.nonzero for s in again.statements] == [False, True]
    rng = np.random.default_rng(8)
    data = {n: rng.integers(-1, 2, program.tensor(n).shape) * 1.0 for n in program.given}
    mine, theirs = (evaluate(p, {n: data[n] for n in p.given})["T"] for p in (program, again))
    assert (mine.present == theirs.present).all()
    assert (mine.dense() == theirs.dense()).all()


@pytest.mark.parametrize("name", MODELS)
def test_models_in_one_function(name: str) -> None:
    program = MODELS[name].program
    again = from_mlir(to_mlir(program))
    same(program, again.program)
    assert again.program.name == program.name
    assert again.data == {}


@pytest.mark.parametrize(
    ("name", "preset"),
    [(name, preset) for name, model in MODELS.items() for preset in model.presets],
)
def test_models_with_their_regions(name: str, preset: str) -> None:
    model = MODELS[name]
    schedule = Schedule.parse(model.presets[preset])
    again = from_mlir(to_mlir(model.program, schedule))
    same(model.program, again.program)
    assert Schedule.parse(again.schedule).fusions == tuple(
        replace(f, where_possible=True) for f in schedule.fusions if f.first != f.last
    )


@pytest.mark.parametrize("name", MODELS)
def test_models_run_as_before(name: str) -> None:
    model = MODELS[name]
    preset = model.presets["partial"]
    data = bigbird_data(model) if model.masks else random_data(model)
    again = from_mlir(to_mlir(model.program, Schedule.parse(preset)))
    run = simulate(compile_program(again.program, again.schedule), data)
    assert run.check(1e-4).ok
    assert run.cycles == simulate(compile_program(model.program, preset), data).cycles
    before, after = evaluate(model.program, data), evaluate(again.program, data)
    for output in model.program.outputs:
        np.testing.assert_array_equal(after[output].dense(), before[output].dense())


def test_a_concat_across_needs_copies() -> None:
    """tensor.concat reads its operands in the order of its result."""
    program = parse(HEAD + "T[c,i] = concat[c](A[i,c], D[i,c])")
    again = from_mlir(to_mlir(program)).program
    assert [s.op.value for s in again.statements] == ["sum", "sum", "concat"]
    data = random_data(Model(program, ()), 3)
    kept = {n: d for n, d in data.items() if n in again.inputs}
    np.testing.assert_array_equal(
        evaluate(again, kept)["T"].dense(), evaluate(program, data)["T"].dense()
    )


def test_primes_become_letters() -> None:
    program = parse("A': 3x4 csr\nA_p: 3x4 csr\nT'[i',i_p] = A'[i',i_p] * A_p[i',i_p]")
    again = from_mlir(to_mlir(program)).program
    assert str(again.statements[0].out) == "T_p[i_p_,i_p]"
    assert [t.name for t in again.tensors] == ["A_p_", "A_p", "T_p"]


def test_orders_are_headers() -> None:
    program = parse("A: 3x4 csr\nB: 4x5 csc\nT[i,j] = A[i,k] * B[k,j]")
    schedule = Schedule.parse("order T: i,j,k; parallel i by 2; order T..T: i,j,k")
    text = to_mlir(program, schedule)
    assert "affine_map<(i, j, k) -> (k, j)>" in text
    assert text.startswith(
        "// not said below: order T..T: i,j,k\n// not said below: parallel i by 2"
    )
    assert from_mlir(text).schedule == "order T: i,j,k"


def test_the_header_that_reads_anyway_is_no_wish() -> None:
    program = parse("A: 3x4 csr\nB: 4x5 csr\nT[i,j] = A[i,k] * B[k,j]")
    assert from_mlir(to_mlir(program)).schedule == ""


def test_data_as_constants() -> None:
    program = parse("A: 2x2 csr\nx: 2 dense\ny[i] = A[i,j] * x[j]")
    data = random_data(Model(program, ()), 2)
    text = to_mlir(program, data={"x": data["x"]})
    again = from_mlir(text)
    assert again.program == program
    assert again.wanted == ("A",)
    np.testing.assert_array_equal(again.data["x"].to_dense(), data["x"].to_dense())


def test_blocks_are_refused() -> None:
    program = parse("A: 4x4 csr block 2\nx: 4 dense block 2\ny[i] = A[i,j] * x[j]")
    with pytest.raises(ProgramError, match="no tensors in blocks"):
        to_mlir(program)


def test_a_schedule_of_another_program_is_refused() -> None:
    program = parse("x: 4 dense\ny[i] = exp(x[i])")
    with pytest.raises(ProgramError, match="names 'z'"):
        to_mlir(program, Schedule.parse("fuse y..z"))


def test_dead_statements_are_left_out() -> None:
    program = parse("x: 4 dense\nw: 4 dense\ny[i] = exp(x[i])\nz[i] = exp(w[i])\noutput y")
    again = from_mlir(to_mlir(program)).program
    assert [s.out.tensor for s in again.statements] == ["y"]
    assert again.inputs == ("x",)


def test_public_names() -> None:
    program = parse("x: 4 dense\ny[i] = exp(x[i])")
    assert fl.from_mlir(fl.to_mlir(program)).program == replace(program, name="unnamed")


def _random_sums(rng: np.random.Generator) -> str:
    """Sums of tensors that lack indices of each other, stored in any format."""
    names = ["a", "b", "c"][: rng.integers(2, 4)]
    sizes = dict(zip("abc", (2, 3, 4), strict=True))

    def declared(name: str, indices: list[str]) -> str:
        order = rng.permutation(len(indices))
        levels = ["compressed" if rng.random() < 0.7 else "dense" for _ in indices]
        shape = "x".join(str(sizes[x]) for x in indices)
        order_text = f" order {','.join(str(n) for n in order)}" if len(indices) > 1 else ""
        return f"{name}: {shape} [{', '.join(levels)}]{order_text}"

    def some() -> list[str]:
        found = [x for x in names if rng.random() < 0.7] or names[:1]
        return [found[n] for n in rng.permutation(len(found))]

    def joined(a: str, b: str) -> str:
        op = rng.choice(["+", "-", "max"])
        return f"max({a}, {b})" if op == "max" else f"{a} {op} {b}"

    q, v, w = some(), some(), some()
    every = [x for x in names if x in (*q, *v)]
    t = [every[n] for n in rng.permutation(len(every))]
    more = [x for x in names if x in (*t, *w)]
    u = [more[n] for n in rng.permutation(len(more))]

    def read(name: str, indices: list[str]) -> str:
        return f"{name}[{','.join(indices)}]"

    lines = [declared("Q", q), declared("V", v), f"T[{','.join(t)}] = "
             + joined(read("Q", q), read("V", v))]  # fmt: skip
    if rng.random() < 0.5:
        lines.insert(2, declared("W", w))
        lines.append(f"U[{','.join(u)}] = {joined(read('T', t), read('W', w))}")
    if rng.random() < 0.2:
        lines.insert(0, "option broadcast_add dense")
    return "\n".join(lines) + "\n"


@counts(small=40, deep=300)
def test_sums_that_repeat_operands_keep_their_elements(count: int) -> None:
    read = 0
    for seed in range(count):
        rng = np.random.default_rng(seed)
        text = _random_sums(rng)
        try:
            program = parse(text)
        except FuseloomError:
            continue
        read += 1
        again = from_mlir(to_mlir(program)).program
        assert again.statements == program.statements, text
        assert again.broadcast_add == program.broadcast_add or not _repeats(program), text
        data = {
            n: np.where(rng.random(t.shape) < 0.5, rng.normal(size=t.shape), 0.0)
            for n in program.given
            for t in [program.tensor(n)]
        }
        before, after = evaluate(program, data), evaluate(again, data)
        for name in program.outputs:
            np.testing.assert_array_equal(before[name].present, after[name].present, err_msg=text)
            np.testing.assert_array_equal(before[name].dense(), after[name].dense(), err_msg=text)
    assert read > count // 2


def _repeats(program: Program) -> bool:
    return any(
        set(a.indices) != set(s.out.indices)
        for s in program.statements
        if s.op.unites
        for a in s.operands
    )
