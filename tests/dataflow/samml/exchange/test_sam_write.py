"""The outputs of a graph: several results, coordinates without values."""

from __future__ import annotations

import numpy as np

from tests.dataflow.samml.exchange.sam_texts import (
    SUM,
    agrees,
    common,
    rules,
    run_text,
)


def test_coordinates_without_values_are_left_out() -> None:
    text = common("intersect", "4 mul\n10 fiberwrite tensor=seen mode=0", SUM + "4>0 val\n7>10 crd")
    imported = agrees(text, {"b": (9,), "c": (9,)}, lambda a: a["b"] * a["c"])
    assert rules(imported) == {"R9"}


def test_two_results() -> None:
    text = common(
        "intersect",
        """4 mul
        10 fiberwrite tensor=z mode=0
        11 fiberwrite tensor=z mode=vals""",
        SUM + "4>0 val\n7>10 crd\n5>11 val",
    ).replace("x=s0,", "x=s0,z=s0,")
    agrees(text, {"b": (9,), "c": (9,)}, lambda a: a["b"] * a["c"])
    arrays = {"b": np.arange(9.0), "c": (np.arange(9) % 2).astype(float)}
    _, run = run_text(text, arrays)
    assert run.outputs["z"].to_dense().tolist() == (arrays["b"] * arrays["c"]).tolist()
