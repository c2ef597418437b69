"""The label of a graph."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from fuseloom.frontends.files import (
    GraphData,
)


def test_the_label_says_what_a_graph_is() -> None:
    one = scipy.sparse.csr_array(np.ones((1, 1), dtype=np.float32))
    real = GraphData("Cora", one, None, None, 0, "somewhere")
    assert real.label == "Cora"
    standin = GraphData("Cora", one, None, None, 0, "", standin=True, seed=3)
    assert standin.label == "Cora (stand-in, seed 3)"
