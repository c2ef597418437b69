"""Runs of networks in the store: kept once, beside the others, and found again."""

from __future__ import annotations

from pathlib import Path

from fuseloom.contraction.kernels.data import Data
from fuseloom.contraction.kernels.run import kernels, measure
from fuseloom.contraction.occupancy import Occupancy
from fuseloom.contraction.random_data import scattered
from fuseloom.contraction.ranking import ranked
from fuseloom.contraction.shipped import shipped
from fuseloom.contraction.solving.solve import Question
from fuseloom.exploration.network_runs import keep
from fuseloom.exploration.store import RunStore


def test_a_run_is_kept_once(tmp_path: Path) -> None:
    tree = shipped("MTTKRP")
    elements = scattered(tree, 0.01)
    data = Data(tree, elements)
    held = {n: Occupancy(c, tree.program.tensor(n).shape) for n, (c, _) in elements.items()}
    best = ranked(Question(tree), held).candidates[0]
    (kernel,) = kernels([best.nest], tree)
    with RunStore(tmp_path / "runs.sqlite") as store:
        for _ in range(2):
            found = measure({"best": kernel}, data, runs=1)["best"]
            record = keep(store, best, kernel, found, data, "random", "MTTKRP")
        (run,) = store.runs()
        whole = store.get(run.key)
        assert (run.label.name, run.label.data) == (f"MTTKRP, {best.scheme.value}", "random")
        assert run.label.machine == record.machine.name
        assert run.label.estimated == best.predicted.nanoseconds
        assert whole is not None
        assert whole.record is not None
        assert whole.record.schedule == str(best.nest)
        assert whole.record.ok
        other = Data(tree, scattered(tree, 0.01, seed=1))
        keep(store, best, kernel, measure({"b": kernel}, other, runs=1)["b"], other)
        assert len(store.runs()) == 2
