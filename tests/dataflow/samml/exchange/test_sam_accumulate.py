"""Accumulators of SAM graphs."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.dataflow.samml.exchange.sam_accumulate import MAX_ORDER
from fuseloom.errors import FuseloomError
from tests.dataflow.samml.exchange.sam_graphs import product_graph
from tests.dataflow.samml.exchange.sam_texts import run_text


def test_accumulators_of_higher_order_are_refused_by_name() -> None:
    order = "ijklmnopqr"[: MAX_ORDER + 2]
    form = "s" * len(order) + "0123456789"[: len(order)]
    text = product_graph(("X", order[1:]), [("B", order)], order, {"B": form})
    with pytest.raises(FuseloomError, match=rf"spaccumulator \d+ has order {MAX_ORDER + 1}; the"):
        run_text(text, {"B": np.ones((2,) * len(order))})
