"""Every primitive on the worked examples of samml.md §2, token by token and cycle by cycle."""

import numpy as np
import pytest

from engine.dataflow.sim.conformance.bench import bench
from engine.dataflow.sim.machine import Machine
from engine.errors import SimulationError

COMAL = Machine.comal()
ADD = {"fn": "add"}


def timed(text: str, start: int = 1) -> str:
    """Tokens that arrive one a cycle."""
    return " ".join(f"{token}@{start + k}" for k, token in enumerate(text.split()))


def test_root() -> None:
    run = bench("root")
    assert run.outputs == ("0@1 D@2",)
    assert run.clock == 2


def test_scan() -> None:
    run = bench(
        "scan",
        "0@1 1@2 S0@3 2@4 S1@5 D@6",
        arrays={"seg": [0, 2, 2, 5], "crd": [3, 7, 1, 4, 6]},
    )
    assert run.outputs == (
        "3@2 7@3 S0@4 S1@5 1@6 4@7 6@8 S2@9 D@10",
        "0@2 1@3 S0@4 S1@5 2@6 3@7 4@8 S2@9 D@10",
    )


def test_dense_scan() -> None:
    run = bench("dense_scan", "0 2 S0 D", params={"dim": 2})
    assert run.outputs == ("0@2 1@3 S0@4 0@5 1@6 S1@7 D@8", "0@2 1@3 S0@4 4@5 5@6 S1@7 D@8")


def test_repsig() -> None:
    assert bench("repsig", "4 N S0 S1 D").outputs == ("R@2 R@3 S@4 S@5 D@6",)


def test_repeat() -> None:
    run = bench("repeat", "4@1 5@2 S0@3 D@4", "R@2 R@3 S@4 R@5 S@6 D@7")
    assert run.outputs == ("4@3 4@4 S0@5 5@6 S1@7 D@8",)


C0 = "0@1 3@2 5@3 S0@4 S0@5 2@6 S1@7 D@8"
R0 = "0@1 1@2 2@3 S0@4 S0@5 3@6 S1@7 D@8"
C1 = "3@1 4@2 S0@3 1@4 S0@5 2@6 S1@7 D@8"
R1 = "0@1 1@2 S0@3 2@4 S0@5 3@6 S1@7 D@8"


def test_intersect() -> None:
    run = bench("intersect", C0, R0, C1, R1, outputs=3)
    assert run.outputs[0] == "3@3 S0@6 S0@8 2@9 S1@10 D@11"
    assert run.tokens[1:] == ("1 S0 S0 3 S1 D", "0 S0 S0 3 S1 D")


def test_union() -> None:
    run = bench("union", C0, R0, C1, R1, outputs=3, params={"gate": 0})
    assert run.outputs[0] == "0@2 3@3 4@4 5@5 S0@6 1@7 S0@8 2@9 S1@10 D@11"
    assert run.tokens[1:] == ("0 1 N 2 S0 N S0 3 S1 D", "N 0 1 N S0 2 S0 3 S1 D")


def test_three_way_joiners() -> None:
    streams = [x for crd in ("0 2 S0 D", "2 3 S0 D", "1 2 S0 D") for x in (crd, crd)]
    assert bench("intersect", *streams, outputs=4).tokens == ("2 S0 D",) * 4
    assert bench("union", *streams, outputs=4).tokens == (
        "0 1 2 3 S0 D",
        "0 N 2 N S0 D",
        "N N 2 3 S0 D",
        "N 1 2 N S0 D",
    )


def test_locate_adds_the_parent_and_iterate_locate_does_not() -> None:
    assert bench("locate", "1 2 S0 D", "0 3 S0 D", params={"dim": 10}).tokens == ("1 32 S0 D",)
    run = bench("sam_locate", "0 3 S0 D", "1 2 S0 D")
    assert run.outputs == ("1@2 2@3 S0@4 D@5", "0@2 3@3 S0@4 D@5", "1@2 2@3 S0@4 D@5")


def test_array_in_block_mode() -> None:
    run = bench(
        "array", "2@1 N@2 0@3 S0@4 D@5", arrays={"vals": [5, 6, 7]}, params={"block": 4},
        machine=COMAL,
    )  # fmt: skip
    # The sink takes in FIFO order, so a stamp may be earlier than the one before it.
    assert run.outputs == ("7@17 0@3 5@19 S0@5 D@6",)


@pytest.mark.parametrize(
    ("fn", "expected"),
    [("add", 9), ("sub", 3), ("mul", 18), ("elemmul", 18), ("div", 2)],
)
def test_binary(fn: str, expected: float) -> None:
    assert bench("binary", "6 S0 D", "3 S0 D", params={"fn": fn}).outputs == (
        f"{expected}@2 S0@3 D@4",
    )


def test_binary_interval_holds_for_stops_too() -> None:
    run = bench("binary", "6 6 S0 D", "3 3 S0 D", params={"fn": "mul", "latency": 5, "ii": 3})
    assert run.outputs == ("18@6 18@9 S0@8 D@11",)


@pytest.mark.parametrize(
    ("fn", "scalar", "expected"),
    [
        ("exp", 0, np.exp(2)),
        ("log", 0, np.log(2)),
        ("rsqrt", 0, 2**-0.5),
        ("sigmoid", 0, 1 / (1 + np.exp(-2))),
        ("gelu", 0, 1.9544997),
        ("relu", 0, 2),
        ("max", 3, 3),
        ("scalaradd", 3, 5),
        ("scalarmul", 3, 6),
        ("scalardiv", 4, 0.5),
        ("sin", 0, np.sin(2)),
        ("cos", 0, np.cos(2)),
    ],
)
def test_unary(fn: str, scalar: float, expected: float) -> None:
    (out,) = bench("unary", "2 S0 D", params={"fn": fn, "scalar": scalar}).outputs
    value, _, time = out.split()[0].partition("@")
    assert float(value) == pytest.approx(expected, rel=1e-5)
    assert time == "2"


def test_unary_in_block_mode() -> None:
    run = bench("unary", "2 S0 D", params={"fn": "relu", "scalar": 0, "block": 4})
    assert run.outputs == ("2@5 S0@3 D@4",)


def test_reduce() -> None:
    text = "1@1 2@2 S0@3 S0@4 3@5 S1@6 D@7"
    run = bench("reduce", text, params=ADD, machine=COMAL)
    assert run.outputs == ("3@4 0@5 3@7 S0@7 D@8",)


def test_max_reduce() -> None:
    run = bench("reduce", "-1 -2 S0 -3 -1 S1 D", params={"fn": "max"})
    assert run.tokens == ("-1 -1 S0 D",)


def test_spacc1() -> None:
    crds = "1@1 4@2 S0@3 0@4 4@5 S1@6 2@7 S2@8 D@9"
    vals = "1@1 2@2 S0@3 3@4 4@5 S1@6 5@7 S2@8 D@9"
    run = bench("spacc1", "0@1 2@2 S0@3 1@4 S1@5 D@6", crds, vals, params=ADD)
    assert run.outputs == (
        "0@8 1@8 4@8 S0@8 2@11 S1@11 D@12",
        "3@8 1@8 6@8 S0@8 5@11 S1@11 D@12",
    )
    assert run.clock == 11


def test_spacc1_max() -> None:
    run = bench("spacc1", "0 1 S0 D", "2 S0 2 S1 D", "-3 S0 -5 S1 D", params={"fn": "max"})
    assert run.tokens == ("2 S0 D", "-3 S0 D")


def test_crddrop() -> None:
    run = bench("crddrop", "5@1 6@2 S0@3 S0@4 7@5 S1@6 D@7", "0@1 1@2 2@3 S0@4 D@5")
    assert run.outputs == ("5@2 6@3 S0@4 S0@5 7@6 S1@7 D@9", "0@4 2@7 S0@8 D@9")


def test_valdrop_takes_a_cycle_per_pair_dropped_or_not() -> None:
    run = bench("valdrop", "1 N S0 N S0 3 S1 D", "4 5 S0 6 S0 7 S1 D")
    assert run.outputs == ("1@2 S0@4 S0@6 3@7 S1@8 D@9", "4@2 S0@4 S0@6 7@7 S1@8 D@9")


def test_broadcast_takes_no_time() -> None:
    run = bench("broadcast", "4@1 5@1 S0@3 D@3", outputs=2)
    assert run.outputs == ("4@2 5@2 S0@4 D@4",) * 2
    assert run.clock == 3


FORKED = "0 1 2 S0 3 S1 D"
LANES = ("10 11 S0 12 S1 D", "20 S0 21 22 S1 D")


def test_fork_and_join() -> None:
    assert bench("fork", FORKED, outputs=2).tokens == ("0 2 S0 S1 D", "1 S0 3 S1 D")
    assert bench("join", *LANES).tokens == ("10 11 S0 20 S0 12 S0 21 22 S1 D",)


def test_ordered_join_is_right_for_any_length() -> None:
    lanes = ("1 S0 3 S1 D", "2 S1 D")  # three rows on two lanes
    assert bench("join", *lanes).tokens == ("1 S0 2 S1 3 S0 D",)
    joined = bench("ordered_join", "0 1 2 S0 D", *lanes, params={"levels": 1})
    assert joined.tokens == ("1 S0 2 S0 3 S1 D",)


@pytest.mark.parametrize(
    ("levels", "guide", "lanes", "expected"),
    [
        (0, "0 1 2 S0 3 S1 D", ("0 2 S0 S1 D", "1 S0 3 S1 D"), "0 1 2 S0 3 S1 D"),
        # Empty rows, an empty outer fiber, a lane without a row of its own.
        (1, "0 S0 S0 1 2 S1 D", ("5 S1 S1 S2 D", "S1 S1 6 S2 D"), "5 S1 S1 6 S0 S2 D"),
        (1, "S0 D", ("S1 D", "S1 D"), "S1 D"),
        (2, "0 1 S0 D", ("5 S0 S2 D", "6 7 S0 8 S2 D"), "5 S0 S1 6 7 S0 8 S2 D"),
    ],
)
def test_ordered_join_levels(
    levels: int, guide: str, lanes: tuple[str, str], expected: str
) -> None:
    run = bench("ordered_join", guide, *lanes, params={"levels": levels})
    assert run.tokens == (expected,)


def test_level_writer() -> None:
    run = bench("crdwrite", "4 7 S0 S0 9 S1 D", params={"tensor": "X", "level": 1})
    assert run.written["crd"].tolist() == [4, 7, 9]
    assert run.written["seg"].tolist() == [0, 2, 3]
    assert run.clock == 7


def test_values_writer_pays_for_the_end() -> None:
    run = bench("valwrite", "4 7 S0 D", params={"tensor": "X"})
    assert run.written["vals"].dtype == np.float32
    assert run.written["vals"].tolist() == [4, 7]
    assert run.clock == 5


def test_stalls_and_work_add_up() -> None:
    run = bench("binary", "6@9 S0@10 D@11", "3 S0 D", params={"fn": "add"}, capacity=1)
    result = run.result
    assert (result.busy >= 0).all()
    assert result.stall_input[0] >= 9
    assert result.first[0] == 9
    assert result.clocks[0] == result.busy[0] + result.stall_input[0] + result.stall_output[0]


@pytest.mark.parametrize(
    ("op", "inputs", "params"),
    [
        ("intersect", ("0 S0 D", "0 S0 D", "0 S1 D", "0 S1 D"), {}),
        ("intersect", ("0 S0 D", "0 1 D", "0 S0 D", "0 S0 D"), {}),
        ("union", ("N S0 D", "0 S0 D", "0 S0 D", "0 S0 D"), {"gate": 0}),
        ("binary", ("1 S0 D", "1 2 S0 D"), {"fn": "add"}),
        ("locate", ("1 S0 D", "1 D"), {"dim": 3}),
        ("reduce", ("1 S1 D", "0 S1 D"), {"fn": "add"}),
        ("spacc1", ("0 S0 D", "1 S1 D", "2 S0 D"), {"fn": "add"}),
        ("spacc1", ("0 S0 D", "1 S1 2 S0 D", "2 S1 2 S0 D"), {"fn": "add"}),
        ("spacc1", ("0 S0 D", "5 S1 D", "2 S1 D"), {"fn": "add", "dim": 5}),
        ("crddrop", ("1 D", "0 S0 D"), {}),
        ("valdrop", ("1 S0 D", "0 1 S0 D"), {}),
        ("ordered_join", ("0 1 S0 D", "5 S1 D", "S0 D"), {"levels": 1}),
        ("ordered_join", ("0 1 2 S0 D", "5 S1 D", "6 S1 D"), {"levels": 1}),
    ],
)
def test_contradicting_tokens_are_reported_with_the_node(
    op: str, inputs: tuple[str, ...], params: dict[str, str]
) -> None:
    outputs = 3 if op in ("intersect", "union") else None
    with pytest.raises(SimulationError, match=rf"^{op} at cycle \d+: .*\(got "):
        bench(op, *inputs, params=params, outputs=outputs)


def test_references_outside_the_data_are_reported() -> None:
    with pytest.raises(SimulationError, match="outside the level's 1 fibers"):
        bench("scan", "1 S0 D", arrays={"seg": [0, 1], "crd": [3]})
    with pytest.raises(SimulationError, match="outside the 2 stored values"):
        bench("array", "2 S0 D", arrays={"vals": [3, 4]})
