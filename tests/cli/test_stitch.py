"""``fuseloom stitch``: examples and files, limits, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fuseloom.cli import stitch
from fuseloom.cli.main import main
from fuseloom.stitch.examples.models import EXAMPLES, example_text


def _json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["stitch", *arguments, "--json"]) == 0
    made: dict[str, Any] = json.loads(capsys.readouterr().out)
    return made


def test_the_command_knows_the_names_of_the_examples() -> None:
    assert tuple(EXAMPLES) == stitch.EXAMPLES


def test_the_example_of_the_paper_is_one_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    made = _json(capsys, "attention", "--products", "batched")
    (kernel,) = made["kernels"]
    assert kernel["blocks"] == 512
    assert kernel["shared_bytes"] <= 17 * 1024
    assert not kernel["recomputed"]
    assert made["count"] == 1
    assert made["ratio"] == 1 / made["xla_rules"]
    assert made["max_rel_error"] < 1e-4
    apart = _json(capsys, "attention", "--sharing", "none")["kernels"][0]
    by_dominance = _json(capsys, "attention", "--sharing", "dominance")["kernels"][0]
    assert kernel["shared_bytes"] < by_dominance["shared_bytes"]
    assert not by_dominance["recomputed"]
    assert apart["recomputed"]  # of buffers that share nothing not all have room


def test_a_file_is_read_as_an_example_is(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "step.hlo"
    path.write_text(example_text("word2vec"), encoding="utf-8")
    both = [_json(capsys, name) for name in (str(path), "word2vec")]
    assert both[0] == both[1]
    rules = {one["rule"] for one in both[0]["refused"]}
    assert len(rules) > 2


def test_less_shared_memory_means_recomputing_or_more_kernels(
    capsys: pytest.CaptureFixture[str],
) -> None:
    whole, less = (_json(capsys, "attention", "--shared-memory", n) for n in ("20480", "2048"))
    assert less["count"] > 1 or less["kernels"][0]["recomputed"]
    assert less["count"] >= whole["count"]
    assert all((row["shared_bytes"] or 0) <= 2048 for row in less["kernels"])
    assert less["max_rel_error"] < 1e-4


def test_schedules_are_tuned_by_times_that_are_kept(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = tmp_path / "times.sqlite"
    monkeypatch.setenv("FUSELOOM_TIMES", str(times))
    plain = _json(capsys, "word2vec")
    assert {row["predicted"] for row in plain["kernels"]} == {None}
    assert not times.exists()
    made = _json(capsys, "word2vec", "--tune")
    assert times.exists()
    assert made["count"] == plain["count"]
    predicted = [row["predicted"] for row in made["kernels"]]
    assert any(predicted)
    assert all(one is None or one > 0 for one in predicted)
    assert made["max_rel_error"] < 1e-4


def test_a_table_says_what_was_not_fused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stitch", "logistic_regression"]) == 0
    out = capsys.readouterr().out
    assert "by the rules of XLA: 0." in out
    assert "not fused" in out
    assert "call " in out


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "no such file"),
        ("HloModule m\nENTRY main {\n  x = f32[2 parameter(0)\n}\n", "line 3"),
        ("HloModule m\n", "ENTRY"),
        ("", "HloModule"),
    ],
)
def test_what_is_no_module_is_refused(
    text: str | None, says: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "step.hlo"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    assert main(["stitch", str(path)]) == 2
    assert says.lower() in capsys.readouterr().err.lower()


def test_limits_are_positive(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stitch", "attention", "--shared-memory", "0"]) == 2
    assert "at least 1" in capsys.readouterr().err
