"""One program by every system: results, counts that two derivations share, and refusals."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

import fuseloom as fl
from fuseloom.cli.compare import EXAMPLES as NAMED
from fuseloom.cli.compare import SYSTEMS as NAMES
from fuseloom.comparison.compare import compare, problem_of, with_commands
from fuseloom.comparison.examples import EXAMPLES, example, example_path
from fuseloom.comparison.rows import TOLERANCE, Comparison, ComparisonRow, FusionSystem
from fuseloom.contraction.kernels.data import Data
from fuseloom.contraction.kernels.run import count_products
from fuseloom.contraction.ranking import FusionScheme, ranked
from fuseloom.contraction.solving.solve import Question
from fuseloom.contraction.tree import ContractionTree
from fuseloom.errors import CancelledError, DataError, LoweringError, ProgramError
from fuseloom.models import load_labelled
from fuseloom.program import evaluate
from fuseloom.results.energy import ActionKind

APPLIES = {
    "attention_block": {"dataflow", "access", "calls", "stitch"},
    "gcn_layer": {"dataflow", "contraction", "access", "calls", "stitch"},
    "mttkrp": {"dataflow", "contraction", "access", "calls", "stitch"},
    "conv_block": {"dataflow", "access", "calls", "stitch"},
    "mlp_block": {"dataflow", "access", "calls", "stitch"},
}
"""The systems that take each program."""


@pytest.fixture(scope="module", params=EXAMPLES)
def compared(request: pytest.FixtureRequest) -> tuple[str, Comparison]:
    program, data = example(request.param)
    return request.param, compare(program, data, seconds=0.2, rounds=1)


def test_results_equal_one_reference(compared):
    name, made = compared
    assert {row.system.value for row in made.rows if row.applies} == APPLIES[name]
    assert made.ok
    for row in made.rows:
        if row.applies:
            assert row.max_rel_error is not None
            assert row.max_rel_error <= TOLERANCE
        else:
            assert row.reason
            assert {row.kernels, row.flops, row.measured_seconds, row.max_rel_error} == {None}


def test_what_is_measured_predicted_and_simulated_is_apart(compared):
    _, made = compared
    for row in made.rows:
        simulated = row.applies and row.system is FusionSystem.DATAFLOW
        clocked = row.applies and row.system.value in ("contraction", "calls", "stitch")
        assert (row.simulated_cycles is not None) == simulated
        assert (row.energy is not None) == simulated
        assert (row.measured_seconds is not None) == clocked
        assert (row.predicted is None) == (row.predicted_unit is None)


def test_every_table_names_what_there_is(compared):
    _, made = compared
    text = str(made)
    for row in made.rows:
        assert row.way in text
        assert row.applies or f"does not apply: {row.reason}" in text
    assert with_commands(made, "fuseloom compare x").rows[0].command == (
        "fuseloom compare x --system dataflow"
    )


def test_names_are_told_once():
    assert tuple(system.value for system in FusionSystem) == NAMES
    assert EXAMPLES == NAMED
    assert all(example_path(name).is_file() for name in EXAMPLES)
    with pytest.raises(ProgramError, match="no example 'mlp'"):
        example_path("mlp")


# Two independent derivations of one number ---------------------------------------------------


@pytest.mark.parametrize("name", ["gcn_layer", "mttkrp"])
@pytest.mark.parametrize("seed", range(5))
def test_dataflow_and_loop_nests_multiply_equally_often(name, seed):
    """Multiplications by the tokens of the simulated units, and by the counters of the C code."""
    program, data = example(name, seed)
    run = fl.simulate(fl.compile(program, ""), data)
    simulated = sum(
        action.count
        for region in run.regions
        for node in region.actions.nodes
        for action in node
        if action.kind is ActionKind.MULTIPLY
    )
    tree = ContractionTree.of(program)
    given = Data(tree, {name: data[name] for name in tree.given})
    found = ranked(Question(tree), given.held).candidates
    nest = next(one.nest for one in found if one.scheme is FusionScheme.FUSED)
    assert sum(count_products(nest, tree, given, levels=given.levels).values()) == simulated


@pytest.mark.parametrize("name", ["gcn_layer", "mttkrp"])
def test_dataflow_and_loop_nests_have_the_same_intermediate(name):
    """Between regions as many elements as the reference has, of a nest's dense workspace all."""
    program, data = example(name)
    reference = evaluate(program, data)["T"]
    run = fl.simulate(fl.compile(program, ""), data)
    assert run.outputs["T"].nnz == np.count_nonzero(reference.present)
    (unfused,) = (
        row
        for row in compare(program, data, systems=["contraction"], rounds=1).rows
        if row.way == "unfused"
    )
    assert unfused.bytes_between == 8 * reference.values.size


# What does not apply --------------------------------------------------------------------------


def test_what_dense_systems_cannot_mean_is_refused_with_rule_and_place():
    model, data = fl.load("attention")
    made = compare(model.program, data, systems=["access", "calls", "stitch"])
    assert not any(row.applies for row in made.rows)
    (line,) = (s.line for s in model.program.statements if s.out.tensor == "x")
    assert {row.reason for row in made.rows} == {
        f"x has no dense meaning: a maximum skips elements that C lacks (line {line})"
    }


def test_a_mask_without_holes_is_dense():
    model, data = fl.load("attention")
    full = {**data, "M": np.ones((8, 8))}
    made = compare(model.program, full, systems=["calls", "stitch"], seconds=0.1, rounds=1)
    assert made.ok
    assert all(row.applies for row in made.rows)


def test_dense_meaning_is_that_of_the_statements():
    program = fl.parse("A: 4x4 csr\nB[i,j] = A[i,j]\ne[i,j] = exp(B[i,j])\noutput e\n")
    sparse, full = np.eye(4), np.ones((4, 4))
    with pytest.raises(ProgramError, match="exp is applied to those elements that B has") as told:
        _ = problem_of(program, {"A": sparse}).dense
    assert told.value.line == 3
    assert problem_of(program, {"A": full}).dense.tensor("A").format.all_dense


def test_a_wrong_result_has_no_time():
    row = ComparisonRow(
        FusionSystem.CALLS, "fused", applies=True, max_rel_error=0.1, measured_seconds=1.0
    )
    assert not row.is_right
    assert row.measured_seconds is None
    assert not Comparison("p", "", (row, replace(row, max_rel_error=0.0))).ok


def test_what_is_known_is_not_done_again(tmp_path, monkeypatch):
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path)
    program, data = example("gcn_layer")
    asked: list[str] = []
    first = compare(program, data, systems=["access"], again=False, progress=asked.append)
    assert compare(program, data, systems=["access"], again=False, progress=asked.append) == first
    assert asked == ["access"]
    other = {**data, "W": 2.0 * data["W"].to_dense()}
    compare(program, other, systems=["access"], again=False, progress=asked.append)
    compare(program, data, systems=["access"], progress=asked.append)
    assert asked == ["access"] * 3
    for limits in (fl.Limits(tokens=5), fl.Limits()):
        made = compare(program, data, systems=["dataflow"], again=False, limits=limits, seconds=0.1)
        assert made.rows[0].applies == (limits.tokens is None)
    for path in (tmp_path / "comparisons").iterdir():
        path.write_text('{"fuseloom": "comparison"', encoding="utf-8")
    assert compare(program, data, systems=["access"], again=False, progress=asked.append) == first
    assert asked == ["access"] * 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"systems": ["dataflw"]}, "no system 'dataflw'"),
        ({"rounds": 0}, "from 1 to 10,000 rounds, not 0"),
        ({"seconds": 0.0}, "positive"),
        ({"array": (0, 8)}, "an array of 0 rows is none"),
    ],
)
def test_bad_options_are_refused(options, message):
    program, data = example("gcn_layer")
    with pytest.raises(ProgramError, match=message):
        compare(program, data, **options)


def test_an_infinite_error_is_wrong_in_json_too():
    row = ComparisonRow(FusionSystem.CALLS, "fused", applies=True, max_rel_error=float("inf"))
    assert not row.is_right
    told = row.to_dict()["max_rel_error"]
    assert told is not None
    assert told > TOLERANCE


def test_who_cancels_is_heard_by_every_system():
    program, data = example("gcn_layer")

    def cancel(step: str) -> None:
        if step == until:
            raise CancelledError("cancelled")

    steps = ("dataflow, unfused", "dataflow, found", "contraction", "access", "calls",
             "calls, tuned", "stitch")  # fmt: skip
    for until in steps:
        with pytest.raises(CancelledError):
            compare(
                program, data, systems=[until.split(",")[0]], seconds=0.1, rounds=1,
                progress=cancel,
            )  # fmt: skip


def test_data_that_are_too_large_for_the_reference_are_refused_at_once():
    program = fl.parse("A: 100000x100000 csr\nB[i,j] = exp(A[i,j])")
    with pytest.raises(DataError, match="dense reference holds at most"):
        compare(program, {"A": scipy.sparse.eye_array(100_000, format="csr")})


def test_without_a_compiler_rows_say_so(monkeypatch):
    program, data = example("gcn_layer")

    def missing(*_, **__):
        raise LoweringError("there is no C compiler", hint="install one")

    monkeypatch.setattr("fuseloom.comparison.contraction_rows.kernels", missing)
    made = compare(program, data, systems=["contraction"], rounds=1)
    assert {(row.applies, row.reason) for row in made.rows} == {(False, "there is no C compiler")}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A: 4 dense\nB[i] = log(A[i])\noutput B", 0.0),
        ("A: 4 dense\nB[i] = sqrt(A[i])\noutput B", -1.0),
        ("A: 4 dense\nz = A[i] * A[i]\noutput z", 2.0),
        ("A: 1x1 csr\nB: 1x1 dense\nC[i,k] = A[i,j] * B[j,k]\noutput C", 0.0),
        ("A: 4x6 dense\nB: 24 dense\nB[p] = reshape(A[i,j])\nC[p] = exp(B[p])\noutput C", 1.0),
        ("x: 9 dense\np: list 2, 0, 5\ny[i] = x[p[i]]\nz[i] = exp(y[i])\noutput z", 1.0),
        ("A: 5x4 csr\nB[i,j] = relu(A[i,j])\ns[i] = B[i,j]\noutput B\noutput s", 1.0),
    ],
    ids=["infinite", "no number", "a number", "nothing stored", "reshape", "list", "two results"],
)
def test_odd_programs_are_right_or_refused(text, value):
    program = fl.parse(text)
    data = {name: np.full(program.tensor(name).shape, value) for name in program.given}
    made = compare(program, data, seconds=0.1, rounds=1)
    assert made.ok
    assert all(row.reason for row in made.rows if not row.applies)
    assert made.of("dataflow")[0].applies


READY = ("gcn", "graphsage", "autoencoder", "attention", "heads", "nested", "spmv")


@pytest.mark.parametrize("name", [*EXAMPLES, *READY])
def test_what_does_not_apply_names_statement_and_line(name):
    if name in EXAMPLES:
        program, data = example(name)
    else:
        loaded = load_labelled(name)
        program, data = loaded.model.program, loaded.data
    systems = ["contraction", "access", "calls", "stitch"]
    made = compare(program, data, systems=systems, seconds=0.01, rounds=1, array=(8, 8))
    for row in made.rows:
        if not row.applies:
            place = re.search(r"\(line (\d+)\)$", row.reason)
            assert place, f"{row.system.value}, {row.way}: {row.reason}"
            named = {s.out.tensor for s in program.statements if s.line == int(place[1])}
            assert named & {*re.findall(r"\w+", row.reason)}, row.reason
