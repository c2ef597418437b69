"""The health report of a server."""

from __future__ import annotations

from fuseloom.cli.serve import BUDGETS


def test_health_counts(server):
    status, headers, _ = server.get("/health")
    assert (status, headers["Content-Type"]) == (200, "application/json")
    report = server.health()
    assert report["status"] == "ready"
    assert report["memory"] > 1 << 20
    assert {"pages", "workers", "runs", "runs_waiting", "seconds"} <= set(report)
    assert set(report["limits"]) == {name.replace("-", "_") for name in BUDGETS}
