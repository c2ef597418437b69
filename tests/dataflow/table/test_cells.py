"""The names of cells in tables and worked examples."""

from __future__ import annotations

from fuseloom.dataflow.table.cells import (
    AccIn,
    Accumulated,
    Accumulator,
    At,
    Column,
    Compute,
    Fold,
    Level,
    Load,
    RepeatRef,
    RepeatValue,
    Root,
    Scan,
    ScanIn,
    ValueOf,
    coordinates,
)
from fuseloom.dataflow.table.tile_axes import TileOp
from fuseloom.program.functions import Op

A = At("A", "k")
LOADED = Load(A, "A")


def test_references_and_values_name_their_cells() -> None:
    assert str(Scan(Root(), "A", 0, False, 4)) == "LS(root)"
    assert str(RepeatRef(A, "I_k")) == "Rep(<A.k>,I_k)"
    assert str(RepeatValue(LOADED, "U_j")) == "RepV(Val(<A.k>),U_j)"
    assert str(ValueOf("T")) == "<T.val>"
    assert str(Accumulated("Acc1_k")) == "Acc1_k.val"
    assert str(Accumulated("Acc1_k", "U_j")) == "U_j.val"
    assert coordinates("I_k") == "I_k.crd"


def test_operations_show_their_operands_constants_and_tiles() -> None:
    both = (LOADED, ValueOf("T"))
    assert str(Compute(Op.MUL, both)) == "MUL(Val(<A.k>),<T.val>)"
    assert str(Compute(Op.SCALE, both[:1], 0.5)) == "SCALE(Val(<A.k>),0.5)"
    assert str(Compute(Op.SUM, both[:1])) == "Val(<A.k>)"  # the reduction is another cell's
    tile = TileOp(("ik,kj->ij",), "ij->i")
    assert str(Compute(Op.MUL, both, tile=tile)) == (
        "Fold[ij->i](MUL[ik,kj->ij](Val(<A.k>),<T.val>))"
    )


def test_reductions_name_what_they_reduce() -> None:
    def fold(maximum: bool) -> Fold:
        return Fold(maximum, LOADED, "k", "I_k", None, False)

    assert str(fold(False)) == "Reduce_k(Val(<A.k>))"
    assert str(fold(True)) == "MaxReduce_k(Val(<A.k>))"


def accumulator(*indices: str, inner: tuple[str, ...], **more: object) -> Accumulator:
    given: dict = {"maximum": False, "dims": (4,) * len(indices)} | more
    return Accumulator("Acc1_k", "T", "k", indices, inner, "I_k", LOADED, **given)


def test_accumulators_and_cuts() -> None:
    one = accumulator("j", inner=("U_j",))
    assert (one.order, one.is_cut) == (1, False)
    assert str(one) == "Acc1_k = Spacc1(inner=U_j.crd, outer=I_k.crd, Val(<A.k>))"
    two = accumulator("i", "j", inner=("U_i", "U_j"), maximum=True)
    assert str(two) == ("Acc1_k = Spacc2(inner=U_i.crd,U_j.crd, outer=I_k.crd, Val(<A.k>), max)")
    cut = accumulator("k", inner=())
    assert cut.is_cut
    assert str(cut) == "Acc1_k = Stream(I_k.crd, Val(<A.k>))"


def test_an_emitted_level_has_the_accumulators_name_where_it_is_the_only_one() -> None:
    assert accumulator("j", inner=("U_j",)).emitted("j") == AccIn("Acc1_k", "j", 1)
    assert AccIn("Acc1_k", "j", 1).name == "Acc1_k"
    two = accumulator("i", "j", inner=("U_i", "U_j"))
    assert two.emitted("j").name == "Acc1_k.j"
    assert two.emitted("j", raw=True).name == "Acc1_k.j.raw"


def test_levels_and_columns() -> None:
    assert Level("I_k", ("i", "k"), 0, ScanIn("A")).index == "k"
    column = Column("A'", "A", ("i", "k"), ("i", "k", "j"), True, "T")
    assert column.title == "A'[i,k]"
