"""The partial order graph: edges with reasons, cycles, and the orders that are left."""

from collections import Counter
from itertools import combinations, islice, pairwise, permutations
from math import factorial
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.fusion.fuse import fuse
from fuseloom.dataflow.fusion.pog import Edge, EdgeOrigin, PartialOrderGraph, build_pog
from fuseloom.dataflow.fusion.region import FusedRegion
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.fusion.view_builder import build_views
from fuseloom.errors import OrderError
from fuseloom.models import gcn
from fuseloom.program import Program, parse
from tests.dataflow.fusion.graphsage import GRAPHSAGE, matmul_orders


def region(program: str, schedule: str = "") -> FusedRegion:
    (only,) = fuse(parse(program), Schedule.parse(schedule))
    return only


def edges(found: FusedRegion, origin: EdgeOrigin) -> list[str]:
    return [str(edge) for edge in found.pog.edges if edge.origin is origin]


# Edges ----------------------------------------------------------------------------------------


def test_edges_from_mode_orders() -> None:
    """Every operand with a compressed level is traversed as it is stored; dense ones are free."""
    found = region("A: 4x5 [dense, compressed] order 1,0\nX: 5x3 dense\nT[j,i] = A[i,k] * X[k,j]")
    assert edges(found, EdgeOrigin.MODE) == ["k→i (A is stored (k, i))"]
    assert edges(found, EdgeOrigin.OUTPUT) == ["j→i (T is written (j, i))"]
    assert all(edge.hard for edge in found.pog.edges)


def test_edges_from_output_orders() -> None:
    found = region(
        "A: 4x5x6 dense\nT: 4x5x6 [dense, compressed, dense] order 2,0,1\nT[i,j,k] = relu(A[i,j,k])"
    )
    assert edges(found, EdgeOrigin.MODE) == []
    assert edges(found, EdgeOrigin.OUTPUT) == [
        "k→i (T is written (k, i, j))",
        "i→j (T is written (k, i, j))",
    ]


def test_edges_from_sparse_broadcasts() -> None:
    """Rows come only from the operand that has them, so they are met before their elements."""
    text = "Z: 4x5 dense\nb: 5 dense\nT: 4x5 dense\nT[l,n] = Z[l,n] + b[n]"
    reason = "l→n (T adds an operand that lacks an index, row by row)"
    assert edges(region(text), EdgeOrigin.BROADCAST) == [reason]
    assert edges(region(text.replace("+", "*")), EdgeOrigin.BROADCAST) == []
    assert edges(region("option broadcast_add dense\n" + text), EdgeOrigin.BROADCAST) == []
    assert edges(region(text.replace("b[n]", "Z[l,n]")), EdgeOrigin.BROADCAST) == []


def test_edges_from_the_user() -> None:
    """In the region's names: the second statement's k is the first one's i."""
    found = region(
        "A: 4x4 dense\nB[i,j] = A[i,k] * A[k,j]\nC[i,j] = A[i,k] * B[k,j]",
        "fuse B..C; order B: i,k,j",
    )
    assert edges(found, EdgeOrigin.USER) == [
        "k→k' (the schedule orders B as i, k, j)",
        "k'→j (the schedule orders B as i, k, j)",
    ]
    assert not any(e.hard for e in found.pog.edges if e.origin is EdgeOrigin.USER)


def test_origins_can_be_chosen() -> None:
    program = parse("A: 4x5 dcsr\nT[i] = A[i,j]")
    roots, extents = build_views(program, program.statements, program.outputs)
    orders = {"T": ("j", "i")}
    assert len(build_pog(program, roots, extents, {}).edges) == 1
    only = build_pog(program, roots, extents, orders, origins=[EdgeOrigin.USER])
    assert [(e.outer, e.inner) for e in only.edges] == [("j", "i")]


# Cycles ---------------------------------------------------------------------------------------

FIGURE_8 = """
    B: 4x4 csr
    C: 4x4 dense
    A[i,j] = B[i,k] * C[k,j]
    E[i,j] = B[i,k] * A[k,j]
"""


def test_dropping_one_of_the_two_orders_breaks_the_cycle() -> None:
    found = region(FIGURE_8, "fuse A..E; order E: i,j,k")
    assert list(found.pog.orders()) == [("i", "j", "k", "k'")]


def test_gustavson_leaves_one_order() -> None:
    found = region(FIGURE_8, "fuse A..E; order A: i,k,j; order E: i,k,j")
    assert list(found.pog.orders()) == [("i", "k", "k'", "j")]
    assert found.pog.count() == 1


GRAM = """
    X: 4x5 csr
    W: 4x3 csr
    G[i,j] = X[i,k] * X[j,k]
    H[i,m] = G[i,j] * W[j,m]
"""


def test_without_the_wish_an_inner_product_is_left() -> None:
    found = region(GRAM, "fuse G..H; order H: i,j,m")
    assert sorted(found.pog.orders()) == [("i", "j", "k", "m"), ("i", "j", "m", "k")]


def test_a_broadcast_against_its_output_is_a_cycle() -> None:
    text = "Z: 4x5 dense\nb: 5 dense\nT: 4x5 dense order 1,0\nT[l,n] = Z[l,n] + b[n]"
    with pytest.raises(OrderError) as caught:
        region(text)
    assert "T adds an operand that lacks an index, row by row" in caught.value.message
    assert "T is written (n, l)" in caught.value.message
    assert (caught.value.hint or "").startswith("store one of these tensors in another mode order")


def test_wishes_against_the_output_are_a_cycle_that_nothing_breaks() -> None:
    with pytest.raises(OrderError) as caught:
        region("A: 4x4 csr\nB: 4x4 csr\nC[i,j] = A[i,k] * B[k,j]", "order C: j,i")
    for reason in ("A is stored (i, k)", "B is stored (k, j)", "the schedule orders C as j, i"):
        assert reason in caught.value.message


# Orders ---------------------------------------------------------------------------------------


@st.composite
def posets(draw: st.DrawFn) -> PartialOrderGraph:
    """Up to six elements; edges point down a hidden order, so there is no cycle."""
    names = "abcdef"[: draw(st.integers(0, 6))]
    hidden = draw(st.permutations(names))
    pairs = list(combinations(hidden, 2))
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return PartialOrderGraph(
        tuple(names), tuple(Edge(a, b, EdgeOrigin.MODE, "so it is drawn") for a, b in chosen)
    )


def brute_force(pog: PartialOrderGraph) -> list[tuple[str, ...]]:
    return [
        order
        for order in permutations(pog.indices)
        if all(order.index(e.outer) < order.index(e.inner) for e in pog.edges)
    ]


@pytest.mark.deep  # takes seconds
@given(posets())
def test_orders_and_their_number_equal_brute_force(pog: PartialOrderGraph) -> None:
    """``permutations`` is lexicographic by position, as the orders should be."""
    expected = brute_force(pog)
    assert list(pog.orders()) == expected
    assert pog.count() == len(expected)
    for order in islice(expected, 5):
        pog.check(order)


@given(posets(), st.randoms(use_true_random=False))
def test_check_accepts_the_orders_and_no_other(pog: PartialOrderGraph, rng: object) -> None:
    order = list(pog.indices)
    rng.shuffle(order)
    if tuple(order) in brute_force(pog):
        pog.check(order)
    else:
        with pytest.raises(OrderError, match="must stay outside"):
            pog.check(order)


def test_orders_stop_at_a_limit() -> None:
    free = PartialOrderGraph(tuple("abcdefghij"), ())
    assert free.count() == factorial(10)
    assert free.count_within(10) == factorial(10)
    assert list(free.orders(2)) == [tuple("abcdefghij"), tuple("abcdefghji")]


@pytest.mark.parametrize(
    ("order", "message", "hint"),
    [
        ("k,i,j", "order k→i→j rejected: i must stay outside k, because A is stored (i, k)",
         "move i before k"),
        ("i,j,k", "order i→j→k rejected: k must stay outside j, because B is stored (k, j)",
         "move k before j"),
        ("i,k", "order i→k lacks j", "the region's indices are i, j, k"),
        ("i,k,l", "order i→k→l lacks j", "the region's indices are i, j, k"),
        ("i,k,j,l", "order i→k→j→l names l", "the region's indices are i, j, k"),
        ("i,k,k,j", "order i→k→k→j names an index twice", "the region's indices are i, j, k"),
    ],
)  # fmt: skip
def test_a_rejected_order_names_the_edge(order: str, message: str, hint: str) -> None:
    found = region("A: 4x4 csr\nB: 4x4 csr\nC[i,j] = A[i,k] * B[k,j]")
    with pytest.raises(OrderError) as caught:
        found.pog.check(order.split(","))
    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_preferring_adds_what_fits() -> None:
    pog = PartialOrderGraph(("a", "b", "c"), (Edge("a", "b", EdgeOrigin.MODE, ""),))
    preferring = pog.preferring([("b", "a", "c"), ("c", "b")])
    assert [(e.outer, e.inner) for e in preferring.edges[1:]] == [("a", "c"), ("c", "b")]
    assert list(preferring.orders()) == [("a", "c", "b")]


def test_orders_in_which_statements_run_as_they_read_come_first() -> None:
    found = region("A: 4x4 dense\nB: 4x4 dense\nT: 4x4 dense\nT[i,j] = A[i,k] * B[k,j]")
    assert list(found.pog.orders(1)) == [("i", "j", "k")]
    assert found.default_order() == ("i", "k", "j")
    assert sorted(found.orders()) == sorted(found.pog.orders())


# The design space of the paper (Table 4, docs/spec/fusion.md §2.7) -----------------------------


def design_space(program: Program) -> tuple[PartialOrderGraph, PartialOrderGraph]:
    """Unconstrained and constrained graphs, with a view per use."""
    roots, extents = build_views(program, program.statements, program.outputs, merge=False)
    constrained = build_pog(
        program, roots, extents, matmul_orders(program), origins=[EdgeOrigin.USER]
    )
    return build_pog(program, roots, extents, {}, origins=[]), constrained


@pytest.mark.parametrize(
    ("program", "variables", "constrained"),
    [(GRAPHSAGE, 11, 1_134), (gcn().program, 18, 63_063_000)],
    ids=["GraphSAGE", "GCN"],
)
def test_the_design_spaces_of_the_paper(program: Program, variables: int, constrained: int) -> None:
    free, tied = design_space(program)
    assert len(free.indices) == variables
    assert free.count() == factorial(variables)
    assert tied.count() == constrained


def test_the_small_design_space_can_be_listed() -> None:
    _, tied = design_space(GRAPHSAGE)
    assert len(set(tied.orders())) == tied.count()


@pytest.mark.deep  # takes seconds
def test_samples_are_uniform() -> None:
    """Each of the orders of an N-shaped poset turns up as often as the others."""
    edges = [("a", "c"), ("b", "c"), ("b", "d")]
    pog = PartialOrderGraph(
        tuple("abcd"), tuple(Edge(x, y, EdgeOrigin.MODE, "given") for x, y in edges)
    )
    orders = set(pog.orders())
    assert len(orders) == pog.count() == 5
    random = Random(7)
    drawn = Counter(pog.sample(random) for _ in range(2000))
    assert set(drawn) == orders
    # 2000 draws of 5 equally likely orders: 400 ± 4 standard deviations of 18
    assert all(328 <= times <= 472 for times in drawn.values())


def test_a_sample_of_an_unconstrained_region_is_quick_and_legal() -> None:
    """18 indices have 18! orders; a draw does not enumerate them."""
    indices = tuple(f"x{k}" for k in range(18))
    free = PartialOrderGraph(indices, ())
    assert sorted(free.sample(Random(1))) == sorted(indices)
    chained = PartialOrderGraph(
        indices, tuple(Edge(indices[k], indices[k + 3], EdgeOrigin.USER, "") for k in range(15))
    )
    chained.check(chained.sample(Random(2)))


@pytest.mark.parametrize(
    ("text", "order", "permuted", "declared"),
    [
        ("T[i,j] = relu(A[i,j])", "T: j,i", ["A to j,i"], "T: 4x5 dcsc"),
        ("T[i,j] = A[i,k] * B[k,j]", "T: j,i,k", ["B to j,k"], "T: 4x3 dcsc"),
        ("T: 4x3 dcsr\nT[i,j] = A[i,k] * B[k,j]", "T: j,k,i", ["A to k,i", "B to j,k"],
         "T: 4x3 dcsc"),
        ("T[i] = A[i,k] * B[k,j] * b[j]", "T_1: j,i,k", ["B to j,k"],
         "T_1: 4x3 dcsc' (with a line of its own that assigns T_1)"),
    ],
)  # fmt: skip
def test_ways_out_of_an_order_that_storage_contradicts(
    text: str, order: str, permuted: list[str], declared: str
) -> None:
    """The hint names what to store otherwise, and that helps."""
    head = "A: 4x5 csr\nB: 5x3 csr\nb: 3 dense\n"
    used = "\n".join(x for x in head.splitlines() if f"{x[0]}[" in text) + "\n"
    with pytest.raises(OrderError) as caught:
        compile_program(parse(used + text), Schedule.parse(f"order {order}"))
    hint = caught.value.hint or ""
    assert f"declare '{declared}" in hint
    assert all(f"'permute {x}'" in hint for x in permuted)
    body = text.rpartition("\n")[2]
    if "own" in declared:
        body = "T_1[i,j] = A[i,k] * B[k,j]\nT[i] = T_1[i,j] * b[j]"
    directives = "; ".join([f"order {order}", *(f"permute {x}" for x in permuted)])
    program = parse(f"{used}{declared.partition(chr(39))[0]}\n{body}")
    region = compile_program(program, Schedule.parse(directives)).regions[0]
    assert region.order == tuple(order.partition(": ")[2].split(","))


def test_counting_can_be_given_up() -> None:
    indices = tuple("abcdefgh")  # a zigzag, which nothing takes apart
    zigzag = tuple(
        Edge(*(pair if n % 2 else pair[::-1]), EdgeOrigin.USER, "")
        for n, pair in enumerate(pairwise(indices))
    )
    pog = PartialOrderGraph(indices, zigzag)
    assert pog.count_within(5) is None
    assert pog.count_within(1_000) == pog.count() == 1385  # an Euler number
