"""Views that rename indices, and reshapes that need an order."""

from __future__ import annotations

from tests.frontends.torch.support import agrees, imported, normal


def test_a_transposed_weight_is_read_under_other_indices() -> None:
    result = imported(lambda x, w: x @ w.t().contiguous(), normal(2, 3), normal(4, 3))
    assert [str(s.operands[1]) for s in result.program.statements] == ["x_1[j,k]"]


def test_merging_heads_writes_the_order_that_the_reshape_needs() -> None:
    result = agrees(
        lambda a, b: (a @ b).transpose(0, 1).reshape(3, 8), (normal(2, 3, 5), normal(2, 5, 4))
    )
    assert [s.op.name for s in result.program.statements] == ["MUL", "RESHAPE"]
