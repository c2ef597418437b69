"""Registries: loaded when they are read, complete then, and nothing twice."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fuseloom.dataflow.samml.registry import Registry
from fuseloom.errors import GraphError

STARTED = """
import sys
from fuseloom.dataflow.cost.rules import RULES
loaded = lambda: [name for name in sys.modules if name.endswith(".expected")]
assert not loaded(), loaded()
assert "scan" in RULES
assert loaded()
"""


def test_a_primitive_without_what_it_needs_is_refused() -> None:
    kernels: Registry[int] = Registry("nothing", "kernel", lambda entry: entry.kernels.names)
    for name in ("root", "source", "sink"):
        kernels.add(name, 1)
    with pytest.raises(GraphError, match="'scan' has no kernel of the name 'scan'") as caught:
        len(kernels)
    assert "fuseloom.dataflow.primitives.<family>.nothing" in str(caught.value.hint)


def test_a_name_is_registered_once() -> None:
    registry: Registry[int] = Registry("nothing", "sentence", lambda entry: ())
    assert registry.registers("a", "b")(3) == 3
    assert dict(registry) == {"a": 3, "b": 3}
    with pytest.raises(GraphError, match="two sentences of the name 'a'"):
        registry.add("a", 4)


def test_something_else_stands_under_a_name_for_a_while() -> None:
    registry: Registry[int] = Registry("nothing", "sentence", lambda entry: ())
    registry.add("a", 3)
    with registry.instead({"a": 4, "b": 5}):
        assert dict(registry) == {"a": 4, "b": 5}
    assert dict(registry) == {"a": 3}


def test_families_are_loaded_when_they_are_asked_for() -> None:
    done = subprocess.run(
        [sys.executable, "-c", STARTED], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
