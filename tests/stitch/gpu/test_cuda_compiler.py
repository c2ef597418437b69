"""nvcc: kernels of the examples compile for three architectures, without spills."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuseloom.errors import LoweringError
from fuseloom.stitch.cuda.emitter import cuda_source
from fuseloom.stitch.examples.models import EXAMPLES, read_example
from fuseloom.stitch.frames import fuse_module
from fuseloom.stitch.gpu import cuda_compiler
from fuseloom.stitch.gpu.cuda_compiler import (
    ARCHITECTURES,
    compile_cuda,
    find_nvcc,
    gpu_reason,
    read_resources,
)
from fuseloom.stitch.kernel_code import KernelLanguage, kernel_codes

SAID = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z9variant_1PKfPf' for 'sm_75'
ptxas info    : Function properties for _Z9variant_1PKfPf
    0 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 90 registers, used 1 barriers, 16640 bytes smem, 376 bytes cmem[0]
ptxas info    : Compiling entry function 'plain' for 'sm_90'
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 28 registers, used 0 barriers
"""


LARGE = ("rnn", "birnn", "residual_block")
"""Examples that nvcc compiles for long: in the deep tier for one architecture, or not at all."""


@pytest.mark.deep
@pytest.mark.parametrize(
    ("name", "architectures"),
    [
        *((name, ARCHITECTURES) for name in EXAMPLES if name not in LARGE),
        ("rnn", ("sm_80",)),
        ("residual_block", ("sm_90",)),
        *(pytest.param(name, ARCHITECTURES, marks=pytest.mark.fuzz) for name in LARGE),
    ],
)
def test_kernels_compile_without_spills(
    name: str, architectures: tuple[str, ...], tmp_path: Path
) -> None:
    made = fuse_module(read_example(name))
    shared = {}
    texts = []
    for number, frame in enumerate(made.frames):
        codes = kernel_codes(
            made.module, frame.fusion, KernelLanguage.CUDA, prefix=f"frame{number}"
        )
        texts += [code.text for code in codes if code.text]
        shared |= {code.function: code.phased.plan.byte_size for code in codes if code.phased}
    path = tmp_path / "kernels.fatbin"
    found = compile_cuda(cuda_source(texts), architectures, path)
    assert path.stat().st_size > 0
    assert {(one.function, one.architecture) for one in found} == {
        (function, architecture) for function in shared for architecture in architectures
    }
    for one in found:
        assert one.spill_loads == one.spill_stores == 0, one
        assert 0 < one.registers <= 128, one
        assert shared[one.function] <= one.shared_bytes <= shared[one.function] + 128, one


def test_what_ptxas_says_is_read() -> None:
    first, second = read_resources(SAID)
    assert (first.function, first.architecture, first.registers) == ("variant_1", "sm_75", 90)
    assert (first.spill_stores, first.spill_loads, first.shared_bytes) == (12, 16, 16640)
    assert (second.function, second.architecture, second.shared_bytes) == ("plain", "sm_90", 0)


def test_without_a_compiler_it_says_where_one_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_compiler.shutil, "which", lambda _: None)
    monkeypatch.setattr(cuda_compiler.importlib.util, "find_spec", lambda _: None)
    assert find_nvcc() is None
    with pytest.raises(LoweringError, match="no nvcc") as refused:
        compile_cuda("")
    assert "pip install" in str(refused.value.hint)
    monkeypatch.setenv(cuda_compiler.VARIABLE, "nothing-of-that-name")
    with pytest.raises(LoweringError, match="nothing-of-that-name"):
        find_nvcc()


def test_a_compiler_that_fails_is_heard(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = tmp_path / "nvcc"
    script.write_text("#!/bin/sh\necho 'kernels.cu(1): error: no such thing' >&2\nexit 2\n")
    script.chmod(0o755)
    monkeypatch.setenv(cuda_compiler.VARIABLE, str(script))
    with pytest.raises(LoweringError, match="no such thing"):
        compile_cuda("nonsense")


def test_wheels_are_looked_at(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "nvidia" / "cu13" / "bin" / "nvcc"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(cuda_compiler.shutil, "which", lambda _: None)
    assert find_nvcc() == str(program)


def test_a_gpu_is_there_or_the_reason_is_said() -> None:
    assert gpu_reason() in {
        "", "there is no driver of CUDA", "the driver of CUDA finds no GPU", "there is no nvcc",
    }  # fmt: skip
