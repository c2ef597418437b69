"""Every block of code of the README and of all documents runs, and prints what it says.

What is not executed here says so, with its reason, or is executed by a test that is named here.
"""

from __future__ import annotations

import ast
import contextlib
import io
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import fuseloom as fl
from fuseloom.cli import main
from tests.script_modules import module_of

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
code = module_of(DOCS / "blocks.py")
PAGES = sorted(
    page.relative_to(ROOT).as_posix()
    for page in (ROOT / "README.md", *DOCS.rglob("*.md"))
    if not {"notebooks", "_site"} & set(page.relative_to(DOCS.parent).parts[:-1])
)
"""All but those that the site makes of notebooks, which have tests of their own."""

EXAMPLE = "test_the_example_of_the_documentation"
ELSEWHERE = {
    ("README.md", "console"): "test_docs.py::test_the_pages_print_what_the_commands_print",
    ("README.md", "python"): "test_docs.py::test_the_readme_in_python",
    ("docs/cli.md", "console"): "test_docs.py::test_the_pages_print_what_the_commands_print",
    ("docs/cli.md", "console real data"): "test_docs.py::test_a_command_on_real_data",
    ("docs/pytorch.md", "python torch"): "test_docs.py::test_the_example_of_pytorch",
    ("docs/figures.md", "python figures"): "test_docs.py::test_a_figure_from_python",
    ("docs/json.md", "python"): "test_docs.py::test_the_page_about_json",
    ("docs/runs.md", "python many"): f"exploration/executors/test_drive.py::{EXAMPLE}",
    ("docs/simulator.md", "python"): "test_docs.py::test_the_simulators_page",
    ("docs/sweeps.md", "python"): f"exploration/sweep/test_sweep.py::{EXAMPLE}",
}
"""Blocks of a page, by page and first line, and the test that runs them."""


def _nothing() -> dict[str, Any]:
    return {}


def _of_estimates() -> dict[str, Any]:
    model, data = fl.load("gcn", "karate")
    compiled = fl.compile(model.program, model.presets["partial"])
    return {"program": model.program, "data": data, "compiled": compiled}


def _of_runs() -> dict[str, Any]:
    """A store with a run, and what that is a run of."""
    from fuseloom.exploration.store import RunStore

    found = fl.explore(fl.Space(fl.Base("spmv"), {"order": ["first"]}), simulate=True, jobs=0)
    model, data = fl.load("spmv")
    with RunStore() as store:
        path = store.path
    names = {"key": found.rows[0].key, "program": model.program, "data": data, "path": path}
    return {**names, "machine": fl.Machine.default()}


def _of_pytorch() -> dict[str, Any]:
    import torch

    class Layers(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = torch.nn.Linear(5, 4), torch.nn.Linear(4, 3)

        def forward(self, adj: Any, x: Any) -> Any:
            hidden = torch.relu(self.first(adj @ x))
            return self.second(adj @ hidden)

    graphs = [torch.tensor(nx.to_numpy_array(nx.path_graph(6)), dtype=torch.float32)] * 2
    return {
        "fl": fl,
        "GCN": Layers,
        **dict(zip(("adj", "adj2"), graphs, strict=True)),
        **{name: torch.ones(6, 5) for name in ("x", "x2")},
    }


GIVEN: dict[str, Callable[[], dict[str, Any]]] = {
    "docs/estimate.md": _of_estimates,
    "docs/pytorch.md": _of_pytorch,
    "docs/runs.md": _of_runs,
}
"""Names that a page supposes."""


def _key(page: str, block: Any) -> tuple[str, str]:
    return page, " ".join([block.language, *block.marks])


def _to_run(page: str) -> list[Any]:
    found = code.blocks(ROOT / page)
    return [block for block in found if block.runs and _key(page, block) not in ELSEWHERE]


@pytest.mark.parametrize("page", [*filter(_to_run, PAGES)])
def test_blocks_print_what_they_say(page: str, tmp_path: Path) -> None:
    with code.workplace(tmp_path) as folder:
        names = {"__name__": "docs", **GIVEN.get(page, _nothing)()}
        for block in _to_run(page):
            for shown, printed in code.run(block, names, folder):
                if shown is not None:
                    assert code.norm(printed) == code.norm(shown), block.place


def test_nothing_is_unmarked() -> None:
    """Every block is run here, or by a test that there is, or says why it is not."""
    used = set()
    for page in PAGES:
        for block in code.blocks(ROOT / page):
            key = _key(page, block)
            if key in ELSEWHERE:
                used.add(key)
                continue
            assert block.runs or block.reason, block.place
            said = "not-run" in block.marks
            assert said == bool(block.reason) or page == "README.md", block.place
            if block.runs:
                assert set(block.marks) == set(), f"{block.place}: what is {block.marks}?"
    assert used == set(ELSEWHERE)
    for test in ELSEWHERE.values():
        file, _, name = test.partition("::")
        assert f"def {name}(" in (ROOT / "tests" / file).read_text(encoding="utf-8"), test


def test_what_is_not_run_could_be() -> None:
    """Its Python is Python, and its commands have options that there are."""
    seen = 0
    for page in PAGES:
        for block in code.blocks(ROOT / page):
            if block.runs:
                continue
            seen += 1
            if block.language == "python":
                ast.parse(block.text)
                continue
            for command, _ in block.commands:
                words = shlex.split(command)
                if words[0] == "fuseloom":
                    assert known(words[1:]), f"{block.place}: {command}"
    assert seen


def known(arguments: list[str]) -> bool:
    """Return whether every option of a command is in its help."""
    told = io.StringIO()
    command = arguments[:2] if arguments[0] == "runs" else arguments[:1]
    with contextlib.redirect_stdout(told), pytest.raises(SystemExit):
        main([*command, "--help"])
    options = [word for word in arguments if word.startswith("--")]
    return all(option in told.getvalue() for option in options)


def test_outputs_are_compared(tmp_path: Path) -> None:
    """A page that says something else, or code that fails, is found."""
    page = ROOT / "docs" / "concepts" / "tokens.md"
    right = code.blocks(page)[1]
    with code.workplace(tmp_path) as folder:
        ((shown, printed),) = code.run(right, {}, folder)
        assert code.norm(shown) == code.norm(printed)
        assert code.norm(shown.replace("N@5", "0@5")) != code.norm(printed)
        wrong = code.CodeBlock("here", "console", (), "$ fuseloom simulate --model none\n")
        with pytest.raises(AssertionError, match="ends with 2"):
            list(code.run(wrong, {}, folder))
    assert code.norm("done in 1.25 s, error 3.1e-07") == code.norm("done in 7 ms, error 2.0e-08")
