"""Kernels of sparse tensor networks on real data: fused beside unfused and n-ary ones.

    python -m benchmarks.networks [--only integrals mttkrp ...] [--quick] [--each 6] [--runs 7]

All kernels of a network run in turns in one process, each checked first; a ratio is one of medians.
Of every scheme to put contractions together, the nests that are expected to be fastest are
measured, and the best of them stands for it.  *Chosen* is the one that is expected to be fastest of
all. *Unfused* has dense intermediates; *by lists* is unfused, too, its intermediates compressed
tensors (what packs them is not counted); *SciPy* multiplies pair by pair.  Integrals need pyscf.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import prod
from pathlib import Path
from statistics import median

from benchmarks.network_data import NetworkProblem, gcn, integrals, mttkrp, ttmc
from fuseloom.contraction.kernels.data import MOST_BYTES, WORD, Data
from fuseloom.contraction.kernels.reference import evaluate
from fuseloom.contraction.kernels.run import KernelMeasurement, kernels, measure
from fuseloom.contraction.loopnest.generate import nest_of
from fuseloom.contraction.ranking import Candidate, FusionScheme, ranked
from fuseloom.contraction.solving.solve import Question
from fuseloom.contraction.tree import ContractionTree
from fuseloom.errors import FuseloomError
from fuseloom.program import parse

LONGEST = 1e10
"""Nanoseconds that a nest may be expected to take."""
SECONDS = 40.0
"""After so long no further round of a network's runs begins."""


@dataclass(frozen=True)
class Contest:
    """The results of a network's kernels: per scheme the best, and the one that was chosen."""

    name: str
    chosen: KernelMeasurement
    best: dict[FusionScheme, KernelMeasurement]
    lists: float | None
    scipy: float | None

    def ratio(self, seconds: float | None) -> str:
        """Return a run's time as a multiple of that of the best fused nest."""
        fused = self.best[FusionScheme.FUSED].seconds
        return f"{seconds / fused:.2f}x" if fused and seconds else "-"

    @property
    def ratios(self) -> list[str]:
        """Of the best n-ary and unfused nests, of lists, and of SciPy."""
        schemes = [self.best.get(scheme) for scheme in (FusionScheme.NARY, FusionScheme.UNFUSED)]
        taken = [None if one is None else one.seconds for one in schemes]
        return [self.ratio(seconds) for seconds in (*taken, self.lists, self.scipy)]

    @property
    def missed(self) -> float:
        """The chosen kernel's time as a multiple of that of the best of all."""
        known = [m.seconds for m in self.best.values() if m.seconds is not None]
        assert self.chosen.seconds is not None
        return self.chosen.seconds / min(known)


def contest(problem: NetworkProblem, each: int, runs: int, others: bool = True) -> Contest:
    """Measure a network's best nests of every scheme."""
    tree = problem.tree
    data = Data(tree, problem.data)
    found = ranked(Question(tree), data.held, levels=data.levels)
    result = WORD * prod(tree.extents[x] for x in tree.result.indices)
    viable = [
        c for c in found.candidates
        if WORD * c.predicted.workspace + result <= MOST_BYTES
        and c.predicted.nanoseconds <= LONGEST
    ]  # fmt: skip
    taken: list[Candidate] = [viable[0]]
    for scheme in FusionScheme:
        most = min(each, 2) if scheme is FusionScheme.NARY else each
        taken += [c for c in viable if c.scheme is scheme][:most]
    nests = list(dict.fromkeys(c.nest for c in taken))
    made = kernels(nests, tree, levels=data.levels)
    named = {str(n): kernel for n, kernel in enumerate(made)}
    times = measure(named, data, runs=runs, seconds=SECONDS)
    by_nest = {nest: times[str(n)] for n, nest in enumerate(nests)}
    wrong = [m for m in by_nest.values() if not m.right]
    assert not wrong, f"{problem.name}: {len(wrong)} kernels are wrong"
    best = {}
    for scheme in FusionScheme:
        own = [by_nest[c.nest] for c in taken if c.scheme is scheme]
        if own:
            best[scheme] = min(own, key=lambda m: m.seconds or float("inf"))
    lists = by_lists(tree, data, viable, runs) if others else None
    scipy = _timed(lambda: evaluate(tree, data.elements), 1) if others else None
    return Contest(problem.name, by_nest[viable[0].nest], best, lists, scipy)


def _timed(work: Callable[[], object], runs: int) -> float:
    taken = []
    for _ in range(runs):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return median(taken)


def by_lists(tree: ContractionTree, data: Data, viable: list[Candidate], runs: int) -> float | None:
    """Seconds of one contraction after the other, each from compressed tensors to a list."""
    total = 0.0
    held = {name: (e.coords, e.values) for name, e in data.elements.items()}
    for contraction in tree.contractions:
        lines = [
            f"{a.tensor}: {'x'.join(str(tree.extents[x]) for x in a.indices)} csf"
            for a in contraction.operands
        ]
        single = ContractionTree.of(parse("\n".join([*lines, str(contraction)])))
        own = Data(single, {a.tensor: held[a.tensor] for a in contraction.operands})
        schemes = ranked(Question(single), own.held, levels=own.levels).candidates[:3]
        try:
            made = kernels([c.nest for c in schemes], single, levels=own.levels, listed=True)
        except FuseloomError:
            return None
        total += min(kernel.time_listed(own, runs) for kernel in made)
        held[contraction.name] = made[0].run_listed(own)
    return total


def report(rows: Iterable[Contest]) -> list[Contest]:
    """Print a table."""
    print(
        f"{'network':46} {'chosen':>9} {'fused':>9} {'n-ary':>8} {'unfused':>8} {'by lists':>8} "
        f"{'SciPy':>8} {'off by':>7} {'workspace':>12}"
    )
    done = []
    for row in rows:
        done.append(row)
        fused = row.best[FusionScheme.FUSED]
        assert fused.seconds is not None
        assert row.chosen.seconds is not None
        wide = row.best.get(FusionScheme.UNFUSED)
        size = f"{fused.workspace_bytes:,}/{wide.workspace_bytes if wide else 0:,}"
        print(
            f"{row.name:46} {row.chosen.seconds * 1e3:6.2f} ms {fused.seconds * 1e3:6.2f} ms "
            f"{' '.join(f'{ratio:>8}' for ratio in row.ratios)} "
            f"{row.missed:6.2f}x {size:>12}",
            flush=True,
        )
    return done


def _integrals(quick: bool) -> list[NetworkProblem]:
    try:
        import pyscf
    except ImportError:
        print("!!! pyscf is not installed (pip install pyscf): NO INTEGRALS ARE MEASURED !!!")
        return []
    print(f"integrals by pyscf {pyscf.__version__}")
    if quick:
        return integrals(3, "weigend", 1e-4)
    dense = integrals(5, "cc-pvqz-ri", 1e-4)[:2]
    return [*dense, *integrals(5, "weigend", 1e-3), *integrals(5, "weigend", 1e-5)]


def _mttkrp(quick: bool) -> list[NetworkProblem]:
    if quick:
        return mttkrp(60, 16)
    # With the frequent tokens alone, fibers are longer.
    return [*mttkrp(600, 32), *mttkrp(600, 64, 1000)]


def _ttmc(quick: bool) -> list[NetworkProblem]:
    return [ttmc(30, 4, 4)] if quick else [ttmc(600, 16, 16, 4000), ttmc(300, 8, 32)]


def _gcn(quick: bool) -> list[NetworkProblem]:
    return [gcn("karate")] if quick else [gcn("karate"), gcn("cora", _FOLDER)]


_FOLDER: Path | None = None
SECTIONS: dict[str, Callable[[bool], list[NetworkProblem]]] = {
    "integrals": _integrals,
    "mttkrp": _mttkrp,
    "ttmc": _ttmc,
    "gcn": _gcn,
}


def speed() -> None:
    """Print the time to solve a tree of ten contractions, and that from a model to a kernel."""
    from fuseloom.contraction.networks import from_einsum
    from fuseloom.contraction.paths import binary

    letters = "abcdefghijkl"
    chain = ",".join(letters[n : n + 2] for n in range(11))
    tree = binary(from_einsum(f"{chain}->{letters[0]}{letters[11]}", dict.fromkeys(letters, 20)))
    seconds = _timed(lambda: list(Question(tree).least()), 1)
    print(f"a tree of {len(tree.contractions)} contractions is solved in {seconds:.2f} s")
    sizes = {"i": 9, "j": 8, "k": 7, "p": 6, "q": 5, "r": 4}

    def model_to_kernel() -> None:
        small = binary(from_einsum("ipq,jpr,kqr,jkr->ijk", sizes))
        *_, answer = Question(small).least()
        assert answer.solution is not None
        # A flag of its own, so that nothing is taken from the cache.
        flags = ("-O3", "-march=native", f"-DRUN={time.time_ns()}")
        kernels([nest_of(answer.solution)], small, flags=flags)

    print(f"from a model to a kernel it takes {_timed(model_to_kernel, 3):.2f} s")


def main() -> None:
    """Measure, and say which targets are reached."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", choices=[*SECTIONS, "speed"])
    parser.add_argument("--quick", action="store_true", help="small data")
    parser.add_argument("--each", type=int, default=6, help="nests of each scheme")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--data-dir", type=Path, help="folder with real graphs")
    options = parser.parse_args()
    global _FOLDER
    _FOLDER = options.data_dir
    chosen = options.only or [*SECTIONS, "speed"]
    for name, problems in SECTIONS.items():
        if name in chosen:
            made = problems(options.quick)
            report(contest(p, options.each, options.runs) for p in made)
    if "speed" in chosen:
        speed()


if __name__ == "__main__":
    main()
