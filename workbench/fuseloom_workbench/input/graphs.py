"""Graphs of another compiler: simulated on the operands of an archive, as the command line does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fuseloom.dataflow.machine import Machine
from fuseloom.errors import FuseloomError
from fuseloom_workbench.base.quantities import count
from fuseloom_workbench.input.tensors import check_unpacked

MOST_TOKENS = 20_000_000
"""Tokens of a run that a page waits for."""
SHOWN = 12


def simulated(text: str, is_json: bool, operands: Path, machine: Machine) -> dict[str, Any]:
    """Simulate the graph, and return its cycles and results as plain data.

    Raises
    ------
    FuseloomError
        If the graph is none, an operand is missing, or the run is refused.
    """
    # the page shall not load the simulator's kernels
    from fuseloom.dataflow.samml.exchange import graph_from_json, import_sam
    from fuseloom.dataflow.sim.imported_runs import run_imported
    from fuseloom.dataflow.sim.reports import Limits
    from fuseloom.program.arrays import operand_shapes, read_npz, store_operand

    check_unpacked(operands)
    arrays = read_npz(operands)
    shapes = operand_shapes(arrays)
    imported = graph_from_json(text, shapes) if is_json else import_sam(text, shapes)
    data = {
        name: store_operand(tensor, arrays, zeros=name not in imported.zeroless)
        for name, tensor in imported.tensors.items()
        if tensor.made is None
    }
    run = run_imported(imported, data, machine, limits=Limits(tokens=MOST_TOKENS))
    lines = [
        f"{imported.graph.name}: {count(run.cycles, 'cycles')}, {count(run.tokens, 'tokens')}, "
        f"{count(run.work.flops, 'FLOPs')}, {count(run.work.bytes, 'bytes')}, "
        f"{count(len(imported.graph.nodes), 'nodes')}, machine {machine.name}"
    ]
    lines += [f"{repair.heading}: {repair}" for repair in imported.repairs]
    for tensor in imported.outputs:
        if tensor.name in run.problems:
            lines.append(f"{tensor.name} is no tensor: {run.problems[tensor.name]}")
            continue
        coords, values = run.outputs[tensor.name].to_coo()
        some = list(zip(coords.tolist(), values.tolist(), strict=True))[:SHOWN]
        told = ", ".join(f"[{','.join(map(str, at))}] {value:g}" for at, value in some)
        more = f" and {len(values) - SHOWN:,} more" if len(values) > SHOWN else ""
        lines.append(f"{tensor.name}: {count(len(values), 'values')}: {told}{more}")
    if (expected := arrays.get("expected")) is not None:
        lines.append(str(run.check(expected)))
    return {"lines": lines}


def read_text(path: Path) -> str:
    """The text of a file.

    Raises
    ------
    FuseloomError
        If it is not UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise FuseloomError(
            f"byte {problem.start:,} is no UTF-8 text", hint="save the file as UTF-8"
        ) from None
