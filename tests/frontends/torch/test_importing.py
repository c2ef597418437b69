"""Storage, annotations, refusals, and what comes with an imported program."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

import fuseloom as fl
from engine.errors import DataError, ProgramError
from engine.program import Format
from tests.frontends.torch.support import Module, agrees, normal, sparse


def imported(function: Callable[..., Any], *inputs: Any, **options: Any) -> Any:
    return fl.from_torch(Module(function), inputs, **options)


# Storage ------------------------------------------------------------------------------------------

LAYOUTS = {
    "csr": (lambda a: a.to_sparse_csr(), "8x8 csr\n"),
    "csc": (lambda a: a.to_sparse_csc(), "8x8 csc\n"),
    "coo": (lambda a: a.to_sparse_coo(), "8x8 coo\n"),
    "bsr": (lambda a: a.to_sparse_bsr((2, 2)), "8x8 csr block 2\n"),
    "unequal blocks": (lambda a: a.to_sparse_bsr((2, 4)), "8x8 csr\n"),
    "hybrid": (lambda a: a.to_sparse(1), "8x8 compressed\n"),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts_of_sparse_inputs(name: str) -> None:
    made, words = LAYOUTS[name]
    module = Module(
        lambda a, x: a.to_dense() @ x if name in ("hybrid", "unequal blocks") else a @ x
    )
    result = agrees(module, (made(sparse(8, 8)), normal(8, 4)))
    assert words in str(result.program).replace("dcsr", "compressed")


def test_a_sparse_buffer() -> None:
    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("adj", sparse(6, 6).to_sparse_csr())

        def forward(self, x: Any) -> Any:
            return torch.sparse.mm(self.adj, x)

    result = agrees(Layer(), (normal(6, 3),))
    assert "adj: 6x6 csr\n" in str(result.program)
    assert result.data["adj"].nnz == int((sparse(6, 6) != 0).sum())


def test_explicit_zeros_of_a_sparse_tensor_stay() -> None:
    adj = torch.sparse_csr_tensor([0, 2, 3], [0, 1, 1], [0.0, 2.0, 3.0], (2, 2))
    result = imported(lambda a, x: a @ x, adj, normal(2, 2))
    assert result.data["x_0"].nnz == 3


def test_annotations_and_inferred_density() -> None:
    layer = nn.Linear(8, 6)
    with torch.no_grad():
        layer.weight.mul_(sparse(6, 8) != 0)
    program = fl.from_torch(
        layer, normal(5, 8), {"weight": "csc", "input": Format.dense(2)}
    ).program
    assert "weight: 6x8 csc" in str(program)
    program = fl.from_torch(layer, normal(5, 8), infer_density=0.5).program
    assert "weight: 6x8 dcsr" in str(program) or "weight: 6x8 compressed" in str(program)
    assert "input: 5x8 dense" in str(program)
    assert "bias: 6 dense" in str(program)


def test_an_annotated_result_and_an_inner_activation() -> None:
    module = nn.Sequential(nn.Linear(4, 3), nn.ReLU())
    result = agrees(module, (normal(5, 4),), {"relu": "dense", "linear": "dcsc"})
    assert result.program.tensor(result.outputs[0].tensor).format.all_dense
    assert "linear: 5x3 dcsc" in str(result.program)
    with pytest.raises(ProgramError, match=r"intermediate linear is declared with a dense level"):
        fl.from_torch(module, normal(5, 4), {"linear": "dense"})


def test_blocks_spread_along_the_indices() -> None:
    result = agrees(nn.Linear(8, 6, bias=False), (normal(4, 8),), {"weight": "bsr2"})
    text = str(result.program)
    assert "weight: 6x8 csr block 2" in text
    assert "input: 4x8 dense block 2 over 1" in text
    with pytest.raises(ProgramError, match=r"edge|divide"):
        fl.from_torch(nn.Linear(8, 6), normal(4, 8), {"weight": "bsr3"})


def test_wrong_annotations() -> None:
    for formats, message in [
        ({"wieght": "csr"}, "formats names 'wieght'.*did you mean 'weight'"),
        ({"weight": "crs"}, "format 'crs' of weight.*did you mean"),
        ({"bias": "csr"}, "format 'csr' of bias"),
    ]:
        with pytest.raises(ProgramError, match=message):
            fl.from_torch(nn.Linear(4, 3), normal(2, 4), formats)


# Refusals -----------------------------------------------------------------------------------------


class Sine(nn.Module):
    def forward(self, x: Any) -> Any:
        return torch.relu(torch.sin(x))  # two lines, so that the place is not that of the function


PAIR = torch.tensor([0, 1])
REFUSED: dict[str, tuple[Callable[..., Any], str]] = {
    "conv": (lambda x: F.conv1d(x[None], x[None, :, :3]), r"aten\.conv1d.*nn\.Linear"),
    "sort": (lambda x: x.sort().values, r"aten\.sort.*mask"),
    "topk": (lambda x: x.topk(2).values, r"aten\.topk.*mask given as input"),
    "cumsum": (lambda x: x.cumsum(1), r"aten\.cumsum.*triangular"),
    "prod": (lambda x: x.prod(1), r"aten\.prod.*logarithms"),
    "cos": (lambda x: torch.cos(x), r"aten\.cos.*outside"),
    "sinh": (lambda x: torch.sinh(x), r"aten\.sinh.*"),
    "log1p": (lambda x: torch.log1p(x), r"aten\.log1p.*nearest supported: log"),
    "computed mask": (lambda x: x.masked_fill(x.relu() > 1, 0.0), "from computed values.*inputs"),
    "argmax": (lambda x: x.relu().argmax(1), "aten.argmax.*from computed values|argmax outside"),
    "odd power": (lambda x: x.abs() ** 1.5, r"exponent 1\.5.*exp\(p \* log\(x\)\)"),
    "diagonal": (lambda x: torch.einsum("ii->i", x[:, :4]), "index twice.*identity matrix"),
    "two indices": (lambda x: x.relu()[PAIR, PAIR], "several tensors.*one vector"),
    "rounding": (lambda x: torch.div(x, 2, rounding_mode="floor"), "rounds.*without rounding"),
    "norm of order 1": (lambda x: x.norm(p=1, dim=1), "order 1.*order 2"),
    "indices of a maximum": (lambda x: x.relu().max(1).indices.float(), "max|argmax"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_name_the_operation_and_a_way_out(name: str) -> None:
    function, message = REFUSED[name]
    with pytest.raises(ProgramError, match=message) as caught:
        imported(function, normal(4, 5))
    assert "support.py:" in str(caught.value)
    assert caught.value.hint


def test_a_refusal_names_the_line_of_the_users_module() -> None:
    module = nn.Sequential(nn.Linear(3, 3), Sine())
    lines, first = inspect.getsourcelines(Sine)
    line = first + next(n for n, text in enumerate(lines) if "torch.sin" in text)
    with pytest.raises(ProgramError) as caught:
        fl.from_torch(module, normal(2, 3))
    text = str(caught.value)
    assert "aten.sin.default is not supported" in text
    assert f"test_importing.py:{line}" in text or f"test_importing.py:{line - 1}" in text
    assert "(hint: compute it outside" in text


def test_a_module_that_cannot_be_traced() -> None:
    def branching(x: Any) -> Any:
        return x if x.sum() > 0 else -x

    with pytest.raises(ProgramError, match=r"cannot trace Module.*not branch on their values"):
        imported(branching, normal(3))


def test_values_that_are_not_finite() -> None:
    with pytest.raises(DataError, match=r"finite"):
        imported(torch.relu, torch.tensor([1.0, float("nan")]))


def test_without_pytorch(tmp_path: Any) -> None:
    """The engine imports, and from_torch says how to install what it lacks."""
    (tmp_path / "torch.py").write_text("raise ImportError('no such thing')\n")
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import fuseloom as fl\n"
        "try:\n    fl.from_torch(None, ())\n"
        "except fl.FuseloomError as problem:\n    print(problem)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert "not installed" in run.stdout
    assert "pip install 'fuseloom[torch]'" in run.stdout


# What comes with it -------------------------------------------------------------------------------


def test_the_modules_mode_is_restored() -> None:
    module = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.9)).train()
    module[0].eval()
    result = fl.from_torch(module, normal(2, 3))
    assert [part.training for part in module.modules()] == [True, False, True]
    assert result.check().ok
    assert len(result.program.statements) == 2


def test_several_outputs_in_the_modules_shapes() -> None:
    result = agrees(lambda x: (x.t(), [x.sum(0, keepdim=True)], x.unsqueeze(1)), (normal(3, 4),))
    assert [o.shape for o in result.outputs] == [(4, 3), (1, 4), (3, 1, 4)]
    arrays = result.results(fl.evaluate(result.program, result.data))
    for got, want in zip(arrays, result.expected, strict=True):
        np.testing.assert_allclose(got, want, atol=1e-6)


def test_a_wrong_result_is_noticed() -> None:
    result = imported(torch.relu, normal(3, 4))
    tensors = fl.evaluate(result.program, result.data)
    name = result.outputs[0].tensor
    tensors[name].values[tensors[name].values > 0] += 0.1
    assert not result.check(tensors).ok
    assert "DIFFERS" in str(result.check(tensors))
    with pytest.raises(DataError, match=r"output .* is missing"):
        result.check({})


def test_kernels_cover_the_program_and_name_their_lines() -> None:
    module = nn.Sequential(nn.Linear(4, 3), nn.Softmax(-1))
    result = fl.from_torch(module, normal(2, 4))
    covered = [name for kernel in result.kernels for name in kernel.statements]
    assert covered == [s.out.tensor for s in result.program.statements]
    assert [k.name for k in result.kernels] == ["aten.linear.default", "aten.softmax.int"]


def test_unused_parameters_and_dead_code_are_left_out() -> None:
    class Wasteful(nn.Linear):
        def forward(self, x: Any) -> Any:
            torch.exp(x @ self.weight.t())
            return torch.relu(x)

    result = fl.from_torch(Wasteful(3, 3), normal(2, 3))
    assert result.program.inputs == ("x",)
    assert len(result.program.statements) == 1


def test_a_transposed_weight_is_read_under_other_indices() -> None:
    result = imported(lambda x, w: x @ w.t().contiguous(), normal(2, 3), normal(4, 3))
    assert [str(s.operands[1]) for s in result.program.statements] == ["x_1[j,k]"]


def test_merging_heads_writes_the_order_that_the_reshape_needs() -> None:
    result = agrees(
        lambda a, b: (a @ b).transpose(0, 1).reshape(3, 8), (normal(2, 3, 5), normal(2, 5, 4))
    )
    assert [s.op.name for s in result.program.statements] == ["MUL", "RESHAPE"]
