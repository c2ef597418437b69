"""What a SAM file declares."""

from __future__ import annotations

import pytest

from engine.dataflow.compiler import compile_program
from engine.dataflow.samml.exchange import export_sam, import_sam_text
from engine.errors import FuseloomError
from engine.program import parse
from tests.dataflow.samml.exchange.exports import PRODUCT, exported


def test_shapes_are_checked() -> None:
    _, text, _ = exported(PRODUCT)
    with pytest.raises(FuseloomError, match="data of operand B are missing"):
        import_sam_text(text, {"A": (4, 5)})
    with pytest.raises(FuseloomError, match="operand B has shape 4x5 in the graph, 4 in its data"):
        import_sam_text(text, {"A": (4, 5), "B": (4,)})


def test_undeclared_tensors() -> None:
    compiled = compile_program(parse(PRODUCT))
    with pytest.raises(FuseloomError, match="which is not declared"):
        export_sam(compiled.regions[0].graph, {})
