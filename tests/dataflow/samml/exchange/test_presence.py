"""When a value may be absent."""

from __future__ import annotations

from fuseloom.dataflow.samml.exchange.presence import PresenceClauses
from fuseloom.dataflow.samml.exchange.wiring import DraftOutput, Wiring


def joined(wiring: Wiring, op: str, count: int) -> list[DraftOutput]:
    """Values of as many vectors, joined."""
    inputs = []
    for k in range(count):
        (root,) = wiring.add("root", ())
        inputs += wiring.add("scan", (root,), params={"tensor": f"t{k}", "level": 0})
    params = {"gate": 0} if op == "union" else {}
    _, *refs = wiring.add(op, inputs, 1 + count, params)
    return [wiring.add("array", (r,), params={"tensor": f"t{k}"})[0] for k, r in enumerate(refs)]


def combined(wiring: Wiring, fn: str, *values: DraftOutput) -> DraftOutput:
    total = values[0]
    for value in values[1:]:
        (total,) = wiring.add("binary", (total, value), params={"fn": fn})
    return total


def is_always_there(wiring: Wiring, wire: DraftOutput) -> bool:
    return not PresenceClauses(wiring.parts).of(wire)


def test_a_sum_of_all_operands_of_a_union_is_always_there() -> None:
    wiring = Wiring()
    values = joined(wiring, "union", 3)
    assert not is_always_there(wiring, values[0])
    assert not is_always_there(wiring, combined(wiring, "add", *values[:2]))
    assert not is_always_there(wiring, combined(wiring, "mul", *values))
    assert is_always_there(wiring, combined(wiring, "add", *values))
    assert is_always_there(wiring, joined(wiring, "intersect", 2)[0])


def test_two_unions_lack_operands_apart() -> None:
    wiring = Wiring()
    first, second = joined(wiring, "union", 2), joined(wiring, "union", 2)
    assert not is_always_there(wiring, combined(wiring, "add", first[0], second[1]))
    product = combined(wiring, "mul", combined(wiring, "add", *first), second[0])
    assert not is_always_there(wiring, product)
    assert is_always_there(wiring, combined(wiring, "add", product, second[1]))


def test_very_many_conditions_stand_for_absent() -> None:
    wiring = Wiring()
    sums = [
        combined(wiring, "mul", *(joined(wiring, "union", 2)[0] for _ in range(5)))
        for _ in range(4)
    ]
    assert not is_always_there(wiring, combined(wiring, "add", *sums))


def test_what_is_reduced_or_scanned_is_there() -> None:
    wiring = Wiring()
    (value, _) = joined(wiring, "union", 2)
    (total,) = wiring.add("reduce", (value,), params={"fn": "add"})
    assert is_always_there(wiring, total)
