"""Modules that ``fuseloom stitch`` refuses, and unusual ones that it does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fuseloom.cli.main import main

SUM = """
sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
"""
LESS = """
less { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] subtract(a, b) }
"""


def module(lines: str, before: str = "") -> str:
    """A module whose main computation has some lines."""
    return f"HloModule m\n{before}\nENTRY main {{\n{lines}\n}}\n"


REFUSED = {
    "no text": ("", "line 1, column 1"),
    "an operand that is missing": (module("ROOT y = f32[3] negate(x)"), "line 4,"),
    "a bracket that is not closed": (module("x = f32[3 parameter(0)"), "line 4,"),
    "extents known in a run": (module("ROOT x = f32[<=8] parameter(0)"), "line 4,"),
    "nine dimensions and more": (
        module(f"ROOT x = f32[{','.join(['1'] * 40)}] parameter(0)"), "more than"
    ),
    "a negative extent": (module("ROOT x = f32[-3] parameter(0)"), "line 4,"),
    "a type that is none": (module("ROOT x = f33[3] parameter(0)"), "line 4,"),
    "one name twice": (
        module("x = f32[3] parameter(0)\nx = f32[3] negate(x)\nROOT y = f32[3] abs(x)"), "line 5,"
    ),
    "a computation that is missing": (
        module(
            "x = f32[3] parameter(0)\nz = f32[] constant(0)\n"
            "ROOT y = f32[] reduce(x, z), dimensions={0}, to_apply=nothing"
        ),
        "nothing",
    ),
}  # fmt: skip
READ = {
    "no elements": (
        module("x = f32[0,4] parameter(0)\nROOT y = f32[0,4] exponential(x)"), "", False
    ),
    "doubles": (module("x = f64[8] parameter(0)\nROOT y = f64[8] exponential(x)"), "", True),
    "bf16": (module("x = bf16[8] parameter(0)\nROOT y = bf16[8] exponential(x)"), "", True),
    "bytes": (module("x = s8[8] parameter(0)\nROOT y = s8[8] multiply(x, x)"), "", True),
    "several results": (
        module(
            "x = f32[8] parameter(0)\ny = f32[8] negate(x)\nz = f32[4,2] reshape(x)\n"
            "e = f32[4,2] exponential(z)\nROOT t = (f32[8], f32[4,2]) tuple(y, e)"
        ),
        "", True,
    ),
    "a reduction that is not associative": (
        module(
            "x = f32[8,4] parameter(0)\nz = f32[] constant(0)\n"
            "ROOT y = f32[8] reduce(x, z), dimensions={1}, to_apply=less", LESS
        ),
        "", False,
    ),
    "an extent that is prime": (
        module(
            "x = f32[7,11] parameter(0)\nz = f32[] constant(0)\n"
            "s = f32[7] reduce(x, z), dimensions={1}, to_apply=sum\n"
            "w = f32[7,11] broadcast(s), dimensions={0}\nROOT y = f32[7,11] divide(x, w)", SUM
        ),
        "", True,
    ),
    "an opcode that is not known": (
        module("x = f32[8] parameter(0)\nu = f32[8] wobble(x)\nROOT y = f32[8] exponential(u)"),
        "wobble", False,
    ),
    "a call of another library": (
        module(
            'x = f32[8] parameter(0)\nu = f32[8] custom-call(x), custom_call_target="other"\n'
            "ROOT y = f32[8] exponential(u)"
        ),
        "code of another library", False,
    ),
    "random numbers": (
        module(
            "a = f32[] constant(0)\nb = f32[] constant(1)\n"
            "u = f32[8] rng(a, b), distribution=rng_uniform\nROOT y = f32[8] exponential(u)"
        ),
        "random numbers", False,
    ),
}  # fmt: skip


def written(folder: Path, text: str) -> str:
    """The path of a file with a text."""
    path = folder / "module.hlo"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_module_is_refused_at_its_place(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text, said = REFUSED[name]
    assert main(["stitch", written(tmp_path, text)]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.out == ""


@pytest.mark.parametrize("name", READ)
def test_what_is_unusual_is_fused_or_said(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text, reason, compiled = READ[name]
    assert main(["stitch", written(tmp_path, text)]) == 0
    assert reason in capsys.readouterr().out
    assert main(["stitch", written(tmp_path, text), "--json"]) == 0
    made: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert made["count"] >= (name != "no elements")
    assert (made["max_rel_error"] is None) == bool(reason)
    assert (made["compiled"] > 0) is compiled
    assert not made["max_rel_error"] or made["max_rel_error"] < 1e-2


def test_files_that_are_none(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "binary.hlo"
    path.write_bytes(b"\xff\xfe\x00")
    for name in (str(tmp_path), str(tmp_path / "missing.hlo"), str(path)):
        assert main(["stitch", name]) == 2
        assert name in capsys.readouterr().err


def test_blocks_have_a_number_that_hardware_has(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = module("x = f32[65536,65536] parameter(0)\nROOT y = f32[65536,65536] exponential(x)")
    assert main(["stitch", written(tmp_path, text), "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    (kernel,) = made["kernels"]
    assert kernel["blocks"] < 2**31
    assert made["max_rel_error"] is None  # more than may be computed to compare


@pytest.mark.parametrize("limit", ["0", "-1", "much"])
def test_shared_memory_is_a_number_of_bytes(limit: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stitch", "attention", "--shared-memory", limit]) == 2
    assert "--shared-memory" in capsys.readouterr().err
