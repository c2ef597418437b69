"""Phases in Triton as text: loops over tiles, sums, matrices, and barriers within a phase."""

from __future__ import annotations

import ast

import pytest

from fuseloom.stitch.fusion import FusionSettings
from fuseloom.stitch.triton import tiles as triton_tiles

from ..stitched_modules import GraphMaker
from .triton_kernels import SMALL_TILES, codes_of, random_cases

TOGETHER = FusionSettings(enough_blocks=1)


def test_a_sum_of_many_elements_is_made_tile_by_tile() -> None:
    graph = GraphMaker()
    x, start = graph.parameter(8, 5000), graph.parameter()
    graph.add("reduce", (8,), x, start, dimensions=(1,), to_apply="sum")
    (code,) = codes_of(graph.module())
    body = code.text.partition("LAUNCHES")[0]
    assert "for first_r in range(0, 5000, 1024):" in body
    assert "sums = sums + tl.where(in_r, " in body
    assert body.index("tl.sum(sums") > body.index("sums = sums + ")
    assert "sums = v0 + sums" in body


def test_products_of_matrices_are_dots_without_tf32() -> None:
    graph = GraphMaker()
    x, y = graph.parameter(2, 32, 40), graph.parameter(2, 40, 64)
    left = graph.add("tanh", (2, 32, 40), x)
    graph.add(
        "dot", (2, 32, 64), left, y, lhs_batch_dims=(0,), rhs_batch_dims=(0,),
        lhs_contracting_dims=(2,), rhs_contracting_dims=(1,),
    )  # fmt: skip
    (code,) = codes_of(graph.module(), settings=TOGETHER)
    assert "tl.dot(tl.where(in_p1_k, p1_v0, 0.0), tl.where(in_p1_l, p1_right_v1, 0.0)" in code.text
    assert code.text.count('input_precision="ieee"') == 1


def test_an_array_without_elements_is_not_computed() -> None:
    graph = GraphMaker()
    graph.add("negate", (3, 0), graph.parameter(3, 0))
    for code in codes_of(graph.module()):
        ast.parse(code.text)
        assert "tl.load" not in code.text


def test_all_kernels_are_python(monkeypatch: pytest.MonkeyPatch) -> None:
    for small in (False, True):
        for name, value in SMALL_TILES.items() if small else ():
            monkeypatch.setattr(triton_tiles, name, value)
        for seed in range(15):
            for case in random_cases(seed):
                tree = ast.parse(case.code.text)
                (function, *_) = tree.body
                assert isinstance(function, ast.FunctionDef)
                check_names(function)


def check_names(function: ast.FunctionDef) -> None:
    """Each variable is assigned before it is read, in the same loop or around it."""
    known = {one.arg for one in function.args.args}

    def walk(body: list[ast.stmt], known: set[str]) -> None:
        for line in body:
            if isinstance(line, ast.For):
                assert isinstance(line.target, ast.Name)
                walk(line.body, known | {line.target.id})
                continue
            for node in ast.walk(line):
                is_read = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
                if is_read and node.id.startswith(("p", "v", "e", "r", "in", "out", "own", "b")):
                    functions = ("exponential", "hyperbolic_tangent", "range", "rounded_bf16")
                    assert node.id in known or node.id in functions, (node.id, ast.unparse(line))
            if isinstance(line, ast.Assign):
                known |= {one.id for one in line.targets if isinstance(one, ast.Name)}

    walk(function.body, known)
