"""``fuseloom what-if``: what other channels, latencies and lanes would cost, without a run."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fuseloom.cli.command import Command, positive, print_json
from fuseloom.cli.inputs import CompiledInputs, inputs, program_options
from fuseloom.errors import DataError, UsageError
from fuseloom.results.document import DocumentKind
from fuseloom.wording import counted

if TYPE_CHECKING:
    from fuseloom.cli.documents import WhatIfDocument
    from fuseloom.dataflow.what_if import Variant, WhatIf

MOST_VALUES = 100
"""Values that one option may list: each is an estimate."""
_PAIR = re.compile(r"([A-Za-z_][A-Za-z0-9_']*)=(.+)")


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EXAMPLES
    program_options(parser)
    parser.add_argument(
        "--capacities", type=_numbers, default=(), metavar="N,...",
        help="tokens of the channels that need no more lest data deadlock them, each at least 2",
    )  # fmt: skip
    parser.add_argument(
        "--lanes", type=_several, action="append", default=[], metavar="INDEX=N,...",
        help="deal an index to so many lanes, in every region that has it; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--set", type=_several, action="append", default=[], metavar="SIZE=N,...",
        help="a size of the machine (alu_latency, alu_interval, load_latency, outstanding, ...) "
        "and its values; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--pareto", action="store_true",
        help="which channels cost fewer cycles or fewer bytes on chip than all others, of 2 to "
        "4,096 tokens or those of --capacities; none of them can deadlock on these data",
    )  # fmt: skip
    parser.add_argument(
        "--any-data", action="store_true",
        help="with --pareto: channels that cannot deadlock on any data",
    )  # fmt: skip
    parser.add_argument(
        "--mode", default="auto", metavar="MODE", help="as for the command 'estimate'"
    )


def _numbers(text: str) -> tuple[int, ...]:
    parts = text.split(",")
    if len(parts) > MOST_VALUES:
        raise argparse.ArgumentTypeError(f"{counted(len(parts), 'value')}, at most {MOST_VALUES}")
    return tuple(positive(part) for part in parts)


def _several(text: str) -> tuple[tuple[str, int], ...]:
    pair = _PAIR.fullmatch(text)
    if pair is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=N,...")
    return tuple((pair[1], number) for number in _numbers(pair[2]))


EXAMPLES = """examples:
  fuseloom what-if --model gcn --preset partial --capacities 2,8,64
  fuseloom what-if --model gcn --preset partial --lanes i=2,4 --lanes k=2
  fuseloom what-if --model gcn --machine hbm2 --set load_latency=20,80
  fuseloom what-if --model gcn --preset partial --pareto"""


def _run(options: Any) -> int:
    if not (options.capacities or options.lanes or options.set or options.pareto):
        if options.any_data:
            raise DataError("--any-data goes with --pareto")
        raise UsageError(
            "what-if estimates a program under changes, and none is given: --capacities (of "
            "channels), --lanes, --set (sizes of the machine) or --pareto (the best channels)",
            hint="fuseloom what-if --model gcn --preset partial --capacities 2,64 --lanes i=2,4; "
            "fuseloom what-if --help has more examples",
        )
    given = inputs(options)
    if options.pareto:
        return _pareto(options, given)
    if options.any_data:
        raise DataError("--any-data goes with --pareto")
    from fuseloom.dataflow.what_if import what_if

    found = what_if(
        given.compilation, given.data, machine=given.machine, mode=options.mode,
        capacities=options.capacities,
        lanes=[pair for pairs in options.lanes for pair in pairs],
        settings=[pair for pairs in options.set for pair in pairs],
    )  # fmt: skip
    if options.json:
        _print_json(given, found, None)
    else:
        print(f"{given.heading}{found}")
    return 0


def _pareto(options: Any, given: CompiledInputs) -> int:
    if options.lanes or options.set:
        raise DataError("--pareto is of channels only", hint="leave out --lanes and --set")
    from fuseloom.dataflow.what_if import CAPACITIES, WhatIf, capacity_pareto, what_if

    front = capacity_pareto(
        given.compilation, given.data, machine=given.machine, mode=options.mode,
        capacities=options.capacities or CAPACITIES, any_data=options.any_data,
    )  # fmt: skip
    now = what_if(given.compilation, given.data, machine=given.machine, mode=options.mode)
    if options.json:
        _print_json(given, now, front)
    else:
        print(f"{given.heading}{WhatIf(now.base, front)}")
    return 0


def _print_json(given: CompiledInputs, found: WhatIf, pareto: Sequence[Variant] | None) -> None:
    content: WhatIfDocument = {
        "name": given.compilation.program.name,
        "data": given.source,
        "base": found.base,
        "variants": found.variants,
        "pareto": pareto,
    }
    print_json(DocumentKind.WHAT_IF, content)


WHAT_IF = Command(_declare, _run)
