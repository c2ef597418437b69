"""The beginning of modules of kernels in Triton: complete, and Python."""

from __future__ import annotations

import ast
import builtins

from fuseloom.stitch.triton import scalars as triton_scalars
from fuseloom.stitch.triton.prelude import TRITON_PRELUDE


def test_all_functions_that_are_called_are_there() -> None:
    tree = ast.parse(TRITON_PRELUDE)
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    called = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert called <= functions | {*dir(builtins)}
    named = {*triton_scalars.FLOAT_FUNCTIONS.values(), *triton_scalars.INTEGER_FUNCTIONS.values()}
    named |= {"rounded_bf16", "to_integer", "float_rest", "largest", "smallest", "product_of"}
    assert named <= functions
    assert len(functions) > 40


def test_each_function_of_kernels_is_compiled_by_triton() -> None:
    tree = ast.parse(TRITON_PRELUDE)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name != "launched":
            assert [ast.unparse(one) for one in node.decorator_list] == ["triton.jit"]
    assert max(map(len, TRITON_PRELUDE.splitlines())) <= 100
