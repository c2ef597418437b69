"""A primitive that a student wrote: the vectors name the first token that is wrong."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fuseloom.dataflow.sim.conformance.judge import judge
from fuseloom.dataflow.sim.golden.registry import IMPLEMENTATIONS
from fuseloom.dataflow.sim.process import Behaviour, Process
from fuseloom.dataflow.sim.tokens import DONE, REPEAT, SIGNAL_STOP, Stop
from fuseloom.errors import FuseloomError

OPS = ("scan", "repsig", "repeat", "intersect", "union", "array", "binary", "reduce", "spacc1")


@pytest.mark.parametrize("op", OPS)
def test_the_golden_models_themselves_are_right(op: str) -> None:
    verdict = judge(op, IMPLEMENTATIONS[op].generator)
    assert verdict.ok, verdict
    assert verdict.passed == verdict.vectors >= 3
    assert "✓" in verdict._repr_html_()


def signal(
    stop: object = SIGNAL_STOP, leaf: object = REPEAT, done: bool = True, slow: int = 1
) -> Callable[[Process], Behaviour]:
    """The repeat signal, with faults."""

    def generator(node: Process) -> Behaviour:
        (stream,), (out,) = node.inputs, node.outputs
        while True:
            token = yield stream.take
            if token is DONE:
                if done:
                    yield out.put(DONE)
                return
            yield out.put(stop if isinstance(token, Stop) else leaf)  # type: ignore[arg-type]
            node.clock += slow

    return generator


def forgets(node: Process) -> Behaviour:
    """Never leaves the first token."""
    (out,) = node.outputs
    while True:
        yield out.put(REPEAT)


def breaks(node: Process) -> Behaviour:
    yield node.inputs[7].take


FAULTS = {
    "stops are leaves": (signal(stop=REPEAT), "yours is R, the machine's S"),
    "leaves are stops": (signal(leaf=SIGNAL_STOP), "yours is S, the machine's R"),
    "no end": (signal(done=False), "D is missing"),
    "too slow": (signal(slow=2), "comes at cycle"),
    "never ends": (forgets, "R comes at cycle 1"),
    "raises": (breaks, "your generator raised IndexError"),
}


def test_without_faults_it_is_right() -> None:
    assert judge("repsig", signal()).ok


@pytest.mark.parametrize("fault", FAULTS)
def test_the_first_wrong_token_is_named(fault: str) -> None:
    generator, said = FAULTS[fault]
    verdict = judge("repsig", generator)
    assert not verdict.ok
    assert verdict.problem.startswith("vector ")
    assert said in verdict.problem
    assert "✕" in verdict._repr_html_()
    if verdict.picture is not None:
        assert "machine" in str(verdict)
    assert IMPLEMENTATIONS["repsig"].generator.__name__ == "repsig", "the own one is back"


def test_what_is_no_generator_or_primitive() -> None:
    with pytest.raises(FuseloomError, match="cannot be called"):
        judge("repsig", 3)  # type: ignore[arg-type]
    with pytest.raises(FuseloomError, match="nosuch"):
        judge("nosuch", signal())
    assert "no yield" in judge("repsig", lambda node: None).problem  # type: ignore[arg-type, return-value]
