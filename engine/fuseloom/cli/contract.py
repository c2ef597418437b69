"""``fuseloom contract``: a sparse tensor network on this machine's CPU."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from fuseloom.cli.command import Command, natural, positive, print_json
from fuseloom.cli.networks import is_einsum, tree_of
from fuseloom.errors import UsageError
from fuseloom.results.document import DocumentKind
from fuseloom.wording import agreeing, counted, duration

if TYPE_CHECKING:
    from fuseloom.cli.documents import ContractionDocument, LoopNest, SolverAnswer
    from fuseloom.contraction.kernels.data import Data
    from fuseloom.contraction.kernels.run import KernelMeasurement, NestKernel
    from fuseloom.contraction.ranking import Candidate, RankedCandidates
    from fuseloom.contraction.solving.solve import SolverResult
    from fuseloom.contraction.tree import ContractionTree
    from fuseloom.frontends.files import CoordinateTensor

MEASURED = 8
"""The number of nests, from the one expected to be fastest, that are compiled and run."""
SHOWN = 12


def _declare(parser: argparse.ArgumentParser) -> None:
    given = parser.add_argument
    given(
        "network",
        help="an einsum string, e.g. ij,jk->ik, the name of a network that is shipped, or a file "
        "with a program",
    )
    given("--extents", default="", metavar="I=N,...", help="the size of each index")
    given(
        "--tree", metavar="TREE", help="how to contract, e.g. '((A B) C)'; operands are A, B, ..."
    )
    given(
        "--optimiser", choices=("opt_einsum", "cotengra"),
        help="let one of these choose the tree",
    )  # fmt: skip
    given(
        "--tensors", action="append", default=[], metavar="NAME=FILE",
        help="an operand from .mtx, .tns, .npy, .npz (SciPy, PyData sparse), .parquet, .csv, .tsv, "
        ".txt or .edges, packed or not; its sizes are those of the indices. May be repeated; "
        "operands that are not given are random",
    )  # fmt: skip
    given(
        "--density", action="append", default=[], metavar="D|NAME=D",
        help="of each operand's random elements, or of one operand's (default: 0.1)",
    )  # fmt: skip
    given("--seed", type=natural, default=0, help="of the random elements (default: 0)")
    given(
        "--bound", type=natural, metavar="L",
        help="most dimensions of an intermediate (default: the least for which there is a "
        "solution, and one more)",
    )  # fmt: skip
    given("--bytes", type=positive, metavar="N", help="most bytes of an intermediate")
    given(
        "--pin", action="append", default=[], metavar="TEXT",
        help="ask for loops or layouts: 'outermost i', 'loops X1: i,j', 'layout A: k,i'",
    )  # fmt: skip
    given(
        "--encoding", choices=("paper", "released"), default="paper",
        help="the constraints of the paper's text, or of its program",
    )  # fmt: skip
    given(
        "--most", type=positive, default=600, metavar="N",
        help="solutions to look at per bound (default: 600)",
    )  # fmt: skip
    given(
        "--measure", type=natural, default=MEASURED, metavar="N",
        help="nests to compile, check and run: the N that are expected to be fastest, and the "
        f"solver's first (default: {MEASURED})",
    )  # fmt: skip
    given("--nest", action="store_true", help="print the loops of the best")
    given(
        "--keep", action="store_true", help="keep what is measured as runs (see the command 'runs')"
    )
    given("--json", action="store_true", help="one JSON document")


def _run(options: Any) -> int:
    from fuseloom.contraction.given import read_operands
    from fuseloom.contraction.kernels.data import Data
    from fuseloom.contraction.random_data import scattered
    from fuseloom.contraction.ranking import fastest_first, ranked
    from fuseloom.contraction.solving.encoding import Encoding
    from fuseloom.contraction.solving.pins import Pin
    from fuseloom.contraction.solving.solve import Question

    read = read_operands(options.tensors)
    for note in read.notes:
        _say(note)
    tree = tree_of(options, read.tensors)
    for c in tree.outer_products:
        _say(f"{c} is an outer product: its operands share no index")
    _check_bound(options.bound, tree)
    pins = tuple(map(Pin.parse, options.pin))
    encoding = Encoding(options.encoding)
    question = Question(tree, encoding, options.bytes, pins=pins)
    names = dict.fromkeys(tree.given)
    unknown = next((name for name in read.random if name not in names), None)
    if unknown is not None:
        raise UsageError(
            f"the network has no operand {unknown}", hint=f"operands: {', '.join(names)}"
        )
    made_up = [name for name in names if name not in read.tensors]
    elements = {n: _elements(options, t) for n, t in read.tensors.items()}
    random = scattered(tree, _densities(options.density, names), options.seed, made_up)
    data = Data(tree, {**elements, **random})
    found = ranked(question, data.held, bound=options.bound, most=options.most)
    measured, made = _measured(found, tree, data, options.measure)
    if options.keep:
        _keep(found, measured, made, data, options)
    order = fastest_first(found.candidates, {n: m.seconds for n, m in measured.items()})
    right = all(m.right for m in measured.values())
    if options.json:
        print_json(DocumentKind.CONTRACTION, _content(found, order, measured, tree))
        return 0 if right else 1
    _print(found, order, measured, tree, options)
    return 0 if right else 1


def _say(note: str) -> None:
    print(f"fuseloom: {note}", file=sys.stderr)


def _check_bound(bound: int | None, tree: ContractionTree) -> None:
    most = max((len(a.indices) for a in tree.intermediates), default=0)
    if bound is not None and bound > most:
        raise UsageError(
            f"no intermediate has {counted(bound, 'dimension')}",
            hint=f"--bound {most} asks nothing, a smaller one asks for loops to be shared",
        )


def _elements(options: Any, tensor: CoordinateTensor) -> Any:
    """Elements alone where an einsum string has the sizes, which may be larger than the file's."""
    return (tensor.coords, tensor.values) if is_einsum(options.network) else tensor


def _densities(given: list[str], names: Iterable[str]) -> dict[str, float]:
    """Per operand the density of its random elements.

    Raises
    ------
    UsageError
        Of what is no density, or no operand's.
    """
    found = dict.fromkeys(names, 0.1)
    named: dict[str, float] = {}
    for text in given:
        name, one, number = text.rpartition("=")
        try:
            density = float(number)
        except ValueError:
            raise UsageError(
                f"{text[:40]!r} is no density", hint="write e.g. --density 0.1, --density B=1"
            ) from None
        if not one:
            found = dict.fromkeys(found, density)
        elif name in found:
            named[name] = density
        else:
            raise UsageError(
                f"the network has no operand {name[:40]}", hint=f"operands: {', '.join(found)}"
            )
    return {**found, **named}


def _measured(
    found: RankedCandidates, tree: ContractionTree, data: Data, most: int
) -> tuple[dict[int, KernelMeasurement], dict[int, NestKernel]]:
    """The runs of the candidates that are expected to be fastest, and of the solver's first."""
    from fuseloom.contraction.kernels.run import kernels, measure

    if not most:
        return {}, {}
    numbers = [*range(min(most, len(found.candidates)))]
    numbers += [n for n, c in enumerate(found.candidates) if c.first and n not in numbers]
    made = kernels([found.candidates[n].nest for n in numbers], tree, levels=data.levels)
    if made[0].built.said:
        _say(made[0].built.said)
    runs = measure({str(n): k for n, k in zip(numbers, made, strict=True)}, data)
    return {int(name): one for name, one in runs.items()}, dict(zip(numbers, made, strict=True))


def _keep(
    found: RankedCandidates,
    measured: Mapping[int, KernelMeasurement],
    made: Mapping[int, NestKernel],
    data: Data,
    options: Any,
) -> None:
    """Put the runs whose results are right into the run store."""
    from fuseloom.exploration.network_runs import keep
    from fuseloom.exploration.store import RunStore

    files = ", ".join(options.tensors)
    label = files or f"random, density {', '.join(options.density) or '0.1'}, seed {options.seed}"
    with RunStore() as store:
        for number, one in measured.items():
            if one.right:
                candidate = found.candidates[number]
                keep(store, candidate, made[number], one, data, label, options.network)


def _content(
    found: RankedCandidates,
    order: list[int],
    measured: Mapping[int, KernelMeasurement],
    tree: ContractionTree,
) -> ContractionDocument:
    return {
        "contractions": [str(c) for c in tree.contractions],
        "extents": tree.extents,
        "bound": found.bound,
        "answers": [_answer(a) for a in found.answers],
        "complete": found.complete,
        "alike": found.alike,
        "solutions": [_solution(found.candidates[n], measured.get(n)) for n in order],
    }


def _answer(answer: SolverResult) -> SolverAnswer:
    return {
        "bounds": answer.bounds,
        "verdict": answer.verdict.value,
        "variables": answer.variables,
        "constraints": answer.constraints,
        "seconds": answer.seconds,
        "blockers": [str(b) for b in answer.blockers],
    }


def _solution(candidate: Candidate, measured: KernelMeasurement | None) -> LoopNest:
    predicted = candidate.predicted
    return {
        "way": candidate.scheme.value,
        "first": candidate.first,
        **candidate.solution.to_dict(),
        "nest": str(candidate.nest),
        "predicted": predicted.nanoseconds * 1e-9,
        "products": predicted.products,
        "workspace": predicted.workspace,
        "measured": None if measured is None else measured.seconds,
        "max_rel_error": None if measured is None else measured.max_rel_error,
    }


def _print(
    found: RankedCandidates,
    order: list[int],
    measured: Mapping[int, KernelMeasurement],
    tree: ContractionTree,
    options: Any,
) -> None:
    from fuseloom.contraction.loopnest.ir import indented

    print(tree)
    for answer in found.answers:
        bounds = max(answer.bounds.values(), default=0)
        print(
            f"at most {counted(bounds, 'dimension')}: {answer.verdict.value} "
            f"({counted(answer.variables, 'variable')}, "
            f"{counted(answer.constraints, 'constraint')}, {answer.seconds * 1e3:.0f} ms)"
        )
        for blocker in answer.blockers:
            print(f"  {blocker}")
    whole = "" if found.complete else ", of more than were looked at"
    give = agreeing(found.alike, "gives", "give")
    same = f"; {counted(found.alike, 'more solution')} {give} one of these" if found.alike else ""
    print(f"{counted(len(order), 'nest')}{whole}{same}")
    print(f"{'way':8} {'expected':>11} {'measured':>11} {'largest error':>14}  loops")
    for n in order[:SHOWN]:
        one, candidate = measured.get(n), found.candidates[n]
        took = "" if one is None else "wrong" if one.seconds is None else duration(one.seconds)
        off = "" if one is None else f"{one.max_rel_error:.1e}"
        loops = "; ".join(
            f"{name}: {','.join(candidate.solution.loops[name])}"
            for name in candidate.solution.sequence
        )
        first = "  (the solver's first)" if candidate.first else ""
        expected = duration(candidate.predicted.nanoseconds * 1e-9)
        print(f"{candidate.scheme.value:8} {expected:>11} {took:>11} {off:>14}  {loops}{first}")
    if options.nest:
        print(indented(found.candidates[order[0]].nest))


CONTRACT = Command(_declare, _run)
