"""The processor as a machine of records."""

from __future__ import annotations

from fuseloom.results.cpu import NANOSECOND, cpu


def test_a_processor_is_the_same_machine_each_time() -> None:
    assert cpu() == cpu()
    assert cpu().name.startswith("CPU ")
    assert len(cpu().fingerprint) == 64
    assert NANOSECOND * 1e9 == 1
