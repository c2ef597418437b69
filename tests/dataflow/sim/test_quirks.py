"""Each deviation of the reference, off and on (docs/spec/comal.md §2), and our extensions."""

from dataclasses import replace

import pytest

from fuseloom.dataflow.machine import Machine, Quirks
from fuseloom.dataflow.sim.conformance.bench import bench
from fuseloom.errors import SimulationError

COMAL = Machine.comal()
OURS = Machine.default()
ADD = {"fn": "add"}
MAX = {"fn": "max"}


def test_array_loads_zero() -> None:
    refs, arrays = "1 N S0 D", {"vals": [5, 6]}
    assert bench("array", refs, arrays=arrays).tokens == ("6 N S0 D",)
    assert bench("array", refs, arrays=arrays, machine=COMAL).tokens == ("6 0 S0 D",)


def test_max_reduce_resets_to_zero() -> None:
    values = "-1 S0 -2 S0 S1 D"
    assert bench("reduce", values, params=MAX).tokens == ("-1 -2 N S0 D",)
    assert bench("reduce", values, params=MAX, machine=COMAL).tokens == ("-1 0 0 S0 D",)


def test_sum_of_nothing_is_zero() -> None:
    values = "1 S0 S0 N S1 D"
    assert bench("reduce", values, params=ADD).tokens == ("1 N N S0 D",)
    assert bench("reduce", values, params=ADD, machine=COMAL).tokens == ("1 0 0 S0 D",)


def test_cancelled_sum_is_not_nothing() -> None:
    assert bench("reduce", "1 -1 S0 D", params=ADD).tokens == ("0 D",)


@pytest.mark.parametrize(("op", "params"), [("scan", {}), ("dense_scan", {"dim": 1})])
def test_scanner_forwards_empty(op: str, params: dict[str, int]) -> None:
    arrays = {"seg": [0, 1, 2], "crd": [0, 0]}
    refs = "0 N S0 N 1 N S1 D"
    ours = bench(op, refs, params=params, arrays=arrays)
    assert ours.tokens[0] == "0 S0 S1 S0 0 S0 S2 D"
    theirs = bench(op, refs, params=params, arrays=arrays, machine=COMAL)
    assert theirs.tokens[0] == "0 S0 N S1 N 0 S0 N S2 D"


def test_an_empty_reference_takes_one_cycle_and_waits_for_the_next() -> None:
    run = bench("scan", "N@1 N@4 S0@9 D@10", arrays={"seg": [0], "crd": []})
    assert run.outputs[0] == "S0@5 S1@10 D@11"


def test_repeat_ignores_stop_after_empty() -> None:
    held, signal = "5 N S0 D", "R S R S D"
    assert bench("repeat", held, signal).tokens == ("5 S0 N S1 D",)
    assert bench("repeat", held, signal, machine=COMAL).tokens == ("5 S0 N S0 D",)


@pytest.mark.parametrize(
    ("fn", "ours", "theirs"),
    [
        ("add", "6 3 N", "6 3"),
        ("sub", "6 -3 N", "6 -3"),
        ("mul", "N N N", "0 0"),
        ("elemmul", "N N N", "0 0"),
        ("div", "N N N", "inf 0"),
    ],
)
def test_binary_empty_is_zero(fn: str, ours: str, theirs: str) -> None:
    run = bench("binary", "6 N N S0 D", "N 3 N S0 D", params={"fn": fn})
    assert run.tokens == (f"{ours} S0 D",)
    run = bench("binary", "6 N S0 D", "N 3 S0 D", params={"fn": fn}, machine=COMAL)
    assert run.tokens == (f"{theirs} S0 D",)
    with pytest.raises(SimulationError, match="both operands are empty"):
        bench("binary", "N S0 D", "N S0 D", params={"fn": fn}, machine=COMAL)


def test_unary_empty_panics() -> None:
    params = {"fn": "exp", "scalar": 0}
    assert bench("unary", "0 N S0 D", params=params).tokens == ("1 N S0 D",)
    with pytest.raises(SimulationError, match="empty token"):
        bench("unary", "0 N S0 D", params=params, machine=COMAL)


@pytest.mark.parametrize(
    ("outer", "inner", "expected"),
    [
        # The second row starts with an empty inner fiber that also closes the row.
        ("0 S0 1 S1 D", "5 S1 S2 D", "5 S0 S1 D"),
        # The first outer fiber is empty.
        ("S0 1 S1 D", "S1 5 S2 D", "S0 5 S1 D"),
        # The first two are, then one in the middle.
        ("S0 S0 1 S0 S0 2 S1 D", "S1 S1 5 S1 S1 6 S2 D", "S0 S0 5 S0 S0 6 S1 D"),
        # Nothing at all, and an empty row of depth 1.
        ("S1 D", "S2 D", "S1 D"),
        ("S0 D", "S1 D", "S0 D"),
    ],
)
def test_spacc_is_right_for_empty_fibers(outer: str, inner: str, expected: str) -> None:
    run = bench("spacc1", outer, inner, inner, params=ADD)
    assert run.tokens == (expected, expected)


@pytest.mark.parametrize(
    ("outer", "inner", "rule"),
    [
        ("0 S0 1 S1 D", "5 S1 S2 D", "starts with an empty fiber"),
        ("S0 1 S1 D", "S1 5 S2 D", "starts with an empty fiber"),
    ],
)
def test_spacc_strict(outer: str, inner: str, rule: str) -> None:
    with pytest.raises(SimulationError, match=rule):
        bench("spacc1", outer, inner, inner, params=ADD, machine=COMAL)


def test_spacc_makes_no_coordinate_for_an_empty_value() -> None:
    streams = ("0 1 S0 D", "3 4 S0 4 S1 D", "N 7 S0 N S1 D")
    assert bench("spacc1", *streams, params=ADD).tokens == ("4 S0 D", "7 S0 D")
    with pytest.raises(SimulationError, match="an empty value"):
        bench("spacc1", *streams, params=ADD, machine=COMAL)


def test_spacc_keeps_its_times_where_the_reference_is_right() -> None:
    streams = ("0 2 S0 1 S1 D", "1 4 S0 0 S1 S2 D", "1 4 S0 0 S1 S2 D")
    ours = bench("spacc1", *streams, params=ADD)
    strict = replace(OURS, quirks=Quirks(spacc_strict=True))
    with pytest.raises(SimulationError):
        bench("spacc1", *streams, params=ADD, machine=strict)
    streams = ("0 2 S0 1 3 S1 D", "1 4 S0 0 S1 S0 2 S2 D", "1 4 S0 0 S1 S0 2 S2 D")
    ours = bench("spacc1", *streams, params=ADD)
    assert ours.outputs == bench("spacc1", *streams, params=ADD, machine=strict).outputs


def test_drop_ignores_empty_outer_fiber() -> None:
    inner, outer = "3 S1 S1 4 S2 D", "0 S0 S0 1 S1 D"
    assert bench("crddrop", inner, outer).tokens == (inner, outer)
    with pytest.raises(SimulationError, match="which has ended"):  # it loses coordinates and D
        bench("crddrop", inner, outer, machine=COMAL)


def test_drop_of_a_leading_empty_outer_fiber() -> None:
    inner, outer = "S1 4 S0 S2 D", "S0 1 2 S1 D"
    assert bench("crddrop", inner, outer).tokens == (inner, "S0 1 S1 D")


def test_writer_records_leading_empty() -> None:
    params = {"tensor": "X", "level": 1}
    for text, ours, theirs in (
        ("S1 D", [0], [0, 0]),
        ("S0 4 S0 S1 D", [0, 1], [0, 0, 1]),
        ("4 S0 S0 5 S1 D", [0, 1, 2], [0, 1, 2]),
    ):
        assert bench("crdwrite", text, params=params).written["seg"].tolist() == ours
        run = bench("crdwrite", text, params=params, machine=COMAL)
        assert run.written["seg"].tolist() == theirs


def test_guide_tells_an_empty_fiber_from_no_fiber() -> None:
    # [] and [[]] are both S1 one level down.
    values = "S1 1 S0 S1 S1 2 3 S2 D"
    guide = "S0 0 2 S0 5 S0 1 S1 D"
    assert bench("reduce", values, guide, params=ADD).tokens == ("S0 1 N S0 N S0 5 S1 D",)
    assert bench("reduce", values, guide, params=ADD, machine=COMAL).tokens == (
        "S0 1 0 S0 0 S0 5 S1 D",
    )
    # Without the guide the empty fibers of the outer level become values.
    assert bench("reduce", values, params=ADD).tokens == ("N S0 1 N S0 N S0 5 S1 D",)


def test_guided_reduce_costs_what_the_plain_one_costs() -> None:
    text = "1@1 2@2 S0@3 S0@4 3@5 S1@6 D@7"
    plain = bench("reduce", text, params=ADD)
    guided = bench("reduce", text, "0@1 1@1 2@1 S0@1 D@1", params=ADD)
    assert guided.outputs == plain.outputs == ("3@4 N@5 3@7 S0@7 D@8",)


def test_guided_reduce_at_the_outermost_level() -> None:
    assert bench("reduce", "S1 D", "S0 D", params=ADD).tokens == ("S0 D",)
    assert bench("reduce", "S1 D", "4 S0 D", params=MAX).tokens == ("N S0 D",)


def test_gate_empties_fibers_in_which_the_first_operands_have_nothing() -> None:
    a = "S0 1 S0 S1 D"
    b = "1 2 S0 2 S0 3 S1 D"
    plain = bench("union", a, a, b, b, params={"gate": 0}, outputs=3)
    assert plain.tokens == (
        "1 2 S0 1 2 S0 3 S1 D",
        "N N S0 1 N S0 N S1 D",
        "1 2 S0 N 2 S0 3 S1 D",
    )
    gated = bench("union", a, a, b, b, params={"gate": 1}, outputs=3)
    assert gated.tokens == ("S0 1 2 S0 S1 D", "S0 1 N S0 S1 D", "S0 N 2 S0 S1 D")
    assert gated.clock == plain.clock  # a cycle per coordinate column, put or not


def test_gate_over_two_operands_opens_with_either() -> None:
    a, b, c = "S0 S0 1 S1 D", "S0 5 S0 S1 D", "1 S0 1 S0 0 1 S1 D"
    run = bench("union", a, a, b, b, c, c, params={"gate": 2}, outputs=4)
    assert run.tokens[0] == "S0 1 5 S0 0 1 S1 D"
    assert run.tokens[3] == "S0 1 N S0 0 1 S1 D"


def test_gate_looks_only_at_the_start_of_a_fiber() -> None:
    a, b = "1 S0 D", "0 2 3 S0 D"
    run = bench("union", a, a, b, b, params={"gate": 1}, outputs=3)
    assert run.tokens[0] == "0 1 2 3 S0 D"


def test_zerodrop_discards_stops() -> None:
    values, crds = "1 0 S0 N 2 S0 0 S1 D", "4 5 S0 1 2 S0 3 S1 D"
    assert bench("zerodrop", values, crds).tokens == ("1 S0 2 S0 S1 D", "4 S0 2 S0 S1 D")
    dropped = bench("zerodrop", "1 S0 2 S0 3 S0 4 S1 D", "1 S0 2 S0 3 S0 4 S1 D", machine=COMAL)
    assert dropped.tokens[0] == "1 S0 2 3 S0 4 D"
    with pytest.raises(SimulationError, match="value and coordinate disagree"):
        bench("zerodrop", "1 S0 D", "1 S1 D")


def test_spacc2_takes_empty_fibers() -> None:
    """docs/spec/comal.md §2.6: an empty fiber has stops of its own on the levels inside."""
    streams = ("0 1 S0 S1 D", "3 S0 S1 S2 D", "1 S1 S2 S3 D", "5 S1 S2 S3 D")
    ours = bench("spacc2", *streams)
    assert ours.tokens == ("3 S0 S1 D", "1 S1 S2 D", "5 S1 S2 D")
    with pytest.raises(SimulationError):
        bench("spacc2", *streams, machine=COMAL)


def test_spacc2_takes_empty_values_and_empty_inner_fibers() -> None:
    streams = ("0 S0 D", "3 4 5 S1 D", "1 S0 S0 2 S2 D", "7 S0 S0 N S2 D")
    assert bench("spacc2", *streams).tokens == ("3 S0 D", "1 S1 D", "7 S1 D")


@pytest.mark.parametrize(
    "streams",
    [
        ("S0 D", "S2 D", "S2 D", "S2 D"),
        ("0 S0 D", "S1 D", "S1 D", "S1 D"),
        ("D", "3 D", "D", "D"),
    ],
)
def test_spacc2_fails_where_levels_disagree(streams: tuple[str, ...]) -> None:
    with pytest.raises(SimulationError, match=r"disagree|end first"):
        bench("spacc2", *streams)


def test_presets_and_dictionaries() -> None:
    assert Machine.preset("comal") == COMAL
    assert Machine.from_dict(COMAL.to_dict()) == COMAL
    assert hash(Machine.from_dict(COMAL.to_dict())) == hash(COMAL)
    assert OURS.quirks.active == ()
    assert len(COMAL.quirks.active) == 15
    assert "quirks: none" in str(OURS)
    for wrong in ("comet", ""):
        with pytest.raises(SimulationError, match="no machine"):
            Machine.preset(wrong)
    with pytest.raises(SimulationError, match="channel_capacity is 0"):
        Machine(channel_capacity=0)
    with pytest.raises(SimulationError, match="the table of quirks has no 'leaks'"):
        Machine.from_dict({"quirks": {"leaks": True}})
