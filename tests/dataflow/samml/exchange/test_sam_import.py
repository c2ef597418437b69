"""Graphs in the DOT dialect of the Custard compiler: imported, run and compared with numpy."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from fuseloom.dataflow.samml.exchange.sam_accumulate import MAX_ORDER
from fuseloom.errors import FuseloomError
from tests.dataflow.samml.exchange.sam_graphs import dot, product_graph
from tests.dataflow.samml.exchange.sam_texts import (
    PRODUCTS,
    SEED,
    agrees,
    is_refused,
    on_vector,
    run_text,
    sparse,
    vector,
)

CASES = [
    pytest.param(kernel, "".join(order), flawed, id=f"{kernel}-{''.join(order)}-{flawed}")
    for kernel, (_, operands) in PRODUCTS.items()
    for order in itertools.permutations(sorted({x for _, xs in operands for x in xs}))
    for flawed in (False, True)
]


def accumulator_order(kernel: str, order: str) -> int:
    """Result indices inside the outermost loop that is summed over by an accumulator."""
    (_, indices), _ = PRODUCTS[kernel]
    loops = list(order)
    while loops and loops[-1] not in indices:
        loops.pop()
    summed = [k for k, x in enumerate(loops) if x not in indices]
    return sum(x in indices for x in loops[summed[0] :]) if summed else 0


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize(
    ("kernel", "order", "flawed"),
    [c for c in CASES if accumulator_order(str(c.values[0]), str(c.values[1])) <= MAX_ORDER],
)
@pytest.mark.parametrize("trials", [2, pytest.param(8, marks=pytest.mark.fuzz)])
def test_products_in_every_loop_order(kernel: str, order: str, flawed: bool, trials: int) -> None:
    result, operands = PRODUCTS[kernel]
    sizes = dict(zip("ijkl", (4, 3, 5, 4), strict=True))
    for trial in range(trials):
        seed = SEED + 17 * trial + sum(map(ord, kernel + order))
        print(f"seed {seed}")
        rng, choose = np.random.default_rng(seed), random.Random(seed)
        arrays, formats = {}, {}
        for name, xs in operands:
            density = choose.choice([0.15, 0.4, 0.8])
            arrays[name] = sparse(rng, tuple(sizes[x] for x in xs), density)
            nested = sorted(xs, key=order.index)
            letters = "".join(choose.choice("sssd") for _ in xs)
            formats[name] = letters + "".join(str(xs.index(x)) for x in nested)
        text = product_graph(result, operands, order, formats, flawed)
        imported, run = run_text(text, arrays)
        terms = ",".join(xs for _, xs in operands)
        expected = np.einsum(f"{terms}->{result[1]}", *arrays.values())
        assert run.check(expected).ok, f"{formats}\n{imported.graph}\n{text}"


def test_zeros_of_a_dense_vector_are_dropped() -> None:
    text = dot(
        "x=s0,b=d0",
        """4 crddrop outer=i inner=vals vals=true
        3 fiberlookup index=i tensor=b mode=0 format=dense root=true
        3 fiberlookup index=i tensor=b mode=0 format=dense root=true
        1 fiberwrite index=i tensor=x mode=0 format=compressed
        2 arrayvals tensor=b
        0 fiberwrite tensor=x mode=vals""",
        """3>4 crd in-i
        4>1 crd outer-i
        3>2 ref
        2>4 val in-vals
        4>0 val inner-vals""",
    )
    b = vector(3)
    imported, run = run_text(text, {"b": b})
    assert run.check(b).ok
    assert run.outputs["x"].nnz == np.count_nonzero(b)
    assert imported.repairs == ()


def test_zeros_of_a_dense_matrix_are_dropped() -> None:
    """Comments as another release writes them: by prefix, by the other node's port, with _."""
    text = dot(
        "X=ss01,B=dd01",
        """5 fiberlookup index=i tensor=B mode=0 format=dense root=true
        4 fiberlookup index=j tensor=B mode=1 format=dense root=false
        3 arrayvals tensor=B
        6 crddrop outer=j inner=val mode=0
        7 crddrop outer=i inner=j
        1 fiberwrite index=j tensor=X mode=1
        2 fiberwrite index=i tensor=X mode=0
        0 fiberwrite tensor=X mode=vals""",
        """5>4 ref
        4>3 ref
        3>6 val inner-val
        4>6 crd outer-j
        6>7 crd outer-j
        5>7 crd outer_i
        6>0 val inner-val
        7>1 crd inner-j
        7>2 crd outer-i""",
    )
    b = sparse(np.random.default_rng(SEED), (4, 5), 0.3)
    b[2] = 0
    imported, run = run_text(text, {"B": b})
    assert run.check(b).ok
    assert run.outputs["X"].nnz == np.count_nonzero(b)
    assert imported.repairs == ()


def test_operands_of_one_tensor_are_told_apart_by_id() -> None:
    text = dot(
        "x=s0,b=s0",
        """6 fiberlookup index=i tensor=b mode=0 format=compressed root=true
        1 fiberwrite index=i tensor=x mode=0
        5 arrayvals tensor=b
        4 mul
        3 arrayvals tensor=b
        2 add sub=1
        0 fiberwrite tensor=x mode=vals""",
        """6>1 crd
        6>5 ref
        6>3 ref
        5>4 val
        5>4 val
        4>2 val
        3>2 val
        2>0 val""",
    )
    b = vector(5)
    imported, run = run_text(text, {"b": b})  # fan-out without broadcasts is made explicit
    assert run.check(b - b * b).ok
    assert "broadcast" in str(imported.graph)


def test_three_operands_in_a_union() -> None:
    names = "BCD"
    nodes = ["20 union index=i", "21 union index=j", "1 fiberwrite index=i tensor=X mode=0",
             "2 fiberwrite index=j tensor=X mode=1", "0 fiberwrite tensor=X mode=vals",
             "3 add sub=0", "4 add sub=0"]  # fmt: skip
    edges = ["20>1 crd", "21>2 crd", "4>3 val", "3>0 val"]
    for k, t in enumerate(names):
        nodes += [f"{10 + k} fiberlookup index=i tensor={t} mode=0 format=compressed root=true",
                  f"{30 + k} fiberlookup index=j tensor={t} mode=1 format=compressed root=false",
                  f"{40 + k} arrayvals tensor={t}"]  # fmt: skip
        edges += [f"{10 + k}>20 ref in-{t}", f"{10 + k}>20 crd in-{t}", f"20>{30 + k} ref out-{t}",
                  f"{30 + k}>21 crd in-{t}", f"{30 + k}>21 ref in-{t}", f"21>{40 + k} ref out-{t}",
                  f"{40 + k}>{3 if t == 'D' else 4} val"]  # fmt: skip
    text = dot("X=ss01,B=ss01,C=ss01,D=ss01", "\n".join(nodes), "\n".join(edges))
    rng = np.random.default_rng(SEED)
    for density in (0.0, 0.2, 0.6):
        arrays = {t: sparse(rng, (4, 5), density) for t in names}
        assert run_text(text, arrays)[1].check(sum(arrays.values())).ok


def test_scalars_and_a_product_inside_a_sum() -> None:
    """x(i) = a*C(j,i)*d(j) + e*f(i), the sum over j dropped from on the way as released."""
    text = dot(
        "x=s0,a=none,C=ss10,d=s0,e=none,f=s0",
        """27 fiberlookup index=i tensor=C mode=1 format=compressed root=true
        28 fiberlookup index=i tensor=f mode=0 format=compressed root=true
        26 union index=i
        25 broadcast
        13 crddrop outer=i inner=j
        1 fiberwrite index=i tensor=x mode=0
        24 repsiggen index=i
        23 broadcast
        20 repeat index=i tensor=a root=true
        21 repeat index=i tensor=d root=true
        22 repeat index=i tensor=e root=true
        18 fiberlookup index=j tensor=C mode=0 format=compressed root=false
        19 fiberlookup index=j tensor=d mode=0 format=compressed root=false
        17 intersect index=j
        16 broadcast
        15 repsiggen index=j
        14 repeat index=j tensor=a root=false
        7 arrayvals tensor=a
        8 arrayvals tensor=C
        9 arrayvals tensor=d
        6 mul
        5 mul
        4 reduce
        11 arrayvals tensor=e
        12 arrayvals tensor=f
        10 mul
        3 add sub=0
        0 fiberwrite tensor=x mode=vals""",
        """27>26 crd in-C
        27>26 ref in-C
        28>26 crd in-f
        28>26 ref in-f
        26>25 crd i
        25>13 crd i
        13>1 crd outer-i
        25>24 crd
        24>23 repsig
        23>20 repsig
        23>21 repsig
        23>22 repsig
        20>14 ref
        14>7 ref
        21>19 ref
        22>11 ref
        26>18 ref out-C
        18>17 crd in-C
        18>17 ref in-C
        19>17 crd in-d
        19>17 ref in-d
        17>16 crd j
        16>13 crd j
        16>15 crd
        15>14 repsig
        17>8 ref out-C
        17>9 ref out-d
        26>12 ref out-f
        7>6 val
        8>6 val
        6>5 val
        9>5 val
        5>4 val
        4>3 val
        11>10 val
        12>10 val
        10>3 val
        3>0 val""",
    )
    rng = np.random.default_rng(SEED)
    for density in (0.1, 0.4, 0.7):
        arrays = {"a": np.array(2.0), "C": sparse(rng, (5, 6), density),
                  "d": sparse(rng, (5,), density), "e": np.array(3.0),
                  "f": sparse(rng, (6,), density)}  # fmt: skip
        imported, run = run_text(text, arrays)
        expected = 2 * arrays["C"].T @ arrays["d"] + 3 * arrays["f"]
        assert run.check(expected).ok
        assert [r.rule.name for r in imported.repairs] == ["R3"]


GOOD = (
    """3 fiberlookup index=i tensor=b mode=0 format=compressed root=true
    1 fiberwrite index=i tensor=x mode=0
    2 arrayvals tensor=b
    0 fiberwrite tensor=x mode=vals""",
    "3>1 crd\n3>2 ref\n2>0 val",
)


@pytest.mark.parametrize(
    ("comment", "nodes", "edges", "message"),
    [
        ("x=s0,b=u0", *GOOD, "level of format 'u' (compressed with repeated coordinates)"),
        ("x=s0,b=q0", *GOOD, "store it dense (d) or compressed (s)"),
        ("x=s0,b=ss0", *GOOD, "tensor b has format 'ss0'"),
        ("", *GOOD, "does not name a result and its operands"),
        ("x=s0,c=s0", GOOD[0].replace(" format=compressed", ""), GOOD[1],
         "fiberlookup 3 reads 'b', which the graph's comment does not list"),
        ("x=s0,b=s0", GOOD[0] + "\n7 parallelize", GOOD[1], "node 7 has type 'parallelize'"),
        ("x=s0,b=s0", GOOD[0], GOOD[1] + "\n3>2 bv", "edge 3 -> 2 has type 'bv'"),
        ("x=s0,b=s0", GOOD[0], "3>1 crd\n3>2 crd\n2>0 val", "arrayvals 2 takes ref, got crd"),
        ("x=s0,b=s0", GOOD[0], "3>2 ref\n2>0 val", "fiberwrite 1 takes one crd stream, it has 0"),
        ("x=ss01,b=s0", *GOOD, "no node writes level 1 of the result x"),
        ("x=s0,b=s0", GOOD[0], GOOD[1] + "\n2>3 ref", "the graph has a cycle through node"),
        ("x=s0,b=s0", GOOD[0].replace("mode=0 format", "mode=4 format"), GOOD[1],
         "reads dimension 4 of b"),
        ("x=s0,b=s0", GOOD[0].replace("compressed", "bitvector"), GOOD[1],
         "reads a level of format 'bitvector'"),
    ],
)  # fmt: skip
def test_refusals(comment: str, nodes: str, edges: str, message: str) -> None:
    with pytest.raises(FuseloomError) as caught:
        run_text(dot(comment, nodes, edges), {"b": vector(1), "c": vector(2)})
    assert message in str(caught.value)


def test_an_edge_whose_type_is_misspelt_is_what_its_label_says() -> None:
    text = dot("x=s0,b=s0", *GOOD).replace('type="val"', 'type="va"', 1)
    imported, run = run_text(text, {"b": vector(1)})
    assert run.check(vector(1)).ok
    (read,) = map(str, imported.repairs)
    assert read.startswith("R14 edge 2 -> 0, 'va': val (node 0: ")
    assert imported.repairs[0].heading == "read"


def test_shapes_that_do_not_fit() -> None:
    result, operands = PRODUCTS["matmul"]
    text = product_graph(result, operands, "ikj", {"B": "ss01", "C": "ss01"})
    with pytest.raises(FuseloomError, match="index k is 3 long, but C has 4 in dimension 0"):
        run_text(text, {"B": np.ones((2, 3)), "C": np.ones((4, 2))})
    with pytest.raises(FuseloomError, match="operand C has 2 dimensions in the graph"):
        run_text(text, {"B": np.ones((2, 3)), "C": np.ones(4)})
    with pytest.raises(FuseloomError, match="the data of operand C are missing"):
        run_text(text, {"B": np.ones((2, 3))})


@pytest.mark.deep  # takes seconds
def test_damaged_files_give_errors_and_nothing_else() -> None:
    """Cut off, bytes changed, lines left out: a FuseloomError, or a graph that runs or fails so."""
    result, operands = PRODUCTS["matmul"]
    text = product_graph(result, operands, "ikj", {"B": "ss01", "C": "ss01"}, flawed=True)
    arrays = {"B": np.eye(3), "C": np.eye(3)}
    print(f"seed {SEED}")
    rng = random.Random(SEED)
    refused = 0
    for trial in range(400):
        damaged = text
        if trial % 3 == 0:
            damaged = text[: rng.randrange(len(text))]
        elif trial % 3 == 1:
            at = rng.randrange(len(text))
            damaged = text[:at] + chr(rng.randrange(1, 256)) + text[at + 1 :]
        else:
            lines = text.split("\n")
            del lines[rng.randrange(len(lines))]
            damaged = "\n".join(lines)
        refused += is_refused(damaged, arrays)
    assert 200 < refused < 400


@pytest.mark.parametrize("kind", ["pass", "passthrough", "pass_through", "broadcast"])
def test_nodes_that_pass_a_stream_on(kind: str) -> None:
    agrees(on_vector(f"4 {kind}", "2>4 val", "4"), {"b": (9,)}, lambda a: a["b"])


@pytest.mark.parametrize(
    ("node", "hint"),
    [
        ("locator lvl=0 dim_size=6", "a fiberlookup of the dense level and an intersect"),
        ("intersectlocate", "a fiberlookup of the dense level and an intersect"),
        ("parallelize", "a graph without lanes computes the same"),
        ("serialise", "a graph without lanes computes the same"),
        ("shl", "nodes that can be read: fiberlookup"),
    ],
)
def test_nodes_the_machine_lacks(node: str, hint: str) -> None:
    """The ways out are in :func:`test_the_way_out_of_a_locator` and ``..._of_lanes``."""
    with pytest.raises(FuseloomError) as caught:
        run_text(on_vector(f"4 {node}", "2>4 val", "4"), {"b": np.ones(9)})
    assert f"node 4 has type {node.split()[0]!r}" in caught.value.message
    assert hint in str(caught.value.hint)


PRODUCT = """17 fiberlookup index=i tensor=B mode=0 format=compressed root=true
16 broadcast
2 fiberwrite index=i tensor=X mode=0
15 repsiggen index=i
14 repeat index=i tensor=C root=true
13 fiberlookup index=j tensor=C mode=1 format=dense
12 broadcast
1 fiberwrite index=j tensor=X mode=1
11 repsiggen index=j
10 repeat index=j tensor=B
8 fiberlookup index=k tensor=B mode=1 format=compressed
5 arrayvals tensor=B
6 arrayvals tensor=C
4 mul
3 reduce
0 fiberwrite tensor=X mode=vals"""
PRODUCT_EDGES = """17>16 crd
16>2 crd
16>15 crd
15>14 repsig
14>13 ref
13>12 crd
12>1 crd
12>11 crd
11>10 repsig
17>10 ref
10>8 ref
5>4 val
6>4 val
4>3 val
3>0 val"""


def test_the_way_out_of_a_locator() -> None:
    """Dense C by columns: its elements at the coordinates that a row of B has."""
    located = dot(
        "X=ss01,B=ss01,C=dd10",
        f"{PRODUCT}\n9 locator lvl=1 dim_size=5",
        f"{PRODUCT_EDGES}\n8>9 crd\n8>5 ref\n9>6 ref",
    )
    data = {"B": np.ones((4, 5)), "C": np.ones((5, 3))}
    with pytest.raises(FuseloomError, match="node 9 has type 'locator'"):
        run_text(located, data)
    instead = dot(
        "X=ss01,B=ss01,C=dd10",
        f"{PRODUCT}\n9 fiberlookup index=k tensor=C mode=0 format=dense\n7 intersect index=k",
        f"{PRODUCT_EDGES}\n13>9 ref\n8>7 crd in-B\n8>7 ref in-B\n9>7 crd in-C\n9>7 ref in-C\n"
        "7>5 ref out-B\n7>6 ref out-C",
    )
    agrees(instead, {"B": (4, 5), "C": (5, 3)}, lambda a: a["B"] @ a["C"])


def test_the_way_out_of_lanes() -> None:
    """The part before the lanes goes to one lane, and that lane to the part behind them."""
    lanes = on_vector(
        "4 parallelize\n5 mul\n6 mul\n7 serialize",
        "2>4 val\n4>5 val\n4>5 val\n4>6 val\n4>6 val\n5>7 val\n6>7 val",
        "7",
    )
    with pytest.raises(FuseloomError, match="node 4 has type 'parallelize'"):
        run_text(lanes, {"b": np.ones(9)})
    one = on_vector("5 mul", "2>5 val\n2>5 val", "5")
    agrees(one, {"b": (9,)}, lambda a: a["b"] ** 2)
