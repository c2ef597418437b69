"""``fuseloom stitch`` that writes files: code of kernels, jobs for a GPU, and times of these."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fuseloom.cli import stitch_files
from fuseloom.cli.main import main
from fuseloom.stitch.gpu import cuda_compiler
from fuseloom.stitch.gpu.job import pack_job
from fuseloom.stitch.hlo import print_hlo
from fuseloom.stitch.kernel_code import BACKENDS, KernelLanguage
from tests.stitch.gpu.test_job import content, softmax
from tests.stitch.gpu.test_times import CARD, result_of


@pytest.fixture(autouse=True)
def own_times(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A performance library of this test."""
    monkeypatch.setenv("FUSELOOM_TIMES", str(tmp_path / "times.sqlite"))


def told(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    """The document of a command."""
    assert main(["stitch", *arguments, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_the_command_knows_the_languages() -> None:
    assert tuple(KernelLanguage) == stitch_files.LANGUAGES


@pytest.mark.parametrize("language", KernelLanguage)
def test_code_is_written(
    language: KernelLanguage, capsys: pytest.CaptureFixture[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(cuda_compiler, "find_nvcc", lambda: None)
    folder = tmp_path / "kernels"
    made = told(capsys, "word2vec", "--emit", language.value, "--output", str(folder))
    (one,) = made["emitted"]
    path = Path(one["path"])
    assert path.parent == folder
    assert path.suffix == BACKENDS[language].suffix
    text = path.read_text(encoding="utf-8")
    assert one["functions"]
    assert all(function in text for function in one["functions"].values())
    names = {row["roots"][0] for row in made["kernels"]}
    assert {*one["functions"], *one["left_out"]} == names
    assert one["note"]
    assert main(["stitch", "word2vec", "--emit", language.value, "--output", str(folder)]) == 0
    printed = capsys.readouterr().out
    assert f"written: {path}" in printed
    assert ("not compiled: there is no nvcc" in printed) == (language is KernelLanguage.CUDA)


@pytest.mark.deep
def test_cuda_is_compiled(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    made = told(capsys, "attention", "--emit", "cuda", "--output", str(tmp_path))
    (one,) = made["emitted"]
    assert one["note"] == ""
    assert {use["architecture"] for use in one["resources"]} == {*cuda_compiler.ARCHITECTURES}
    assert {use["shared_bytes"] for use in one["resources"]} == {16_640}
    assert Path(one["path"]).with_suffix(".fatbin").exists()


def test_by_default_folders_have_the_name_of_the_module(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = told(capsys, "attention", "--emit", "c")
    assert Path(made["emitted"][0]["path"]).exists()
    assert [one.name for one in tmp_path.iterdir()] == ["jit_attention-kernels"]


def test_without_a_gpu_a_job_is_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuda_compiler, "gpu_reason", lambda: "there is no driver of CUDA")
    folder = tmp_path / "job"
    made = told(capsys, "logistic_regression", "--gpu", "--output", str(folder))["gpu"]
    assert made["folder"] == str(folder)
    assert made["reason"] == "there is no driver of CUDA"
    assert (made["card"], made["models"], made["wrong"]) == ("", [], [])
    assert made["timed"] > made["kernels"] > 0
    assert made["left_out"]
    assert (folder / "run.py").exists()
    assert main(["stitch", "logistic_regression", "--gpu", "--output", str(folder)]) == 0
    printed = capsys.readouterr().out
    assert "not run: there is no driver of CUDA" in printed
    assert "python run.py" in printed


def test_with_a_gpu_the_job_is_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "module.hlo"
    path.write_text(print_hlo(softmax().module), encoding="utf-8")
    monkeypatch.setattr(cuda_compiler, "gpu_reason", lambda: "")

    def ran(command: Any, *, cwd: Path, **_: Any) -> None:
        assert command[1] == "run.py"
        (cwd / "result.json").write_text(json.dumps(result_of()), encoding="utf-8")

    own = SimpleNamespace(**{**vars(subprocess), "run": ran})
    monkeypatch.setattr(stitch_files, "subprocess", own)
    made = told(capsys, str(path), "--gpu")["gpu"]
    assert (made["card"], made["reason"], made["folder"]) == (CARD, "", "")
    assert made["imported"] == made["timed"]
    assert [one["way"] for one in made["models"]] == ["eager"]
    assert main(["stitch", str(path), "--gpu"]) == 0
    assert f"run on {CARD}, times kept" in capsys.readouterr().out


def test_times_of_a_card_are_kept_and_used(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path, result = tmp_path / "module.hlo", tmp_path / "result.json"
    made = softmax()
    path.write_text(print_hlo(made.module), encoding="utf-8")
    described = content(pack_job(made))["kernels"]
    fast = next(one["schedule"] for one in described if not one["chosen"])
    result.write_text(json.dumps(result_of({fast: 10.0})), encoding="utf-8")
    assert main(["stitch", str(path), "--card", CARD]) == 2
    assert "no times of A card of 2026 are known" in capsys.readouterr().err
    kept = told(capsys, "--import-times", str(result))
    assert (kept["job"], kept["card"], kept["imported"]) == ("made", CARD, len(described))
    (kernel,) = told(capsys, str(path), "--card", CARD)["kernels"]
    assert (kernel["schedule"], kernel["predicted"]) == (fast, 10.0)
    assert main(["stitch", "--import-times", str(result)]) == 0
    assert f"--card '{CARD}'" in capsys.readouterr().out


def test_a_wrong_kernel_is_a_failure(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = result_of()
    found["kernels"][0]["ok"] = False
    result = tmp_path / "result.json"
    result.write_text(json.dumps(found), encoding="utf-8")
    assert told(capsys, "--import-times", str(result), code=1)["wrong"] == ["kernel_0"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "there is no module"),
        (("attention", "--output", "x"), "nothing is written"),
        (("attention", "--emit", "c", "--gpu"), "both write files"),
        (("attention", "--tune", "--card", "x"), "--card by others"),
        (("attention", "--import-times", "x"), "takes no module"),
        (("--import-times", "missing.json"), "missing.json"),
    ],
)
def test_options_that_do_not_go_together(
    arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["stitch", *arguments]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.deep
def test_both_programs_are_timed_and_kept(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FUSELOOM_RUNS", str(tmp_path / "runs.sqlite"))
    made = told(capsys, "logistic_regression", "--keep")["end_to_end"]
    assert 0 < made["fusable_ratio"] <= 1
    assert made["predicted"] == pytest.approx(
        1 + made["fusable_ratio"] * (1 - 1 / made["fusion_speedup"])
    )
    assert main(["runs", "list", "--json"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert len(runs) == 2
    assert main(["stitch", "logistic_regression", "--end-to-end"]) == 0
    assert "speedup of the whole" in capsys.readouterr().out
