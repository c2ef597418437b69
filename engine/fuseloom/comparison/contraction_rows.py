"""A program as a tensor network: loop nests of this processor, unfused, n-ary and fused."""

from __future__ import annotations

from collections.abc import Iterator

from fuseloom.comparison.problem import ComparedProgram
from fuseloom.comparison.rows import ComparisonRow, FusionSystem, refused_rows
from fuseloom.contraction.kernels.data import Data
from fuseloom.contraction.kernels.run import count_products, kernels, measure
from fuseloom.contraction.loopnest.ir import Assign, walk
from fuseloom.contraction.ranking import Candidate, FusionScheme, ranked
from fuseloom.contraction.solving.solve import Question
from fuseloom.contraction.tree import ContractionTree
from fuseloom.errors import FuseloomError


def contraction_rows(problem: ComparedProgram) -> Iterator[ComparisonRow]:
    """Return a row for each scheme of combining contractions: its nest that is expected fastest.

    Kernels are loop nests that run one after another; what they share is in workspaces, which count
    as bytes between.  The code itself counts arithmetic: an addition per assignment, and a
    multiplication less than it has operands.
    """
    problem.progress("contraction")
    try:
        rows = list(_rows(problem))
    except FuseloomError as refusal:
        ways = [scheme.value for scheme in _ORDER]
        rows = list(refused_rows(FusionSystem.CONTRACTION, ways, refusal))
    yield from rows


def _rows(problem: ComparedProgram) -> Iterator[ComparisonRow]:
    tree = ContractionTree.of(problem.program)
    data = Data(tree, {name: problem.data[name] for name in tree.given})
    best: dict[FusionScheme, Candidate] = {}
    for candidate in ranked(Question(tree), data.held).candidates:
        best.setdefault(candidate.scheme, candidate)
    chosen = [best[scheme] for scheme in _ORDER if scheme in best]
    made = kernels([one.nest for one in chosen], tree, levels=data.levels)
    times = measure(
        {one.scheme.value: kernel for one, kernel in zip(chosen, made, strict=True)}, data,
        runs=problem.rounds, seconds=problem.seconds,
    )  # fmt: skip
    unfused: int | None = None
    for one, kernel in zip(chosen, made, strict=True):
        times_run = count_products(one.nest, tree, data, levels=data.levels)
        flops = sum(
            len(part.operands) * times_run[part.out.tensor]
            for part in walk(one.nest)
            if isinstance(part, Assign)
        )
        unfused = flops if unfused is None else unfused
        (output,) = problem.program.outputs
        error = problem.error({output: kernel.run(data)})
        taken = times[one.scheme.value]
        yield ComparisonRow(
            FusionSystem.CONTRACTION, one.scheme.value, applies=True,
            kernels=len(tree.contractions) if one.scheme is FusionScheme.UNFUSED else 1,
            bytes_between=kernel.workspace_bytes,
            recompute=flops / unfused if unfused else None, flops=flops,
            predicted=one.predicted.nanoseconds * 1e-9, predicted_unit="s",
            measured_seconds=taken.seconds, max_rel_error=error,
        )  # fmt: skip


_ORDER = (FusionScheme.UNFUSED, FusionScheme.NARY, FusionScheme.FUSED)
