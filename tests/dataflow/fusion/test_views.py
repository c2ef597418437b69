"""Views: walking and naming the uses of tensors."""

from fuseloom.dataflow.fusion.view_builder import build_views
from fuseloom.dataflow.fusion.views import Instance, Leaf, view_names, walk
from fuseloom.models import gcn
from fuseloom.program import parse


def test_walk_gives_producers_first_and_every_view_once() -> None:
    program = gcn().program
    (root,), _ = build_views(program, program.statements, program.outputs)
    seen: set[int] = set()
    for view in walk(root):
        assert id(view) not in seen
        if isinstance(view, Instance):
            assert all(id(operand) in seen for operand in view.operands)
        else:
            assert isinstance(view, Leaf)
            assert view.tensor in gcn().program.inputs
        seen.add(id(view))


def test_uses_of_a_tensor_are_told_apart_by_primes() -> None:
    program = parse(
        "A: 4x4 dcsr\nA': 4x4 dcsr\nB[i,j] = A[i,k] * A[k,j]\nC[i,j] = B[i,j] * A'[i,j]"
    )
    (root,), _ = build_views(program, program.statements, program.outputs)
    assert {name: str(view) for name, view in view_names((root,)).items()} == {
        "A": "A[i,k]",
        "A'": "A[k,j]",
        "B": "B[i,j]",
        "A''": "A'[i,j]",
        "C": "C[i,j]",
    }
