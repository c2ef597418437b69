"""Dense products of programs as terms: mapped, and equal to einsum."""

from __future__ import annotations

import numpy as np
import pytest

import fuseloom as fl
from fuseloom.access.hardware import SystolicArray
from fuseloom.access.mapped_layers import map_layers
from fuseloom.access.meaning import evaluate
from fuseloom.access.program_layers import layers_of_program

EXTENTS = {"b": 3, "c": 2, "i": 4, "j": 5, "k": 6, "l": 2, "m": 3}


def _program(left: str, right: str, out: str) -> fl.Program:
    sizes = ("x".join(str(EXTENTS[x]) for x in word) for word in (left, right))
    declared = "\n".join(f"{name}: {size} dense" for name, size in zip("AB", sizes, strict=True))
    indices = (",".join(word) for word in (out, left, right))
    return fl.parse(declared + "\nR[{}] = A[{}] * B[{}]".format(*indices))


@pytest.mark.parametrize(
    ("left", "right", "out"),
    [
        ("ik", "kj", "ij"), ("ki", "kj", "ji"), ("ik", "jk", "ij"), ("ikl", "lkj", "ji"),
        ("bik", "bkj", "bij"), ("ibk", "kjb", "jib"), ("cbik", "bckj", "ibcj"), ("k", "k", ""),
        ("ik", "k", "i"), ("k", "kj", "j"), ("bk", "bk", "b"), ("imk", "kjl", "imjl"),
    ],
)  # fmt: skip
def test_every_product_is_what_einsum_computes(left: str, right: str, out: str) -> None:
    (layer,), others = layers_of_program(_program(left, right, out))
    assert not others
    assert np.allclose(
        layer.result, np.einsum(f"{left},{right}->{out}", layer.data["A"], layer.data["B"])
    )
    assert np.allclose(evaluate(layer.term, layer.data), layer.result)
    made = map_layers([layer], others, SystolicArray(3, 4))
    assert made.max_rel_error < 1e-12
    assert not made.layers[0].mapped.unmapped
    count = int(np.prod([EXTENTS[x] for x in {*left, *right}]))
    assert sum(call.multiplications for call in made.layers[0].mapped.calls) == count


def test_what_is_no_dense_product_says_why() -> None:
    program = fl.parse("""
    A: 4x4 dense
    S: 4x4 csr
    P[i,j] = A[i,k] * A[k,j]
    Q[i,j] = relu(P[i,j])
    R[i,j] = Q[i,k] * S[k,j]
    T[i,j] = R[i,k] * A[k,j]
    U[i,j] = Q[i,j] * A[i,j]
    V[i] = A[i,k] * Q[k,j]
    W[i,j] = 2 * A[i,j]
    """)
    layers, others = layers_of_program(program)
    assert [layer.name for layer in layers] == ["P"]
    reasons = {other.name: other.reason for other in others}
    assert "beside the array" in reasons["Q"]
    assert "S is sparse" in reasons["R"]
    assert "R is sparse" in reasons["T"]
    assert "nothing is summed" in reasons["U"]
    assert reasons.keys() >= {"V", "W"}


def test_linalg_of_mlir() -> None:
    text = """
    func.func @main(%a: tensor<4x6xf32>, %b: tensor<6x5xf32>, %c: tensor<4x5xf32>)
        -> tensor<4x5xf32> {
      %0 = linalg.matmul ins(%a, %b : tensor<4x6xf32>, tensor<6x5xf32>)
                         outs(%c : tensor<4x5xf32>) -> tensor<4x5xf32>
      return %0 : tensor<4x5xf32>
    }
    """
    from fuseloom.frontends.mlir import from_mlir

    layers, _ = layers_of_program(from_mlir(text).program)
    assert len(layers) == 1
    assert map_layers(layers, (), SystolicArray(8, 8)).layers[0].mapped.cycles == 6 + 4 + 6 + 5 - 2


def test_windows_that_something_else_needs_are_listed() -> None:
    shared = "x: 9 dense\nw: 3x2 dense\nz: 7x3 csf\nz[i,k] = x[i+k]\ny[i,f] = z[i,k] * w[k,f]\n"
    layers, others = layers_of_program(fl.parse(shared + "v[i] = max[k] z[i,k]"))
    assert [layer.name for layer in layers] == ["y", "v"]
    assert not others
    layers, others = layers_of_program(fl.parse(shared + "u[i,k] = relu(z[i,k])"))
    assert [layer.name for layer in layers] == ["y"]
    assert [other.name for other in others if "reads elements of x" in other.reason] == ["z"]
    program = fl.parse(shared)
    kept = fl.Program(program.name, program.tensors, program.statements, ("y", "z"))
    assert [other.name for other in layers_of_program(kept)[1]] == ["z"]


def test_results_that_leave_zeros_out_are_not_dense() -> None:
    text = "x: 9 dense\nw: 3 dense\nv: 3 dense\n{}\ny[i] = z[i+j] * v[j]"
    for product, names in {
        "z[i] = x[i+k] * w[k]": ["z", "y"],
        "z[i] = nonzero(x[i+k]) * w[k]": [],
        "z[i] = nonzero(x[i+k] * w[k])": ["z"],
    }.items():
        layers, others = layers_of_program(fl.parse(text.format(product)))
        assert [layer.name for layer in layers] == names
        assert ("y" in names) or "z is sparse" in others[-1].reason
