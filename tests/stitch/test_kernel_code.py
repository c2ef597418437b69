"""Code of kernels in each language, and the reasons where there is none."""

from __future__ import annotations

import pytest

from fuseloom.stitch.examples.models import read_example
from fuseloom.stitch.frames import fuse_module
from fuseloom.stitch.kernel_code import BACKENDS, KernelLanguage, kernel_codes


def test_every_language_has_a_back_end() -> None:
    assert [*BACKENDS] == [*KernelLanguage]
    suffixes = [backend.suffix for backend in BACKENDS.values()]
    assert len({*suffixes}) == len(suffixes)


@pytest.mark.parametrize("language", KernelLanguage)
def test_kernels_are_written_or_the_reason_is(language: KernelLanguage) -> None:
    made = fuse_module(read_example("word2vec"))
    fusion = made.frames[0].fusion
    codes = kernel_codes(made.module, fusion, language, prefix="some")
    assert [one.kernel for one in codes] == [one.name for one in fusion.kernels]
    assert len({one.function for one in codes}) == len(codes)
    for one in codes:
        assert bool(one.text) == (one.phased is not None) == (not one.reason)
        assert one.function.startswith("some_")
        assert one.function in one.text or one.reason
    source = BACKENDS[language].source([one.text for one in codes if one.text])
    assert all(one.text in source for one in codes)
