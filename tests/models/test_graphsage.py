"""GraphSAGE, against plain numpy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_region
from fuseloom.dataflow.fusion.fuse import fuse
from fuseloom.dataflow.fusion.pog import EdgeOrigin, build_pog
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.fusion.view_builder import build_views
from fuseloom.models import (
    graphsage,
    random_data,
)
from fuseloom.program import evaluate
from tests.models.small import Array, dense


def test_graphsage_equals_a_plain_forward_pass() -> None:
    model = graphsage(nodes=9, features=5, hidden=4, classes=3)
    data = random_data(model, 2, density=0.9)
    t = dense(data)

    def layer(x: Array, n: int) -> Array:
        own = x @ t[f"Ws{n}"] + t[f"bs{n}"]
        near = t["A"] @ x @ t[f"Wn{n}"] + t[f"bn{n}"]
        return np.maximum(own + near, 0)

    result = evaluate(model.program, data)["Y"]
    np.testing.assert_allclose(result.dense(), layer(layer(t["X"], 1), 2), rtol=1e-9, atol=1e-12)


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize(
    "every", [25, pytest.param(1, marks=pytest.mark.fuzz)], ids=["some", "all"]
)
def test_the_constrained_orders_of_graphsage_are_one_graph(every: int) -> None:
    """The 1,134 orders in which every product runs as it reads compile to the same graph."""
    program = graphsage(nodes=6, features=5, hidden=4, classes=3).program
    (region,) = fuse(program, Schedule.parse("fuse S1..Y"))
    roots, extents = build_views(program, program.statements, program.outputs)
    wishes = {s.out.tensor: s.indices for s in program.statements if s.reduced}
    pog = build_pog(program, roots, extents, wishes, origins=[EdgeOrigin.USER])
    constrained = replace(region, roots=roots, extents=extents, pog=pog)
    orders = list(pog.orders())
    assert len(extents) == 11
    assert len(orders) == 1_134
    graphs = {str(compile_region(constrained, order).graph) for order in orders[::every]}
    assert len(graphs) == 1
