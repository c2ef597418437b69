"""Two layers of GraphSAGE (``docs/spec/accounting.md`` §3.1), for the sizes of design spaces."""

from __future__ import annotations

from fuseloom.program import Program, parse

GRAPHSAGE = parse(
    """
    A: 6x6 dcsr
    X: 6x5 dense
    Ws1: 5x4 dcsr
    bs1: 4 dense
    Wn1: 5x4 dcsr
    bn1: 4 dense
    Ws2: 4x3 dcsr
    bs2: 3 dense
    Wn2: 4x3 dcsr
    bn2: 3 dense
    S1[i,m] = X[i,p] * Ws1[p,m]
    S2[i,m] = S1[i,m] + bs1[m]
    N1[i,q] = A[i,l] * X[l,q]
    N2[i,m] = N1[i,q] * Wn1[q,m]
    N3[i,m] = N2[i,m] + bn1[m]
    C1[i,m] = S2[i,m] + N3[i,m]
    H[i,m] = relu(C1[i,m])
    S3[i,m] = H[i,p] * Ws2[p,m]
    S4[i,m] = S3[i,m] + bs2[m]
    N4[i,q] = A[i,l] * H[l,q]
    N5[i,m] = N4[i,q] * Wn2[q,m]
    N6[i,m] = N5[i,m] + bn2[m]
    C2[i,m] = S4[i,m] + N6[i,m]
    Y[i,m] = relu(C2[i,m])
    output Y
    """
)


def matmul_orders(program: Program) -> dict[str, tuple[str, ...]]:
    """Every product ordered i, k, j, as it reads."""
    products = [s for s in program.statements if len(s.operands) == 2 and s.reduced]
    return {s.out.tensor: s.indices for s in products}
