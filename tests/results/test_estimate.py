"""Expected totals."""

from __future__ import annotations

from fuseloom.results.estimate import EstimateTotals, RegionTotals


def test_an_estimate_prints_its_totals() -> None:
    made = EstimateTotals((RegionTotals("T", 10.4, 1234.0, 5.0), RegionTotals("H", 1.0, 1.0, 1.0)))
    assert (made.cycles, made.flops, made.bytes) == (11.4, 1235.0, 6.0)
    assert str(made).splitlines() == [
        "region                           cycles          FLOPs          bytes",
        "T                                    10          1,234              5",
        "H                                     1              1              1",
        "total                                11          1,235              6",
    ]
    assert made.to_dict()["regions"][0] == {
        "name": "T", "cycles": 10.4, "flops": 1234.0, "bytes": 5.0
    }  # fmt: skip
