"""The worked tables of ``docs/spec/fusion.md`` §3.5, cell by cell.

The row of a reduced index says ``reduced``; each statement has a column of its own; a joined leaf's
values are read at its own cell; and the one root is shared, so that (b) has one, not two.
"""

from collections import Counter
from textwrap import dedent

from tests.dataflow.table.tables import compiled, table


def drawn(text: str) -> str:
    return dedent(text).strip("\n")


def test_spmv_by_columns() -> None:
    """(a) SpMV, order j, i, B stored (j, i): the columns of B are added up."""
    program = """
        B: 4x5 [compressed, compressed] order 1,0
        C: 5 [compressed]
        T[i] = B[i,j] * C[j]
    """
    assert table(program, order="j,i") == drawn(
        """
            | B[i,j]          | C[j]                   | T[i]
        ----+-----------------+------------------------+-----------
        j   | LS(root) -> I_j | LS(root) -> I_j        | reduced
        i   | LS(<B.j>)       | (RepV)                 | Acc1_j.crd
        val | Val(<B.i>)      | RepV(Val(<C.j>),<B.i>) | Acc1_j.val
        Acc1_j = Spacc1(inner=<B.i>.crd, outer=I_j.crd, MUL(<B.val>,<C.val>))
        """
    )


def test_spmv_by_rows() -> None:
    """(a) SpMV, order i, j: each row of B is a dot product."""
    program = """
        B: 4x5 dcsr
        C: 5 [compressed]
        T[i] = B[i,j] * C[j]
    """
    assert table(program, order="i,j") == drawn(
        """
            | B[i,j]           | C[j]             | T[i]
        ----+------------------+------------------+-------------------------------
        i   | LS(root)         | Rep(root,<B.i>)  | <B.i>
        j   | LS(<B.i>) -> I_j | LS(<C.i>) -> I_j | reduced
        val | Val(<B.j>)       | Val(<C.j>)       | Reduce_j(MUL(<B.val>,<C.val>))
        """
    )


def test_spmm() -> None:
    """(b) SpMM in Gustavson's order i, k, j (figure 9 of the paper)."""
    program = """
        A: 4x5 dcsr
        X: 5x3 dcsr
        T0[i,j] = A[i,k] * X[k,j]
    """
    assert table(program, order="i,k,j") == drawn(
        """
            | A[i,k]                 | X[k,j]           | T0[i,j]
        ----+------------------------+------------------+-----------
        i   | LS(root)               | Rep(root,<A.i>)  | <A.i>
        k   | LS(<A.i>) -> I_k       | LS(<X.i>) -> I_k | reduced
        j   | (RepV)                 | LS(<X.k>)        | Acc1_k.crd
        val | RepV(Val(<A.k>),<X.j>) | Val(<X.j>)       | Acc1_k.val
        Acc1_k = Spacc1(inner=<X.j>.crd, outer=I_k.crd, MUL(<A.val>,<X.val>))
        """
    )


def test_two_products() -> None:
    """(c) GraphSAGE's aggregation and product, order i, l, m, j (figure 20 of the paper).

    Iteration and computation interleave: what ``Acc1_l`` emits takes part in the join ``I_m``.
    """
    program = """
        A: 4x5 dcsr
        X: 5x3 dcsr
        W: 3x2 dcsr
        T0[i,m] = A[i,l] * X[l,m]
        T[i,j] = T0[i,m] * W[m,j]
    """
    assert table(program, "fuse T0..T", "i,l,m,j") == drawn(
        """
            | A[i,l]                 | X[l,m]           | T0[i,m]                 | W[m,j]           | T[i,j]
        ----+------------------------+------------------+-------------------------+------------------+-----------
        i   | LS(root)               | Rep(root,<A.i>)  | <A.i>                   | Rep(root,<A.i>)  | <A.i>
        l   | LS(<A.i>) -> I_l       | LS(<X.i>) -> I_l | reduced                 | pass             | pass
        m   | (RepV)                 | LS(<X.l>)        | Acc1_l.crd -> I_m (val) | LS(<W.i>) -> I_m | reduced
        j   | pass                   | pass             | (RepV)                  | LS(<W.m>)        | Acc1_m.crd
        val | RepV(Val(<A.l>),<X.m>) | Val(<X.m>)       | RepV(I_m.val,<W.j>)     | Val(<W.j>)       | Acc1_m.val
        Acc1_l = Spacc1(inner=<X.m>.crd, outer=I_l.crd, MUL(<A.val>,<X.val>))
        Acc1_m = Spacc1(inner=<W.j>.crd, outer=I_m.crd, MUL(<T0.val>,<W.val>))
        """  # noqa: E501
    )


def test_a_layer_of_a_gcn() -> None:
    """(d) A GCN layer read by the next one, order i, l, k, p, n.

    i is foreign to everything below V, so row l is recomputed for every (i, l); the dense X is
    looked up, not scanned, at the coordinates of A'.
    """
    program = """
        A: 4x4 dcsr
        X: 4x5 dense
        W: 5x3 dcsr
        b: 3 [compressed]
        Y[l,p] = A[l,k] * X[k,p]
        Z[l,n] = Y[l,p] * W[p,n]
        Bz[l,n] = Z[l,n] + b[n]
        H[l,n] = relu(Bz[l,n])
        V[i,n] = A[i,l] * H[l,n]
    """
    assert table(program, "fuse Y..V", "i,l,k,p,n") == drawn(
        """
            | A[i,l]               | A'[l,k]                 | X[k,p]                   | Y[l,p]                  | W[p,n]           | Z[l,n]                  | b[n]             | Bz[l,n]              | H[l,n]         | V[i,n]
        ----+----------------------+-------------------------+--------------------------+-------------------------+------------------+-------------------------+------------------+----------------------+----------------+-----------
        i   | LS(root)             | Rep(root,<A.i>)         | Rep(root,<A.i>)          | <A.i>                   | Rep(root,<A.i>)  | <A.i>                   | Rep(root,<A.i>)  | <A.i>                | <A.i>          | <A.i>
        l   | LS(<A.i>) -> I_l     | LS(<A'.i>) -> I_l       | Rep(<X.i>,I_l)           | I_l                     | Rep(<W.i>,I_l)   | I_l                     | Rep(<b.i>,I_l)   | I_l                  | I_l            | reduced
        k   | pass                 | LS(<A'.l>)              | Locate(<X.l>,<A'.k>.crd) | reduced                 | pass             | pass                    | pass             | pass                 | pass           | pass
        p   | pass                 | (RepV)                  | LS(<X.k>)                | Acc1_k.crd -> I_p (val) | LS(<W.l>) -> I_p | reduced                 | pass             | pass                 | pass           | pass
        n   | (RepV)               | pass                    | pass                     | (RepV)                  | LS(<W.p>)        | Acc1_p.crd -> U_n (val) | LS(<b.l>) -> U_n | U_n                  | U_n            | Acc1_l.crd
        val | RepV(Val(<A.l>),U_n) | RepV(Val(<A'.k>),<X.p>) | Val(<X.p>)               | RepV(I_p.val,<W.n>)     | Val(<W.n>)       | U_n.val                 | Val(<b.n>)       | ADD(<Z.val>,<b.val>) | RELU(<Bz.val>) | Acc1_l.val
        Acc1_k = Spacc1(inner=<X.p>.crd, outer=<A'.k>.crd, MUL(<A'.val>,<X.val>))
        Acc1_p = Spacc1(inner=<W.n>.crd, outer=I_p.crd, MUL(<Y.val>,<W.val>))
        Acc1_l = Spacc1(inner=U_n.crd, outer=I_l.crd, MUL(<A.val>,<H.val>))
        """  # noqa: E501
    )


def test_the_nodes_of_a_product() -> None:
    """(b) takes 12 compute nodes and 3 writers: the root is shared.

    Beside them stand what the machine needs to run them: a repeat signal per repeater, a
    broadcast per fan-out, and a dropper for rows of T0 that come out empty.
    """
    program = """
        A: 4x5 dcsr
        X: 5x3 dcsr
        T0[i,j] = A[i,k] * X[k,j]
    """
    graph = compiled(program, order="i,k,j").graph
    count = Counter(node.op for node in graph.nodes)
    helpers = {op: count.pop(op) for op in ("repsig", "broadcast", "crddrop")}
    writers = {op: count.pop(op) for op in ("crdwrite", "valwrite")}
    assert writers == {"crdwrite": 2, "valwrite": 1}
    assert count == {
        "root": 1, "scan": 4, "repeat": 2, "intersect": 1, "array": 2, "binary": 1, "spacc1": 1,
    }  # fmt: skip
    assert count.total() == 12
    assert helpers == {"repsig": 2, "broadcast": 3, "crddrop": 1}
