"""What the importer decides: names, formats, orders, regions, sizes; and the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from engine.cli import main
from engine.errors import ParseError, ProgramError
from engine.frontends.mlir import from_mlir
from engine.program import BroadcastAdd
from engine.program.formats import format_text
from engine.program.limits import MAX_TEXT_CHARS

from .files import CORPUS, imported, text_of


def statements(name: str) -> list[str]:
    from engine.program.printer import statement_text

    return [statement_text(s) for s in imported(name).program.statements]


def formats(name: str) -> dict[str, str]:
    return {t.name: format_text(t.format) for t in imported(name).program.tensors}


def test_names() -> None:
    assert statements("strange_names") == [
        "t0[d0] = arg0_x[d0] * relu_[d0]",
        "output_[d0] = t0[d0] * c_1[d0]",
    ]
    assert imported("strange_names").program.name == "a_function"


def test_formats() -> None:
    assert formats("old_encoding")["B"] == "csc"
    assert formats("older_encoding")["A"] == "coo"
    assert formats("older_encoding")["B"] == "csc"
    assert formats("coo")["A"] == "coo"
    assert formats("dense_encodings")["B"] == "dense order 1,0"
    assert formats("csf3")["B"] == "csf order 2,0,1"
    assert formats("constants")["few"] == "dcsr"
    assert formats("transposed_weights")["wt"] == "dcsr"


def test_what_is_read_again_is_compressed() -> None:
    """Which elements an intermediate has is decided by its statement, not by its type."""
    found = formats("named_ops")
    assert found["t0"] == "dcsr"
    assert found["t3"] == "dense"


def test_headers_are_orders() -> None:
    assert imported("spmm_gustavson").schedule == ""  # i, k, j is how it reads
    assert imported("inner_product").schedule == "order C: i,j,k"
    assert imported("csf3").schedule == "order A: k,i,j"


def test_an_order_that_memory_forbids_is_no_wish() -> None:
    """The result is stored by rows, so k, i, j cannot be asked for."""
    assert imported("outer_product").schedule == "order C: d2,d0,d1"
    text = text_of("outer_product").replace("(d2, d0, d1)", "(d2, d1, d0)")
    assert from_mlir(text).schedule == ""


def test_functions_are_regions() -> None:
    given = imported("two_regions")
    assert given.schedule == "fuse t0..t1\nfuse t0_2..t1_2"
    assert given.program.name == "two_layers"
    assert statements("two_regions")[2] == "t0_2[i,j] = A[i,k] * t1[k,j]"
    apart = imported("apart")
    assert apart.schedule == "fuse t0..t1"
    assert apart.program.outputs == ("t1", "t0_2")
    assert apart.arguments == {"a": ("first", 0), "b": ("first", 1), "a_2": ("second", 0)}


def test_reshapes_cut_regions() -> None:
    assert imported("reshapes").schedule == "fuse t0..t1\nfuse t3..t4"
    assert statements("reshapes")[2] == "h[e0,e1,e2] = reshape(t1[d0,d1])"


def test_keep_dim_maps_leave_the_dimension_out() -> None:
    assert statements("softmax_argmax") == [
        "t4[d0] = max[d1] arg0[d0,d1]",
        "t6[d0,d1] = arg0[d0,d1] - t4[d0]",
        "t7[d0,d1] = exp(t6[d0,d1])",
        "t9[d0] = t7[d0,d1]",
        "t10[d0,d1] = t7[d0,d1] / t9[d0]",
    ]
    assert statements("keep_dim_reshape")[-1] == "t3[d0] = t1[d0] * t1[d0]"
    assert statements("unit_dimension") == [
        "b_flat[d0] = b[d0,d1]",
        "t0[d0,d1] = x[d0,d1] + b_flat[d0]",
    ]


def test_statements_of_regions() -> None:
    assert statements("sddmm") == ["t1[i,j] = product(M[i,j], A[i,k], B[j,k])"]
    assert statements("compound_body") == [
        "t0_1_1_1[i,j] = A[i,j] + B[i,j]",
        "t0_1_1_2[i,j] = A[i,j] - B[i,j]",
        "t0_1_1[i,j] = t0_1_1_1[i,j] * t0_1_1_2[i,j]",
        "t0_1[i,j] = exp(t0_1_1[i,j])",
        "t0[i] = t0_1[i,j]",
    ]
    assert statements("accumulate") == ["t0_sum[i] = A[i,j] * x[j]", "t0[i] = t0_sum[i] + y[i]"]
    assert statements("broadcast_bias") == ["t3[d0,d1] = A[d0,d1] + b[d1]"]
    assert statements("casts") == ["t3[d0] = x[d0,d1]", "y[d0] = exp(t3[d0])"]
    assert statements("relu_select") == ["t1[d0,d1] = relu(A[d0,d1])"]


def test_dead_code() -> None:
    given = imported("dead_code")
    assert given.program.inputs == ("a",)
    assert len(given.program.statements) == 1


def test_broadcast_mode() -> None:
    assert imported("dense_broadcast").program.broadcast_add is BroadcastAdd.DENSE
    assert imported("broadcast_bias").program.broadcast_add is BroadcastAdd.SPARSE


def test_constants() -> None:
    given = imported("constants")
    assert given.wanted == ("x",)
    np.testing.assert_array_equal(given.data["few"].to_dense(), [[0, 2], [-1, 0]])
    np.testing.assert_array_equal(given.data["bytes"].to_dense(), [[1, 2], [3, -1]])
    np.testing.assert_array_equal(given.data["ones"].to_dense(), np.ones((2, 2)))


OPEN = """
func.func @f(%A: tensor<?x?xf32>, %x: tensor<?xf32>) -> tensor<?xf32> {
  %e = tensor.empty() : tensor<?xf32>
  %y = linalg.matvec ins(%A, %x : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>)
  return %y : tensor<?xf32>
}
"""


def test_open_sizes() -> None:
    assert imported("unknown_sizes").program.tensor("A").shape == (5, 6)
    assert from_mlir(OPEN, shapes={"A": (3, 4)}).program.tensor("x").shape == (4,)
    with pytest.raises(ProgramError, match=r"dimension 0 of A is '\?'"):
        from_mlir(OPEN)
    with pytest.raises(ProgramError, match="the shape given for it says 5"):
        from_mlir(OPEN, shapes={"A": (3, 4), "x": (5,)})
    with pytest.raises(ProgramError, match="has 2 dimensions"):
        from_mlir(OPEN, shapes={"A": (3,)})


def test_the_text_has_a_limit() -> None:
    with pytest.raises(ParseError, match="the limit is"):
        from_mlir(" " * (MAX_TEXT_CHARS + 1))


# The command line.


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 0
    return capsys.readouterr().out


def test_compile(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(CORPUS / "two_regions.mlir")
    printed = output(capsys, "compile", path)
    assert [line.partition(":")[0] for line in printed.splitlines()] == ["t0..t1", "t0_2..t1_2"]
    unfused = output(capsys, "compile", path, "--preset", "unfused")
    assert [line.partition(":")[0] for line in unfused.splitlines()] == ["t0", "t1", "t0_2", "t1_2"]


def test_simulate_with_constants_of_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    shown = json.loads(output(capsys, "simulate", str(CORPUS / "constants.mlir"), "--json"))
    assert shown["ok"]
    assert output(capsys, "estimate", str(CORPUS / "constants.mlir"))


def test_tensors_give_open_sizes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, tensors = tmp_path / "open.mlir", tmp_path / "data.npz"
    program.write_text(OPEN, encoding="utf-8")
    np.savez(tensors, A=np.eye(3, 4), x=np.arange(4.0))
    shown = output(capsys, "simulate", str(program), "--tensors", str(tensors), "--json")
    assert json.loads(shown)["ok"]


def test_errors_name_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.mlir"
    path.write_text("func.func @f(%A: memref<4xf32>) { return }", encoding="utf-8")
    assert main(["compile", str(path)]) == 2
    assert "bad.mlir: line 1, column 18: 'memref'" in capsys.readouterr().err


def test_the_page_shows_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    root = Path(__file__).parents[3]
    page = (root / "docs" / "mlir.md").read_text(encoding="utf-8")
    shown = page.partition("$ fuseloom compile docs/examples/gcn.mlir\n")[2].partition("```")[0]
    assert output(capsys, "compile", str(root / "docs" / "examples" / "gcn.mlir")) == shown
