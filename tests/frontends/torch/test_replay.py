"""Traces that leave something out, or hold what an input says: never silently."""

from __future__ import annotations

import pytest
import torch
import torch_geometric.nn as geometric

import fuseloom as fl
from fuseloom.errors import DataError, ProgramError
from fuseloom.frontends.torch.recording import RecordingError
from fuseloom.frontends.torch.replay import check_faithful, drawn_again, replay
from fuseloom.frontends.torch.tracing import trace


class OnlyWhenCalled(torch.nn.Module):
    """Does more when nobody traces it, as libraries that save hooks from compilers do."""

    def forward(self, x):
        doubled = x * 2
        return doubled if torch.compiler.is_compiling() else doubled + 1


def test_what_a_trace_leaves_out_is_recorded():
    imported = fl.from_torch(OnlyWhenCalled(), torch.ones(2, 3))
    assert (imported.expected[0] == 3).all()
    assert imported.check().ok


HOOKS = {
    "message": lambda c: c.register_message_forward_hook(lambda m, i, o: o * 2),
    "aggregate": lambda c: c.register_aggregate_forward_hook(lambda m, i, o: o * 3),
    "propagate": lambda c: c.register_propagate_forward_hook(lambda m, i, o: o * 4),
}


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize("layer", ["SAGEConv", "GraphConv", "GCNConv"])
def test_hooks_of_messages_are_kept(layer, hook):
    module = getattr(geometric, layer)(5, 3)
    HOOKS[hook](module)
    edges = torch.tensor([[0, 1, 2, 3, 3], [1, 2, 0, 0, 1]])
    assert fl.from_torch(module.eval(), (torch.randn(4, 5), edges)).check().ok


class Branching(torch.nn.Module):
    """Multiplies by what it saw when it was traced."""

    def __init__(self):
        super().__init__()
        self.held = None

    def forward(self, x):
        if torch.compiler.is_compiling():
            return x * 5
        return x * x.detach().numpy().sum().item()


def test_a_trace_that_holds_what_an_input_says_is_refused():
    with pytest.raises(ProgramError, match="does not compute what the module does"):
        fl.from_torch(Branching(), torch.ones(5))


@pytest.mark.parametrize("wrong", [0, 1])
def test_both_draws_are_compared(wrong):
    module, inputs = torch.nn.Linear(3, 2), (torch.ones(2, 3),)
    capture = trace(module.eval(), inputs)
    check_faithful(capture, module, inputs)

    class Other(torch.nn.Module):
        def forward(self, x):
            same = torch.equal(x, inputs[0])
            return module(x) + (1.0 if same == (wrong == 0) else 0.0)

    which = ("these", "other")[wrong]
    with pytest.raises(ProgramError, match=f"with {which} inputs, its relative error"):
        check_faithful(capture, Other(), inputs)


def test_a_replay_gives_what_the_module_gives():
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    capture = trace(module.eval(), (torch.ones(2, 3),))
    x = torch.randn(2, 3)
    (got,) = replay(capture, (x,))
    assert torch.allclose(got, module(x))


def test_another_draw_keeps_what_is_no_float_and_what_is_0():
    mask = torch.tensor([0.0, -torch.inf, 1.0])
    edges, weights = torch.tensor([[0, 1, 2], [1, 2, 0]]), torch.rand(3)
    x, flag = torch.randn(4), torch.tensor([True, False])
    new = drawn_again((mask, edges, weights, {"x": x}, flag, 3))
    assert new[0][0] == 0
    assert new[0][1] == -torch.inf
    assert new[1] is edges
    assert new[2] is weights, "it says what the graph is"
    assert not torch.equal(new[3]["x"], x)
    assert torch.equal(new[3]["x"].sign(), x.sign())
    assert new[4] is flag
    assert new[5] == 3


class Gradient(torch.nn.Module):
    def forward(self, x):
        return torch.func.grad(lambda y: (y**3).sum())(x)


def test_what_cannot_be_recorded_is_not_called_impossible():
    with pytest.raises(RecordingError, match="does what cannot be recorded"):
        fl.from_torch(Gradient(), torch.ones(3))


def test_what_pytorch_cannot_compute_is_said():
    class Wrong(torch.nn.Module):
        def forward(self, x):
            return x @ torch.ones(7)

    with pytest.raises((DataError, ProgramError), match=r"cannot (compute|trace)"):
        fl.from_torch(Wrong(), torch.ones(3, 5))


WRITES = {
    "index_put": lambda x, i, v: torch.zeros(4, 3).index_put((i,), v),
    "index_copy": lambda x, i, v: torch.zeros(4, 3).index_copy(0, i, v),
    "assignment": lambda x, i, v: torch.zeros(4, 3).clone().index_put_((i,), v),
    "onto x": lambda x, i, v: x.index_copy(0, i, v),
}


@pytest.mark.parametrize("write", WRITES)
def test_an_index_that_writes_twice_is_refused_when_it_is_bound(write):
    class Writing(torch.nn.Module):
        def forward(self, x, i, v):
            return WRITES[write](x, i, torch.relu(v))

    x, v = torch.randn(4, 3), torch.randn(2, 3)
    imported = fl.from_torch(Writing(), (x, torch.tensor([0, 2]), v))
    assert imported.bind(x, torch.tensor([1, 3]), v).check().ok
    with pytest.raises(DataError, match="writes to one place twice"):
        imported.bind(x, torch.tensor([1, 1]), v)
    with pytest.raises(DataError, match="writes to one place twice"):
        fl.from_torch(Writing(), (x, torch.tensor([1, 1]), v))


class Constant(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)

    def forward(self, x, mask):
        return self.linear(torch.ones(2, 3) if mask.dim() else x)


def test_a_check_of_a_constant_says_so():
    imported = fl.from_torch(Constant(), (torch.randn(2, 3), torch.ones(2)))
    assert "no output depends on x, mask" in imported.notes
    assert str(imported.check()).endswith("; no output depends on an input of the module")


def test_an_input_that_is_not_used_is_named():
    imported = fl.from_torch(Constant(), (torch.randn(2, 3), torch.tensor(1.0)))
    assert "no output depends on mask" in imported.notes
    assert "no output depends" not in str(imported.check())
