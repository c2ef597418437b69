"""The choice of the fastest nest by the estimate, and the weights that improve it.

    python -m benchmarks.ranking [--nests 20] [--runs 15] [--keep FILE.json]

Of each network with data, nests are measured: those expected to be fastest, and others drawn from
all that are expected to take up to 30 times as long.  *Off by* is the time of the one that is
expected to be fastest, relative to the best that was measured.  Weights are then found anew, by
least squares of relative errors, and *held out* is how far off the choice is by weights that were
found on the networks of other families alone.  What was measured may be kept and read again.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import lsq_linear

from benchmarks.network_data import NetworkProblem, gcn, integrals, mttkrp, ttmc
from fuseloom.contraction.cost import NAMES, Weights
from fuseloom.contraction.kernels.data import MOST_BYTES, WORD, Data
from fuseloom.contraction.kernels.run import kernels, measure
from fuseloom.contraction.random_data import scattered
from fuseloom.contraction.ranking import ranked
from fuseloom.contraction.shipped import shipped
from fuseloom.contraction.solving.solve import Question

SLOWER = 30.0
"""The largest expected time of a measured nest, as a multiple of the best."""
SECONDS = 12.0
GUESS = Weights(2.0, 0.8, 0.3, 3.0, 0.25, 0.8, 1.1, 1.0, 5.0, 0.1)
"""The weights before anything was measured."""
PULL = 0.1
"""The pull of a weight towards the guess, against an error of a network's best."""


@dataclass(frozen=True)
class Measurements:
    """Nests of a network: amounts of their work, and seconds."""

    name: str
    nests: list[str]
    amounts: list[list[float]]
    seconds: list[float]

    @property
    def family(self) -> str:
        """The family whose weights are held out together."""
        return self.name.split()[0].rstrip(",")

    def off(self, weights: Weights) -> float:
        """Return the time of the choice by some weights as a multiple of the best."""
        times = np.array(self.amounts) @ np.array(astuple(weights))
        return self.seconds[int(np.argmin(times))] / min(self.seconds)


def problems() -> Iterator[NetworkProblem]:
    """Networks with data whose kernels take milliseconds."""
    try:
        yield from integrals(3, "weigend", 1e-4)
        yield from integrals(5, "weigend", 1e-3)[:2]
    except ImportError:
        print("!!! pyscf is not installed (pip install pyscf): NO INTEGRALS ARE MEASURED !!!")
    yield from mttkrp(60, 16)
    yield from mttkrp(200, 50, 500)
    yield ttmc(30, 4, 4)
    yield ttmc(100, 8, 8, 500)
    yield gcn("karate")
    yield gcn("cora")
    for name, density in [
        ("running example", 0.3),
        ("3-index unrestricted", 0.2),
        ("4-index", 0.1),
        ("4-index", 0.5),
        ("TTMc", 0.05),
    ]:
        tree = shipped(name)
        label = f"random {name}, density {density:g}"
        yield NetworkProblem(label, tree, scattered(tree, density, 1))


def measured(problem: NetworkProblem, nests: int, runs: int) -> Measurements:
    """Half of the nests are those expected to be fastest, the others drawn."""
    tree = problem.tree
    data = Data(tree, problem.data)
    found = ranked(Question(tree), data.held, levels=data.levels).candidates
    room = MOST_BYTES - WORD * int(np.prod([tree.extents[x] for x in tree.result.indices]))
    least = found[0].predicted.nanoseconds
    viable = [
        c for c in found
        if WORD * c.predicted.workspace <= room and c.predicted.nanoseconds <= SLOWER * least
    ]  # fmt: skip
    taken, rest = viable[: nests // 2], viable[nests // 2 :]
    taken += random.Random(0).sample(rest, min(len(rest), nests - len(taken)))
    made = kernels([c.nest for c in taken], tree, levels=data.levels)
    named = {str(n): kernel for n, kernel in enumerate(made)}
    times = measure(named, data, runs=runs, seconds=SECONDS)
    # Of the processor: what else a machine does stalls short kernels.
    seconds = [times[str(n)].cpu_seconds for n in range(len(taken))]
    assert None not in seconds, problem.name
    amounts = [list(astuple(c.predicted.amounts)) for c in taken]
    texts = [str(c.nest) for c in taken]
    return Measurements(problem.name, texts, amounts, [s or 0.0 for s in seconds])


def fitted(held: Sequence[Measurements]) -> Weights:
    """Weights of least squares of relative errors, every network counting alike; none below 0."""
    rows, wanted = [], []
    for one in held:
        amounts, seconds = np.array(one.amounts), np.array(one.seconds)
        # What is as fast as the best counts most: that is where a choice is made.
        close = np.sqrt(seconds.min() / seconds / len(seconds))
        rows.append(amounts * 1e-9 / seconds[:, None] * close[:, None])
        wanted.append(close)
    matrix, target = np.concatenate(rows), np.concatenate(wanted)
    scale = np.maximum(np.abs(matrix).max(axis=0), 1e-30)
    # Drawn a little to the guess, where nothing that was measured tells of a weight.
    prior = np.array(astuple(GUESS))
    pull = PULL * np.diag(1 / prior)
    found = lsq_linear(
        np.concatenate([matrix / scale, pull / scale]),
        np.concatenate([target, np.full(len(prior), PULL)]),
        bounds=(0, np.inf),
    )
    return Weights(*(found.x / scale))


def main() -> None:
    """Measure, tell, and fit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nests", type=int, default=20)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--keep", type=Path, help="file with what was measured")
    options = parser.parse_args()
    held: list[Measurements] = []
    if options.keep is not None and options.keep.exists():
        kept: Any = json.loads(options.keep.read_text())
        held = [Measurements(**one) for one in kept]
    else:
        for problem in problems():
            held.append(measured(problem, options.nests, options.runs))
            print(f"{problem.name}: {len(held[-1].seconds)} nests", flush=True)
        if options.keep is not None:
            options.keep.write_text(json.dumps([asdict(one) for one in held]))
    every = fitted(held)
    print(f"{'network':44} {'nests':>5} {'best':>9} {'off by':>7} {'held out':>8} {'fitted':>7}")
    figures = []
    for one in held:
        apart = fitted([other for other in held if other.family != one.family])
        figures.append((one.off(Weights()), one.off(apart), one.off(every)))
        now, out, all_in = figures[-1]
        print(
            f"{one.name:44} {len(one.seconds):5} {min(one.seconds) * 1e3:6.2f} ms {now:6.2f}x "
            f"{out:7.2f}x {all_in:6.2f}x"
        )
    for label, column in zip(("as it is", "held out", "fitted"), zip(*figures, strict=True),
                             strict=True):  # fmt: skip
        good = sum(x <= 1.3 for x in column)
        print(f"{label}: {good} of {len(column)} at most 1.3x, the worst {max(column):.2f}x")
    print("weights as they are, and fitted:")
    for name, old, new in zip(NAMES, astuple(Weights()), astuple(every), strict=True):
        print(f"  {name}: {old:.3g} {new:.3g}")


if __name__ == "__main__":
    main()
