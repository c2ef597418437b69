"""The replayer: whole subtrees, once per coordinate of the driver (docs/spec/machine.md §4.3)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fuseloom.dataflow.cost.flow as flow
from fuseloom.dataflow.cost.rules import RULES
from fuseloom.dataflow.samml.catalogue import CATALOGUE
from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.sim.conformance.bench import bench
from fuseloom.errors import SimulationError
from tests.property.test_primitives import CAPACITIES, nests, stream

ENGINES = ("interpreter", "compiled")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("levels", "held", "driver", "expected"),
    [
        (1, "5 7 S0 D", "0 1 2 S0 D", "5 7 S0 5 7 S0 5 7 S1 D"),
        # An empty subtree, and a driver's fiber of no coordinates, which drops one.
        (1, "5 S0 S0 7 S1 D", "0 1 S0 1 2 S0 S1 D", "5 S0 5 S1 S0 S1 S2 D"),
        # No subtree at all in the first fiber outside.
        (1, "S1 5 S0 6 S2 D", "S1 3 S0 4 4 S2 D", "S2 5 S1 6 S0 6 S3 D"),
        (2, "5 S0 6 7 S1 D", "0 1 S0 D", "5 S0 6 7 S1 5 S0 6 7 S2 D"),
        (2, "S0 5 S2 D", "8 9 S1 D", "S0 5 S1 S0 5 S3 D"),
        (1, "S0 D", "S0 D", "S1 D"),
    ],
)
def test_examples(engine: str, levels: int, held: str, driver: str, expected: str) -> None:
    assert bench("replay", held, driver, params={"levels": levels}, engine=engine).tokens == (
        expected,
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_the_first_copy_streams_through_and_the_others_follow_at_once(engine: str) -> None:
    """Tokens at 1, 5, 9 leave a cycle later; then one a cycle, stops included."""
    run = bench(
        "replay", "5@1 7@5 S0@9 D@10", "0@1 1@1 S0@1 D@2", params={"levels": 1}, engine=engine
    )
    assert run.outputs == ("5@2 7@6 S0@10 5@11 7@12 S1@13 D@14",)
    # A late driver holds up the copies, not the tokens that are there.
    run = bench("replay", "5 7 S0 D", "0@4 1@20 S0@21 D@22", params={"levels": 1}, engine=engine)
    assert run.outputs == ("5@5 7@6 S0@21 5@22 7@23 S1@24 D@25",)
    dropped = bench("replay", "5 7 S0 D", "S0@1 D@2", params={"levels": 1}, engine=engine)
    assert dropped.outputs == ("S1@4 D@5",)


@given(st.data(), st.integers(1, 2), CAPACITIES, st.sampled_from(ENGINES))
def test_copies_of_nested_lists(
    data: st.DataObject, levels: int, capacity: int | None, engine: str
) -> None:
    held = data.draw(nests(1 + levels))
    drives = [data.draw(st.lists(st.integers(0, 9), max_size=3)) for _ in held]
    run = bench(
        "replay", stream(held, 1 + levels), stream(drives, 2), params={"levels": levels},
        capacity=capacity, engine=engine,
    )  # fmt: skip
    expected = [[tree] * len(fiber) for tree, fiber in zip(held, drives, strict=True)]
    assert run.tokens == (stream(expected, 2 + levels),)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_fiber_longer_than_the_first_buffer(engine: str) -> None:
    fiber = [3 * k % 1000 for k in range(500)]
    run = bench("replay", stream(fiber, 1), "0 1 2 S0 D", params={"levels": 1}, engine=engine)
    assert run.tokens == (stream([fiber] * 3, 2),)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("held", "driver"),
    [("5 S0 D", "0 S1 D"), ("5 D", "0 S0 D"), ("5 S0 6 S0 D", "0 S0 D"), ("5 S0 D", "0 1 D")],
)
def test_streams_that_disagree(engine: str, held: str, driver: str) -> None:
    with pytest.raises(SimulationError, match=r"disagree|ends"):
        bench("replay", held, driver, params={"levels": 1}, engine=engine)


def test_its_entry_and_its_estimate() -> None:
    entry = CATALOGUE["replay"]
    node = Node(0, "replay", (0, 1), (2,), {"levels": 2})
    depths = [port.depth_of(node.params) for port in (*entry.inputs, *entry.outputs)]
    assert depths == [2, 1, 3]
    rows = flow.NestingLevel(4.0)
    held = flow.Flow(flow.NestingLevel(24.0, flow.NestingLevel(8.0, rows)), 0, present=0.5)
    driver = flow.Flow(flow.NestingLevel(12.0, rows), 1)
    context = flow.FlowContext(lambda _: pytest.fail("reads no tensor"), (2,), lambda _: 1.0)
    outcome = RULES["replay"](node, (held, driver), context)
    (out,) = outcome.flows
    found: list[Any] = []
    level = out.shape
    while level is not None:
        found.append(level.values)
        level = level.above
    assert found == [72.0, 24.0, 12.0, 4.0]  # three copies of each subtree
    assert out.present == 0.5
    assert outcome.busy == out.tokens == 72 + 24 + 1


def test_repsig() -> None:
    assert bench("repsig", "4 N S0 S1 D").outputs == ("R@2 R@3 S@4 S@5 D@6",)


def test_repeat() -> None:
    run = bench("repeat", "4@1 5@2 S0@3 D@4", "R@2 R@3 S@4 R@5 S@6 D@7")
    assert run.outputs == ("4@3 4@4 S0@5 5@6 S1@7 D@8",)
