"""The declarations of a SAM file."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.samml.exchange import export_sam, import_sam
from fuseloom.errors import FuseloomError
from fuseloom.program import parse
from tests.dataflow.samml.exchange.exports import PRODUCT, exported
from tests.dataflow.samml.exchange.sam_graphs import dot
from tests.dataflow.samml.exchange.sam_texts import (
    agrees,
    rules,
    run_text,
)


def test_shapes_are_checked() -> None:
    _, text, _ = exported(PRODUCT)
    with pytest.raises(FuseloomError, match="data of operand B are missing"):
        import_sam(text, {"A": (4, 5)})
    with pytest.raises(FuseloomError, match="operand B has shape 4x5 in the graph, 4 in its data"):
        import_sam(text, {"A": (4, 5), "B": (4,)})


def test_undeclared_tensors() -> None:
    compiled = compile_program(parse(PRODUCT))
    with pytest.raises(FuseloomError, match="which is not declared"):
        export_sam(compiled.regions[0].graph, {})


MASKED = (
    """1 fiberlookup index=p tensor=pattern mode=0 format=compressed root=true
    2 broadcast
    3 repsiggen index=p
    4 repeat index=p tensor=row root=true
    5 fiberlookup index=p tensor=row mode=0 format=compressed root=false
    6 fiberlookup index=q tensor=pattern mode=1 format=compressed root=false
    7 intersect index=q
    8 arrayvals tensor=row
    50 fiberwrite index=p tensor=Y mode=0
    51 fiberwrite index=q tensor=Y mode=1
    52 fiberwrite tensor=Y mode=vals""",
    """1>2 crd
    2>3 crd
    3>4 repsig
    4>5 ref
    1>6 ref
    5>7 crd in-row
    5>7 ref in-row
    6>7 crd in-pattern
    6>7 ref in-pattern
    7>8 ref out-row
    2>50 crd
    7>51 crd
    8>52 val""",
)


@pytest.mark.parametrize("comment", ["Y=ss01,other=ss01", "Y=ss01,pattern=ss01,row=s0"])
def test_tensors_the_comment_does_not_list(comment: str) -> None:
    """One of them is looked up under the index of another dimension; what is joined decides."""
    shapes = {"pattern": (4, 6), "row": (6,)}
    imported = agrees(dot(comment, *MASKED), shapes, lambda a: (a["pattern"] != 0) * a["row"])
    assert ("R8" in rules(imported)) == ("other" in comment)
    assert set(imported.tensors) == set(shapes)


def test_the_order_of_an_unlisted_tensor_is_that_of_its_lookups() -> None:
    nodes = """1 fiberlookup index=q tensor=B mode=1 format=compressed root=true
    2 fiberlookup index=p tensor=B mode=0 format=dense root=false
    3 arrayvals tensor=B
    50 fiberwrite index=p tensor=Y mode=0
    51 fiberwrite index=q tensor=Y mode=1
    52 fiberwrite tensor=Y mode=vals"""
    edges = "1>2 ref\n2>3 ref\n1>51 crd\n2>50 crd\n3>52 val"
    imported = agrees(dot("Y=ss10", nodes, edges), {"B": (3, 4)}, lambda a: a["B"])
    assert imported.tensors["B"].format.mode_order == (1, 0)
    with pytest.raises(FuseloomError, match="by references of the root, not of its level 0"):
        run_text(dot("Y=ss10,B=sd01", nodes, edges), {"B": np.ones((3, 4))})
    agrees(dot("Y=ss10,B=sd10", nodes, edges), {"B": (3, 4)}, lambda a: a["B"])  # the way out
