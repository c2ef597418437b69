"""Functions that CUDA kernels call: all that those of C may call, on the device."""

from __future__ import annotations

import re

from fuseloom.stitch.c.prelude import with_prelude
from fuseloom.stitch.c.scalars import OWN_FUNCTIONS
from fuseloom.stitch.cuda.emitter import cuda_source
from fuseloom.stitch.cuda.prelude import BEFORE, CUDA_FUNCTIONS

NAMES = re.compile(r"(?m)^static [^=;{]*?(\w+)\(")


def test_what_scalars_call_is_there_and_on_the_device() -> None:
    names = {*NAMES.findall(CUDA_FUNCTIONS)}
    assert {*OWN_FUNCTIONS.values()} <= names
    assert {"maximum_f32", "to_s32", "half_of", "clamped", "logistic_f64"} <= names
    assert CUDA_FUNCTIONS.count("static __device__ inline") == CUDA_FUNCTIONS.count("static ")


def test_only_what_is_called_is_written_with_what_that_calls() -> None:
    made = cuda_source(["float f(float x) { return logistic_f32(x); }"])
    assert {*NAMES.findall(made)} == {"logistic_f32", "exp_f32"}
    assert made.startswith(BEFORE)
    assert NAMES.findall(cuda_source(["int f(int x) { return x; }"])) == []
    of_c = with_prelude(["float f(uint16_t x) { return of_half(x); }"])
    assert {*NAMES.findall(of_c)} == {"of_half", "float_of"}
