"""Nests: what an instance is recomputed under, and which orders can be built at all."""

from collections.abc import Iterator, Sequence
from itertools import permutations

import pytest

from fuseloom.dataflow.fusion.nests import Placed, nest_class, place, walk_placed
from fuseloom.dataflow.fusion.pog import EdgeOrigin, build_pog
from fuseloom.dataflow.fusion.view_builder import build_views
from fuseloom.dataflow.fusion.views import Instance, instances
from fuseloom.errors import OrderError
from fuseloom.models import gcn
from fuseloom.program import Program, parse
from tests.dataflow.fusion.graphsage import GRAPHSAGE, matmul_orders

CHAIN = parse(
    """
    A: 4x5 dcsr
    B: 5x6 dcsr
    C: 6x3 dcsr
    T[i,j] = A[i,k] * B[k,j]
    D[i,l] = T[i,j] * C[j,l]
    """
)
LOGITS = parse(
    """
    A: 4x5 dcsr
    S[i,m] = relu(A[i,m])
    x[i] = max[m] S[i,m]
    d[i,m] = S[i,m] - x[i]
    """
)


def realisable(roots: Sequence[Instance], order: Sequence[str]) -> bool:
    try:
        place(roots, order)
    except OrderError:
        return False
    return True


def roots_of(program: Program) -> tuple[Instance, ...]:
    return build_views(program, program.statements, program.outputs)[0]


def placed(program: Program, order: str) -> dict[str, Placed]:
    return {p.tensor: p for p in walk_placed(place(roots_of(program), order.split(",")))}


def nests(program: Program, order: str) -> dict[str, str]:
    return {name: ",".join(p.nest) for name, p in placed(program, order).items()}


# Rules S1 to S3 -------------------------------------------------------------------------------


def test_an_output_iterates_its_own_indices() -> None:
    """S1: output indices and reductions, sorted by the order."""
    assert nests(CHAIN, "i,k,j,l")["D"] == "i,j,l"
    assert nests(CHAIN, "i,j,k,l")["D"] == "i,j,l"
    assert nests(CHAIN, "j,l,i,k")["D"] == "j,l,i"


def test_a_producer_is_recomputed_under_what_lies_outside_its_last_index() -> None:
    """S2: l is foreign to T where it comes before one of T's own indices."""
    assert nests(CHAIN, "i,k,j,l")["T"] == "i,k,j"
    assert nests(CHAIN, "i,l,k,j")["T"] == "i,l,k,j"
    assert nests(CHAIN, "l,i,k,j")["T"] == "l,i,k,j"
    assert placed(CHAIN, "l,i,k,j")["T"].foreign == ("l",)
    assert placed(CHAIN, "i,k,j,l")["T"].foreign == ()
    assert nests(CHAIN, "i,j,l,k")["T"] == "i,j,l,k"


def test_foreign_indices_are_handed_down() -> None:
    """Each row of the hidden layer is recomputed for every (i, k) that reads it."""
    below = placed(gcn().program, "i,k,k',p,n,m")
    assert {name: below[name].foreign for name in ("T1", "T2", "T3", "H", "T5")} == {
        "T1": ("i",), "T2": ("i",), "T3": ("i",), "H": ("i",), "T5": (),
    }  # fmt: skip


def test_results_live_outside_their_reductions() -> None:
    assert placed(CHAIN, "i,k,j,l")["T"].outer_nest == ("i", "j")
    assert placed(CHAIN, "i,k,j,l")["D"].outer_nest == ("i", "l")


def test_a_foreign_index_inside_a_reduction_is_rejected() -> None:
    """S3: T would start its sum over k anew for each l, and never finish one."""
    with pytest.raises(OrderError) as caught:
        place(roots_of(CHAIN), ("i", "k", "l", "j"))
    assert caught.value.message == (
        "order i→k→l→j cannot be built: T would be recomputed for each l inside its own "
        "reduction over k"
    )
    assert caught.value.hint == (
        "move l outside k, or cut the region after T; "
        "'global' iterates all factors of a product at once, in any order"
    )


def test_six_of_the_24_orders_of_two_products_are_rejected() -> None:
    """Those with l inside T's sum over k, yet outside one of T's indices i and j."""
    roots = roots_of(CHAIN)
    rejected = {order for order in permutations("ijkl") if not realisable(roots, order)}
    assert rejected == {
        order
        for order in permutations("ijkl")
        if order.index("k") < order.index("l") < max(order.index("i"), order.index("j"))
    }
    assert len(rejected) == 6


@pytest.mark.deep  # takes seconds
def test_a_producer_ends_where_its_reader_goes_on() -> None:
    """The output of a producer is a prefix of its reader's nest, for every order that is built."""
    for program in (CHAIN, LOGITS, gcn().program):
        extents = build_views(program, program.statements, program.outputs)[1]
        for order in permutations(extents):
            try:
                views = walk_placed(place(roots_of(program), order))
            except OrderError:
                continue
            for reader in views:
                for operand in reader.operands:
                    if isinstance(operand, Placed):
                        outer = operand.outer_nest
                        assert reader.nest[: len(outer)] == outer


def test_a_shared_reduction_must_lie_inside_its_result() -> None:
    assert nests(LOGITS, "i,m") == {"S": "i,m", "x": "i,m", "d": "i,m"}
    with pytest.raises(OrderError) as caught:
        place(roots_of(LOGITS), ("m", "i"))
    assert caught.value.message == (
        "order m→i cannot be built: x reduces over m, and what uses it iterates m outside i"
    )
    assert caught.value.hint == "move m inside i, or cut the region after x"


def test_views_under_different_nests_are_split() -> None:
    """B is wanted per (i, j) and, below a sum, per (i, j, k)."""
    program = parse(
        """
        A: 4x4 dcsr
        W: 4x4 dcsr
        B[i,j] = relu(A[i,j])
        C[i,j] = B[i,j] * W[j,k]
        D[i,j] = C[i,j] + B[i,j]
        """
    )
    below = walk_placed(place(roots_of(program), ("i", "k", "j")))
    assert [(p.tensor, p.nest) for p in below] == [
        ("B", ("i", "k", "j")), ("C", ("i", "k", "j")), ("B", ("i", "j")), ("D", ("i", "j")),
    ]  # fmt: skip
    below = walk_placed(place(roots_of(program), ("i", "j", "k")))
    assert [(p.tensor, p.nest) for p in below] == [
        ("B", ("i", "j")), ("C", ("i", "j", "k")), ("D", ("i", "j")),
    ]  # fmt: skip


# Rule S4: nest classes ------------------------------------------------------------------------


def test_orders_that_no_nest_tells_apart_are_one_class() -> None:
    """The 18 orders of two products differ in a nest; the 1134 of GraphSAGE in none."""
    chain = [order for order in permutations("ijkl") if realisable(roots_of(CHAIN), order)]
    assert len({nest_class(roots_of(CHAIN), order) for order in chain}) == len(chain) == 18

    roots, extents = build_views(GRAPHSAGE, GRAPHSAGE.statements, GRAPHSAGE.outputs)
    orders = matmul_orders(GRAPHSAGE)
    pog = build_pog(GRAPHSAGE, roots, extents, orders, origins=[EdgeOrigin.USER])
    classes = [nest_class(roots, order) for order in pog.orders()]
    assert (len(classes), len(set(classes))) == (1_134, 1)


def s3_only(roots: Sequence[Instance], order: Sequence[str]) -> dict[tuple[str, ...], str] | None:
    """The nests of an order that breaks no rule S3, by hand; None if it does."""
    rank = {x: k for k, x in enumerate(order)}
    found: dict[tuple[str, ...], str] = {}

    def put(view: Instance, reader: tuple[str, ...]) -> bool:
        last = max(rank[x] for x in view.local)
        foreign = [x for x in reader if x not in view.local and rank[x] < last]
        if any(rank[r] < rank[x] for r in view.reduced for x in foreign):
            return False
        nest = tuple(sorted((*view.local, *foreign), key=rank.__getitem__))
        found[view.tensor, *view.indices] = ",".join(nest)
        return all(put(v, nest) for v in view.operands if isinstance(v, Instance))

    return found if all(put(root, ()) for root in roots) else None


def gcn_orders() -> Iterator[tuple[str, ...]]:
    _, extents = build_views(gcn().program, gcn().program.statements, gcn().program.outputs)
    return permutations(extents)


def test_the_fused_gcn_has_one_order_in_which_products_run_as_they_read() -> None:
    program = gcn().program
    roots, extents = build_views(program, program.statements, program.outputs)
    orders = matmul_orders(program)
    pog = build_pog(program, roots, extents, orders, origins=[EdgeOrigin.USER])
    assert len(extents) == 6
    assert list(pog.orders()) == [("i", "k", "k'", "p", "n", "m")]


def test_nest_classes_of_the_fused_gcn() -> None:
    """Of 720 orders, S3 leaves 209 in 136 classes; 131 in 77 classes can be built."""
    roots = roots_of(gcn().program)
    by_hand = {order: nests for order in gcn_orders() if (nests := s3_only(roots, order))}
    assert len(by_hand) == 209
    assert len({tuple(sorted(nests.items())) for nests in by_hand.values()}) == 136

    built = [order for order in by_hand if realisable(roots, order)]
    assert len(built) == sum(realisable(roots, order) for order in gcn_orders()) == 131
    assert len({nest_class(roots, order) for order in built}) == 77

    # What is refused beyond S3 iterates the softmax's classes m outside the nodes i.
    refused = by_hand.keys() - built
    assert len(refused) == 78
    assert all(order.index("m") < order.index("i") for order in refused)
    assert all(order.index("i") < order.index("m") for order in built)


def test_why_a_softmax_cannot_iterate_its_classes_outside() -> None:
    """With m outermost, d needs the maximum of every row before m has moved on at all.

    Then d's first elements are d[0,m=0], d[1,m=0], ...; but x[0] is the maximum over all m, and
    under the nest (m, i) its last term comes after every d with m = 0.  No stream has both:
    x's nest without its reduction, (i), is no prefix of d's nest (m, i).
    """
    roots = roots_of(gcn().program)
    order = ("m", "i", "n", "k", "p", "k'")
    nests = s3_only(roots, order)
    assert nests is not None  # no rule S3 is broken
    assert nests["x", "i"] == nests["d", "i", "m"] == "m,i"
    (x,) = {v for v in instances(*roots) if v.tensor == "x"}
    assert x.reduced == ("m",)
    visits = [(m, i) for m in range(2) for i in range(2)]  # the nest (m, i), two by two
    first_use_of_row_0 = visits.index((0, 0))
    row_0_is_complete = max(k for k, (_, i) in enumerate(visits) if i == 0)
    assert first_use_of_row_0 < row_0_is_complete
    with pytest.raises(OrderError, match="x reduces over m, and what uses it iterates m outside i"):
        place(roots, order)
