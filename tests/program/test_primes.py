"""Names with primes are told by their number from the third on, and read back."""

from __future__ import annotations

import fuseloom as fl
from fuseloom.program.primes import bare, primed, primes, unused


def test_names_read_back() -> None:
    names = [primed("k", count) for count in range(30)]
    assert len({*names}) == 30
    assert [(bare(n), primes(n)) for n in names] == [("k", count) for count in range(30)]
    taken: set[str] = set()
    for name in names:
        assert unused("k", taken) == name
        taken.add(name)


def test_a_name_that_somebody_wrote_is_not_taken_again() -> None:
    assert unused("k", {"k", "k'", "k'3"}) == "k''"
    assert unused("k''", {"k''", "k'3"}) == "k'4"


def test_a_name_that_somebody_wrote_stays() -> None:
    """Primes, and a number behind one, are allowed in names of a program's own."""
    for name in ("k'''", "k'1", "k'02"):
        assert unused(name, ()) == name
        program = fl.parse(f"A: 3x4 csr\nb: 4 dense\ny[i] = A[i,{name}] * b[{name}]")
        compilation = fl.compile(program, f"order y: i,{name}")
        assert compilation.regions[0].order == ("i", name)


def test_many_reductions_of_one_index_stay_short() -> None:
    """A chain of products, all fused: each has a reduced index of its own."""
    lines = [f"T{n}[i,j] = T{n - 1}[i,k] * A[k,j]" for n in range(1, 9)]
    program = fl.parse("\n".join(["A: 4x4 csr", "T0[i,j] = A[i,k] * A[k,j]", *lines]))
    compilation = fl.compile(program, "fuse T0..T8")
    (region,) = compilation.regions
    assert {"k'", "k''", "k'3", "k'8"} <= {*region.order}
    orders = f"fuse T0..T8; order T0..T8: {','.join(region.order)}"
    assert fl.compile(program, orders).regions[0].order == region.order
