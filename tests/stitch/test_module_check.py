"""Kernels of modules against their meaning, and modules that cannot be run."""

from __future__ import annotations

import pytest

from fuseloom.codegen import shared_objects
from fuseloom.stitch.frames import fuse_module
from fuseloom.stitch.hlo import read_hlo
from fuseloom.stitch.module_check import ModuleCheck, check_module

TEXT = """HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[6,8] parameter(0)
  e = f32[6,8] exponential(x)
  zero = f32[] constant(0)
  s = f32[6] reduce(e, zero), dimensions={1}, to_apply=add
  w = f32[6,8] broadcast(s), dimensions={0}
  ROOT d = f32[6,8] divide(e, w)
}
"""


def test_kernels_that_are_right() -> None:
    found = check_module(fuse_module(read_hlo(TEXT)))
    assert found.ok
    assert found.compiled == 1
    assert not ModuleCheck(0.1, 1).ok


def test_what_has_no_meaning_is_not_compared() -> None:
    text = TEXT.replace("exponential(x)", 'custom-call(x), custom_call_target="f"')
    found = check_module(fuse_module(read_hlo(text)))
    assert (found.max_rel_error, found.compiled) == (None, 0)
    assert "custom-call" in found.reason
    assert found.ok


def test_without_a_compiler_nothing_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_objects.shutil, "which", lambda name: None)
    found = check_module(fuse_module(read_hlo(TEXT)))
    assert found.max_rel_error is None
    assert "compiler" in found.reason
