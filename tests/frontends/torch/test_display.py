"""Imported modules in a notebook."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from torch import nn

import fuseloom as fl
from tests.frontends.torch.support import normal


def test_an_import_shows_operations_data_and_presets() -> None:
    module = nn.Sequential(nn.Linear(4, 3), nn.Softmax(-1))
    module[0].weight.data[:, 1:] = 0
    made = fl.from_torch(module, normal(2, 4), {"0.weight": "csr"})
    html = made._repr_html_()
    assert f"{len(made.program.statements)} statements, 2 operations" in html
    assert html.count("aten.linear.default") == 1
    assert "3 of 12" in html
    for name in (*made.presets, *made.data):
        assert name in html
    assert "<script>" not in replace(made, presets={"<script>": ""})._repr_html_()


def test_an_agreement_is_green_or_red() -> None:
    made = fl.from_torch(nn.ReLU(), normal(2, 4))
    assert 'class="good"' in made.check()._repr_html_()
    other = replace(made, expected=(np.ones((2, 4)) * 9,))
    assert 'class="bad"' in other.check()._repr_html_()
    assert "DIFFERS" in other.check()._repr_html_()
