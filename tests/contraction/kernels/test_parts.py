"""Parts of nests: what is made for what, and nests with some of their assignments."""

from __future__ import annotations

from fuseloom.contraction.kernels.parts import made_by, pruned
from fuseloom.contraction.loopnest.parser import parse_nest

TWO = (
    "where(forall(k, R(k) += X(k) * Y(k)), forall(k, "
    "where(Y(k) += D(k), where(X(k) += T() * B(k), forall(j, T() += A(k,j))))))"
)


def test_what_a_loop_makes_and_what_for() -> None:
    nest = parse_nest(TWO)
    assert made_by(nest) == {"R": {"R", "X", "Y", "T"}}
    assert made_by(nest.producer.body) == {"X": {"X", "T"}, "Y": {"Y"}}


def test_what_is_left_of_a_nest() -> None:
    inner = parse_nest(TWO).producer
    assert str(pruned(inner, {"Y"})) == "forall(k, Y(k) += D(k))"
    left = pruned(inner, {"X", "T"})
    assert str(left) == "forall(k, where(X(k) += T() * B(k), forall(j, T() += A(k,j))))"
    assert pruned(inner, set()) is None
    assert pruned(inner, {"X", "T", "Y"}) == inner
