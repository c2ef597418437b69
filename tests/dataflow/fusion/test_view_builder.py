"""Views: renaming, merging, and one copy of what several statements read."""

from collections import Counter
from typing import Any

import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.fusion.view_builder import SharingPreference, build_views
from fuseloom.dataflow.fusion.views import Instance, instances, walk
from fuseloom.errors import LoweringError
from fuseloom.models import attention, gcn
from fuseloom.program import Program, parse

SQUARES = parse(
    """
    A: 4x4 dcsr
    B[i,j] = A[i,k] * A[k,j]
    C[i,j] = B[i,k] * B[k,j]
    """
)


def built(program: Program, **options: Any) -> tuple[tuple[Instance, ...], dict[str, int]]:
    return build_views(program, program.statements, program.outputs, **options)


def accesses(*roots: Instance) -> list[str]:
    return [str(view) for view in walk(*roots)]


def test_reductions_get_fresh_names() -> None:
    """Each use of B is a view of its own, with its own k (docs/spec/fusion.md §2.1)."""
    (root,), extents = built(SQUARES)
    assert accesses(root) == [
        "A[i,k']", "A[k',k]", "B[i,k]", "A[k,k'']", "A[k'',j]", "B[k,j]", "C[i,j]",
    ]  # fmt: skip
    assert extents == {"i": 4, "j": 4, "k": 4, "k'": 4, "k''": 4}
    assert root.renaming == (("i", "i"), ("j", "j"), ("k", "k"))
    assert [v.reduced for v in instances(root)] == [("k'",), ("k''",), ("k",)]
    assert dict(instances(root)[1].renaming) == {"i": "k", "j": "j", "k": "k''"}


def test_a_name_is_never_captured() -> None:
    """The second output's k is the coordinate of C that C calls j, not the k that C sums over."""
    program = parse(
        """
        A: 4x3 dcsr
        B: 3x4 dcsr
        C[i,j] = A[i,k] * B[k,j]
        D[j,k] = exp(C[j,k])
        output C, D
        """
    )
    roots, extents = built(program)
    assert accesses(roots[0]) == ["A[i,k]", "B[k,j]", "C[i,j]"]
    assert accesses(roots[1]) == ["A[i,k]", "B[k,j]", "C[i,j]", "D[i,j]"]
    assert extents == {"i": 4, "j": 4, "k": 3}
    apart, extents = build_views(
        program, program.statements, program.outputs, share=SharingPreference.NOTHING
    )
    assert accesses(apart[1]) == ["A[j',k'']", "B[k'',k]", "C[j',k]", "D[j',k]"]
    assert list(extents) == ["i", "j", "j'", "k", "k'", "k''"]


def test_outputs_of_other_sizes_get_other_names() -> None:
    program = parse("A: 4x3 dcsr\nB[i] = A[i,j]\nC[i] = A[j,i]\noutput B, C")
    roots, extents = built(program)
    assert accesses(*roots) == ["A[i,j]", "B[i]", "A[j',i']", "C[i']"]
    assert extents == {"i": 4, "i'": 3, "j": 3, "j'": 4}


def test_equal_uses_are_one_view() -> None:
    program = parse("A: 4x4 dcsr\nB[i,j] = relu(A[i,j])\nC[i,j] = B[i,j] * B[i,j]")
    (merged,), _ = built(program)
    assert accesses(merged) == ["A[i,j]", "B[i,j]", "C[i,j]"]
    assert merged.operands[0] is merged.operands[1]
    (apart,), _ = built(program, merge=False)
    assert accesses(apart) == ["A[i,j]", "B[i,j]", "A[i,j]", "B[i,j]", "C[i,j]"]


def test_transposed_uses_are_two_views() -> None:
    program = parse("A: 4x4 dcsr\nB[i,j] = relu(A[i,j])\nC[i,j] = B[i,j] + B[j,i]")
    (root,), _ = built(program)
    assert accesses(root) == ["A[i,j]", "B[i,j]", "A[j,i]", "B[j,i]", "C[i,j]"]


def test_a_softmax_holds_one_copy_of_its_logits() -> None:
    """Max and sum run over the index that their readers iterate anyway."""
    for model, logits in ((gcn(), "T7"), (attention(), "C")):

        def copies(program: Program = model.program, name: str = logits, **options: Any) -> int:
            (root,), _ = built(program, **options)
            return Counter(view.tensor for view in walk(root))[name]

        assert copies() == 1
        assert copies(share=SharingPreference.APART) == 3
        assert copies(share=SharingPreference.APART, merge=False) == 4


def test_the_fused_gcn_has_six_index_variables() -> None:
    (_,), extents = built(gcn().program)
    assert extents == {"i": 34, "m": 4, "n": 16, "k": 34, "p": 34, "k'": 34}
    (_,), apart = built(gcn().program, merge=False)
    assert len(apart) == 18


def test_sharing_needs_the_same_place() -> None:
    """The row sums of B are not its column sums, so the two need two views of it."""
    program = parse(
        """
        A: 4x4 dcsr
        B[i,j] = relu(A[i,j])
        c[j] = B[i,j]
        D[i,j] = B[i,j] / c[i]
        """
    )
    (root,), _ = built(program)
    assert [str(v) for v in instances(root)] == ["B[i,j]", "B[i',i]", "c[i]", "D[i,j]"]


def test_no_sharing_where_another_operand_filters() -> None:
    """W's coordinates would drop elements of B that D still needs (rule J3)."""
    program = parse(
        """
        A: 4x5 dcsr
        W: 5 [compressed]
        B[i,j] = relu(A[i,j])
        x[i] = B[i,j] * W[j]
        D[i,j] = B[i,j] / x[i]
        """
    )
    (root,), extents = built(program)
    assert accesses(root) == ["A[i,j]", "B[i,j]", "A[i,j']", "B[i,j']", "W[j']", "x[i]", "D[i,j]"]
    assert extents == {"i": 4, "j": 5, "j'": 5}
    (shared,), _ = built(parse(str(program).replace("B[i,j] * W[j]", "B[i,j]")))
    assert accesses(shared) == ["A[i,j]", "B[i,j]", "x[i]", "D[i,j]"]


def test_stored_tensors_are_not_shared() -> None:
    """Sharing saves recomputation; a tensor in memory is simply read twice."""
    program = parse("S: 4x5 dcsr\nx[i] = max[j] S[i,j]\nY[i,j] = S[i,j] - x[i]")
    (root,), _ = built(program)
    assert accesses(root) == ["S[i,j]", "S[i,j']", "x[i]", "Y[i,j]"]


def test_views_without_number_are_refused() -> None:
    """Squaring n times makes 2^n views."""
    squares = [f"B{n + 1}[i,j] = B{n}[i,k] * B{n}[k,j]" for n in range(30)]
    program = parse("\n".join(["B0: 4x4 dcsr", *squares]))
    with pytest.raises(LoweringError, match=r"in 440 places and more, B\d* most often"):
        built(program)


def test_an_index_named_in_one_outputs_tree_is_known_where_it_is_first_used() -> None:
    """Of two outputs, m shares the reduction index that the other's tree gave it."""
    program = parse(
        """
        A: 5x4 csc
        z: scalar
        option broadcast_add dense
        F[i,j] = A[i,j] + z
        m[i] = max[j] F[i,j]
        D[i,j] = F[i,j] - m[i]
        E[i,j] = exp(D[i,j])
        s[i] = E[i,j]
        t[i] = s[i] + m[i]
        output t
        """
    )
    for outputs in (("m", "s"), ("s", "m")):
        for share in SharingPreference:
            roots, extents = build_views(program, program.statements[:5], outputs, share=share)
            assert {x for v in walk(*roots) for x in v.indices} <= extents.keys()
    compilation = compile_program(program, "fuse F..s")
    assert [r.name for r in compilation.regions] == ["F..s", "t"]


def test_an_index_is_what_a_tensor_carries_not_what_it_is_called() -> None:
    """Outputs share the indices of the tensors they read, and no others."""
    text = """
        A: 4x4 dcsr
        B: 4x4 dcsr
        T[i,j] = A[i,j] * B[i,j]
        U[{0}] = relu(T[{0}])
        V[{1}] = relu(B[{1}])
        output T, U, V
        """
    for names in (("i,j", "i,j"), ("a,b", "j,i"), ("j,i", "T,B")):
        roots, _ = built(parse(text.format(*names)))
        assert accesses(roots[1]) == ["A[i,j]", "B[i,j]", "T[i,j]", "U[i,j]"]
        assert not {"i", "j"} & set(roots[2].indices)


def test_two_reductions_of_a_statement_stay_two_indices() -> None:
    """One output's tree may identify indices that another's tree keeps apart."""
    program = parse(
        """
        A: 2x2 compressed
        T0[k] = A[i,k]
        T1[i] = relu(T0[i])
        T2[i] = relu(T0[i])
        T3[] = max[i] T1[i]
        T4[] = product(T0[i], T3[], T2[j])
        T5[] = relu(T4[])
        T6[] = T4[] * T4[]
        T7[i] = T5[] * T2[i]
        """
    )
    roots, _ = built(program)
    for view in instances(*roots):
        assert len(set(view.local)) == len(view.local)
