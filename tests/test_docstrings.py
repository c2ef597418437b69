"""Docstrings: every example gives what it says, and every public name has what a reader needs."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from numpydoc.docscrape import ClassDoc, FunctionDoc

import fuseloom as fl
from fuseloom_workbench import notebook

ROOT = Path(__file__).parent.parent
NEEDS = {
    "fuseloom.frontends.torch.frontend": "torch",
    "fuseloom.exploration.torch_modules": "torch",
    "fuseloom.calls.packed_tree": "shapely",
    "fuseloom.calls.stored_kinds": "tiledb",
}
"""Modules whose examples need a package that need not be there."""
SLOW = {
    f"fuseloom_workbench.{page}.panels" for page in ("calls", "kernels", "networks", "patterns")
}
"""Modules each of whose examples starts a process that maps, compiles or searches."""


@cache
def with_examples() -> list[str]:
    """Modules in which a docstring has an example."""
    found = []
    for root in (ROOT / "engine", ROOT / "workbench"):
        for path in sorted(root.rglob("*.py")):
            if re.search(r"^\s*>>> ", path.read_text(encoding="utf-8"), re.MULTILINE):
                name = ".".join(path.relative_to(root).with_suffix("").parts)
                found.append(name.removesuffix(".__init__"))
    return found


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.fuzz] * (name in SLOW)) for name in with_examples()],
)
def test_examples(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    needed = NEEDS.get(name)
    if needed is not None and find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed")
    monkeypatch.setenv("FUSELOOM_RUNS", str(tmp_path / "runs.sqlite"))
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    done = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert done.attempted
    assert not done.failed


PUBLIC = [
    *((f"fuseloom.{name}", getattr(fl, name)) for name in fl.__all__ if name != "__version__"),
    *(
        (f"fuseloom_workbench.notebook.{name}", getattr(notebook, name))
        for name in notebook.__all__
    ),
]


@pytest.mark.parametrize(("name", "thing"), PUBLIC, ids=[name for name, _ in PUBLIC])
def test_what_a_public_name_says(name: str, thing: Any) -> None:
    """A summary, an example that is run, and no parameter or attribute that there is not."""
    text = inspect.getdoc(thing)
    assert text
    made = ClassDoc(thing) if inspect.isclass(thing) else FunctionDoc(thing)
    assert made["Summary"], name
    assert any(">>> " in line for line in made["Examples"]), f"{name} has no example"
    assert "+SKIP" not in text
    assert thing.__module__ in with_examples()
    taken = {word.strip("*") for word in inspect.signature(thing).parameters}
    listed = {word.strip(" *") for row in made["Parameters"] for word in row.name.split(",")}
    assert listed <= taken, f"{name} has no {listed - taken}"
