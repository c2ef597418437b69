"""Graphs in the DOT dialect of the Custard compiler: imported, run and compared with numpy."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from engine.dataflow.samml.exchange.record import Imported
from engine.dataflow.samml.exchange.sam_accumulate import MAX_ORDER
from engine.dataflow.samml.exchange.sam_file import read_sam
from engine.dataflow.samml.exchange.sam_import import import_sam
from engine.dataflow.sim.imported_runs import ImportedRun, run_imported
from engine.errors import FuseloomError
from engine.program.arrays import store_operand
from tests.dataflow.samml.exchange.sam_graphs import dot, product_graph

SEED = 20_251_101


def run_text(
    text: str, arrays: dict[str, np.ndarray], machine=None
) -> tuple[Imported, ImportedRun]:
    file = read_sam(text)
    imported = import_sam(file, {name: np.shape(a) for name, a in arrays.items()})
    data = {n: store_operand(t, arrays) for n, t in imported.tensors.items()}
    return imported, run_imported(imported, data, machine, engine="interpreter")


def sparse(rng: np.random.Generator, shape: tuple[int, ...], density: float) -> np.ndarray:
    values = rng.integers(1, 5, size=shape) * (rng.random(shape) < density)
    return values.astype(np.float64)


PRODUCTS = {
    "matmul": (("X", "ij"), [("B", "ik"), ("C", "kj")]),
    "matvec": (("x", "i"), [("B", "ij"), ("c", "j")]),
    "vecouter": (("X", "ij"), [("b", "i"), ("c", "j")]),
    "elemmul3": (("X", "ij"), [("B", "ij"), ("C", "ij"), ("D", "ij")]),
    "sddmm": (("X", "ij"), [("B", "ij"), ("C", "ik"), ("D", "kj")]),
    "ttv": (("X", "ij"), [("B", "ijk"), ("c", "k")]),
    "ttm": (("X", "ijk"), [("B", "ijl"), ("C", "kl")]),
    "mttkrp": (("X", "ij"), [("B", "ikl"), ("C", "kj"), ("D", "lj")]),
    "innerprod": (("x", ""), [("B", "ijk"), ("C", "ijk")]),
    "scaled": (("x", "i"), [("a", ""), ("c", "i")]),
    "sum": (("X", "jk"), [("B", "ijk")]),
    "columns": (("x", "j"), [("B", "ij")]),
    "elemmul_cube": (("X", "ijk"), [("B", "ijk"), ("C", "ijk")]),
    "two_sums": (("X", "ij"), [("B", "ikl"), ("C", "kj")]),
    "identity": (("X", "ij"), [("B", "ij")]),
}
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


@pytest.mark.parametrize(
    ("kernel", "order", "flawed"),
    [c for c in CASES if accumulator_order(str(c.values[0]), str(c.values[1])) <= MAX_ORDER],
)
def test_products_in_every_loop_order(kernel: str, order: str, flawed: bool) -> None:
    result, operands = PRODUCTS[kernel]
    sizes = dict(zip("ijkl", (4, 3, 5, 4), strict=True))
    for trial in range(4):
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


# Graphs the compiler does not make, or other releases made ----------------------------------------


def vector(seed: int, size: int = 9, density: float = 0.4) -> np.ndarray:
    return sparse(np.random.default_rng(seed), (size,), density)


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


def test_holding_values_passes_them() -> None:
    text = dot(
        "x=d0,b=s0",
        """4 crdhold outer=i inner=vals vals=true
        3 fiberlookup index=i tensor=b mode=0 format=compressed root=true
        1 fiberwrite index=i tensor=x mode=0 format=dense
        2 arrayvals tensor=b
        0 fiberwrite tensor=x mode=vals""",
        """3>4 crd i
        4>1 crd outer-i
        3>2 ref
        2>4 val vals
        4>0 val inner-vals""",
    )
    b = vector(4)
    assert run_text(text, {"b": b})[1].check(b).ok


def residual(minuend: int, subtrahend: int, edges: list[str], drops: bool = True) -> str:
    """x(i) = b(i) - C(i,j) * d(j); ids and order of the operands' edges as given."""
    crd = "15>9 crd i\n9>1 crd outer-i\n10>9 crd in-j" if drops else "15>1 crd"
    drop = "9 crddrop outer=i inner=j" if drops else ""
    return dot(
        "x=s0,b=s0,C=ss01,d=s0",
        f"""17 fiberlookup index=i tensor=b mode=0 format=compressed root=true
        18 fiberlookup index=i tensor=C mode=0 format=compressed root=true
        16 union index=i
        15 broadcast
        {drop}
        1 fiberwrite index=i tensor=x mode=0 format=compressed
        14 repsiggen index=i
        13 repeat index=i tensor=d root=true
        12 fiberlookup index=j tensor=d mode=0 format=compressed root=false
        11 fiberlookup index=j tensor=C mode=1 format=compressed root=false
        10 intersect index=j
        7 arrayvals tensor=C
        8 arrayvals tensor=d
        6 mul
        {subtrahend} reduce
        {minuend} arrayvals tensor=b
        3 add sub=1
        0 fiberwrite tensor=x mode=vals""",
        "\n".join(edges)
        + f"""
        17>16 crd in-b
        17>16 ref in-b
        18>16 crd in-C
        18>16 ref in-C
        16>15 crd i
        {crd}
        15>14 crd
        14>13 repsig
        13>12 ref
        12>10 crd in-d
        12>10 ref in-d
        16>11 ref out-C
        11>10 crd in-C
        11>10 ref in-C
        10>7 ref out-C
        10>8 ref out-d
        7>6 val
        8>6 val
        6>{subtrahend} val
        16>{minuend} ref out-b
        3>0 val""",
    )


@pytest.mark.parametrize("drops", [True, False])
@pytest.mark.parametrize("order", [("4>3 val", "5>3 val"), ("5>3 val", "4>3 val")])
@pytest.mark.parametrize("ids", [(4, 5), (5, 4)])
def test_the_minuend(ids: tuple[int, int], order: tuple[str, str], drops: bool) -> None:
    """By the comment's order of tensors; hand-numbered graphs have the larger id first."""
    rng = np.random.default_rng(SEED)
    arrays = {"b": vector(1, 6), "C": sparse(rng, (6, 5), 0.4), "d": vector(2, 5)}
    imported, run = run_text(residual(*ids, list(order), drops), arrays)
    assert run.check(arrays["b"] - arrays["C"] @ arrays["d"]).ok
    (repair,) = [r for r in imported.repairs if r.rule.name == "R5"]
    assert repair.change.startswith(f"node {ids[0]} is the minuend of subtraction 3")
    assert ("comment" in repair.change) == (ids == (5, 4))


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


def test_a_missing_dropper_is_added_and_reported() -> None:
    """Rows of a level that is dense outside may be empty; the writer would lose them."""
    text = dot(
        "X=ss01,B=ds01",
        """4 fiberlookup index=i tensor=B mode=0 format=dense root=true
        3 fiberlookup index=j tensor=B mode=1 format=compressed root=false
        1 fiberwrite index=i tensor=X mode=0
        2 fiberwrite index=j tensor=X mode=1
        5 arrayvals tensor=B
        0 fiberwrite tensor=X mode=vals""",
        "4>1 crd\n4>3 ref\n3>2 crd\n3>5 ref\n5>0 val",
    )
    b = np.zeros((4, 3))
    b[1, 2] = b[3, 0] = 5
    imported, run = run_text(text, {"B": b})
    assert run.check(b).ok
    assert [str(r) for r in imported.repairs] == [
        "R6 drop coordinates of i whose fiber is empty "
        "(node 1: a level writer loses coordinates whose fiber is empty)"
    ]


def test_repairs_say_what_and_why() -> None:
    result, operands = PRODUCTS["matmul"]
    text = product_graph(result, operands, "ikj", {"B": "ss01", "C": "ss01"}, flawed=True)
    ones = np.ones((2, 2))
    imported, _ = run_text(text, {"B": ones, "C": ones})
    rules = [r.rule.name for r in imported.repairs]
    assert rules == ["R1", "R2"]
    assert "bypass reduce" in str(imported.repairs[0])
    assert "sums away the level" in imported.repairs[0].why
    assert "ignore crd stream k" in str(imported.repairs[1])


# Refusals -----------------------------------------------------------------------------------------

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
        ("x=s0", *GOOD, "does not name a result and its operands"),
        ("x=s0,c=s0", *GOOD, "fiberlookup 3 reads 'b', which the graph's comment does not list"),
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


def test_accumulators_of_higher_order_are_refused_by_name() -> None:
    order = "ijklmnopqr"[: MAX_ORDER + 2]
    form = "s" * len(order) + "0123456789"[: len(order)]
    text = product_graph(("X", order[1:]), [("B", order)], order, {"B": form})
    with pytest.raises(FuseloomError, match=rf"spaccumulator \d+ has order {MAX_ORDER + 1}; the"):
        run_text(text, {"B": np.ones((2,) * len(order))})


def test_shapes_that_do_not_fit() -> None:
    result, operands = PRODUCTS["matmul"]
    text = product_graph(result, operands, "ikj", {"B": "ss01", "C": "ss01"})
    with pytest.raises(FuseloomError, match="index k is 3 long, but C has 4 in dimension 0"):
        run_text(text, {"B": np.ones((2, 3)), "C": np.ones((4, 2))})
    with pytest.raises(FuseloomError, match="operand C has 2 dimensions in the graph"):
        run_text(text, {"B": np.ones((2, 3)), "C": np.ones(4)})
    with pytest.raises(FuseloomError, match="the data of operand C are missing"):
        run_text(text, {"B": np.ones((2, 3))})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected 'digraph', found the end"),
        ("graph G { a -- b }", "expected 'digraph'"),
        ('digraph G {\n a [label="x]\n}', "line 2, column 1: a quoted string never ends"),
        ("digraph G { a -> }", "expected a node, found '}'"),
        ("digraph G { subgraph s { a } }", "subgraphs are not part of the dialect"),
        ("digraph G { a [type=mul }", "expected an attribute or ']', found '}'"),
        ("digraph G { a }", "node a has no type"),
        ("digraph G { a; b } x", "the end of the file after '}'"),
        ("digraph G { \x01 }", "not DOT text"),
    ],
)
def test_text_that_is_no_graph(text: str, message: str) -> None:
    with pytest.raises(FuseloomError) as caught:
        read_sam(text)
    assert message in str(caught.value)


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


def is_refused(text: str, arrays: dict[str, np.ndarray]) -> bool:
    try:
        run_text(text, arrays)
    except FuseloomError as problem:
        return "\n" not in problem.message
    return False
