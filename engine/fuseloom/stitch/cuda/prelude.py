"""CUDA functions that generated kernels call: those of the C, with the mathematics of CUDA.

What is different where there is no GPU is a macro, so that the same file can be compiled for the
processor (``cuda_on_cpu.hpp``).
"""

from __future__ import annotations

from fuseloom.stitch.c.prelude import BITS_AND_BF16, INCLUDES, functions_of_types
from fuseloom.stitch.c.scalars import C_FUNCTIONS, OWN_FUNCTIONS

LAUNCH = r"""
#ifndef LAUNCH
#define LAUNCH(kernel, blocks, threads, ...) \
    kernel<<<(blocks), (threads)>>>(__VA_ARGS__); return (int)cudaGetLastError()
#endif
"""
_LOGISTIC = """
static inline float logistic_f32(float x) { return 1.0f / (1.0f + exp_f32(-x)); }
static inline double logistic_f64(double x) { return 1.0 / (1.0 + exp(-x)); }
"""


def _mathematics() -> str:
    made = [
        f"static inline float {own}(float x) {{ return {C_FUNCTIONS[opcode]}f(x); }}"
        for opcode, own in OWN_FUNCTIONS.items()
    ]
    return "\n".join([*made, ""])


def _on_device(text: str) -> str:
    return text.replace("static inline ", "static __device__ inline ")


CUDA_FUNCTIONS = _on_device(BITS_AND_BF16 + _mathematics() + _LOGISTIC + functions_of_types())
"""Functions that the CUDA of kernels may call."""
BEFORE = INCLUDES + LAUNCH
"""The beginning of a file."""
