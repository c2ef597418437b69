"""Program texts for tests."""

from __future__ import annotations

from fuseloom.program import (
    Program,
    parse,
)

HEAD = "A: 4x4 csr\nB: 4x4 csr\nb: 4 dense\ns: scalar\n"


def program() -> Program:
    return parse(HEAD + "T[i,l] = A[i,j] * B[j,l]\nU[i,l] = relu(T[i,l])")
