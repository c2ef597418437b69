"""Simulating graphs of other tools, and of ours, from files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fuseloom.cli.edges import EDGE_OPTIONS
from fuseloom.cli.explain import explanation, observation, write_trace
from fuseloom.cli.inputs import only_file
from fuseloom.cli.limits import limits_of
from fuseloom.cli.machine import machine_for
from fuseloom.cli.tables import energy_line
from fuseloom.dataflow.samml.exchange import (
    ImportedGraph,
    TensorFolder,
    graph_from_json,
    import_sam,
    import_tortilla,
)
from fuseloom.dataflow.samml.exchange.tortilla_export import GRAPH_FILE
from fuseloom.dataflow.sim.explain.data import Detail
from fuseloom.dataflow.sim.imported_runs import ImportedRun, run_imported
from fuseloom.dataflow.sim.records import graph_record, traced_regions
from fuseloom.errors import DataError, GraphError, SimulationError
from fuseloom.program import regular_files
from fuseloom.program.arrays import operand_shapes, read_npz, store_operand
from fuseloom.program.storage import StoredTensor
from fuseloom.results.check import Check
from fuseloom.wording import counted

MAX_FILE = 64 << 20
MAX_TOKENS = 1_000_000_000
"""Most tokens of a run: a file may ask for more than anybody can wait for."""
_CALLED = {"file": "program file", "sizes": "--with"}
SHOWN = 12
"""Elements of a result that are printed."""


def simulate_file(options: Any) -> int:
    """Run the graph of ``--sam``, ``--tortilla`` or ``--graph``; 1 if its check fails."""
    _check_options(options)
    machine = machine_for(options)
    if options.capacity == "sized":
        raise SimulationError(
            "capacities can be computed only where the sizes of all indices are known",
            hint="give --capacity a number; 'sized' goes with a program",
        )
    imported, data, expected = _read(options)
    run = run_imported(
        imported,
        data,
        machine,
        engine=options.engine,
        observe=observation(options),
        limits=limits_of(options, MAX_TOKENS),
        lenient=options.tortilla is not None,
    )
    check = None if expected is None or options.no_check else run.check(expected)
    write_trace(options, traced_regions(run))
    detail = Detail(nodes=options.trace, outputs=options.json)
    record = graph_record(run, check, detail)
    if options.json:
        print(record.to_json())
    else:
        _print(run, check)
        if options.trace:
            print(f"\n{run.trace}")
        if options.explain:
            print(f"\n{explanation(record)}")
    return 0 if check is None or check.ok else 1


def _check_options(options: Any) -> None:
    given = [name for name in ("sam", "tortilla", "graph") if getattr(options, name)]
    if len(given) != 1:
        raise GraphError(
            "--block goes with --tortilla" if not given
            else f"give one of {', '.join(f'--{name}' for name in given)}",
            hint="fuseloom simulate --sam G.gv --tensors D.npz",
        )  # fmt: skip
    if options.block and not options.tortilla:
        raise GraphError("--block goes with --tortilla", hint="leave it out")
    if options.keep:
        raise GraphError("--keep goes with a program", hint="leave it out")
    if options.area:
        raise GraphError("--area goes with a program", hint="leave it out")
    others = ("file", "model", "sizes", "data", "data_dir", "preset", "schedule")
    for name in (*others, *EDGE_OPTIONS):
        if getattr(options, name) is not None:
            option = _CALLED.get(name, "--" + name.replace("_", "-"))
            raise GraphError(
                f"a graph from a file takes no {option}",
                hint="fuseloom simulate --sam G.gv --tensors D.npz",
            )


def _read(options: Any) -> tuple[ImportedGraph, Mapping[str, StoredTensor], Any]:
    """The imported graph, its data, and the dense result to expect, if the data hold one."""
    tensors_file = only_file(options)
    if options.tortilla:
        path = options.tortilla
        if regular_files.is_folder(path):
            path = path / GRAPH_FILE
        content = _bytes(path)
        folder = TensorFolder(tensors_file or path.parent)
        if not regular_files.is_folder(folder.path):
            raise DataError(f"{folder.path} is no folder",
                            hint="--tensors names the folder of the graph's tensors")  # fmt: skip
        made = import_tortilla(content, folder, options.block)
        tensors = made.imported.tensors
        data = {name: folder.load(tensors[name], files) for name, files in made.files.items()}
        return made.imported, data, None
    if tensors_file is None:
        raise DataError("the graph needs data", hint="give --tensors FILE.npz")
    path = options.sam or options.graph
    text = _text(path)
    arrays = read_npz(tensors_file)
    shapes = operand_shapes(arrays)
    if options.sam:
        imported = import_sam(text, shapes, source=str(path))
    else:
        imported = graph_from_json(text, shapes)
    data = {
        name: store_operand(tensor, arrays, zeros=name not in imported.zeroless)
        for name, tensor in imported.tensors.items()
        if tensor.made is None
    }
    return imported, data, arrays.get("expected")


def _bytes(path: Path) -> bytes:
    return regular_files.content(path, MAX_FILE, error=GraphError)


def _text(path: Path) -> str:
    return regular_files.text(path, MAX_FILE, error=GraphError)


def _print(run: ImportedRun, check: Check | None) -> None:
    for repair in run.imported.repairs:
        print(f"{repair.heading}: {repair}")
    print(f"{run.imported.graph.name}: {counted(run.cycles, 'cycle')}, "
          f"{counted(run.tokens, 'token')}, "
          f"{counted(run.work.flops, 'FLOP')}, {counted(run.work.bytes, 'byte')}")  # fmt: skip
    print(energy_line(run.energy))
    for tensor in run.imported.outputs:
        if tensor.name in run.problems:
            print(f"{tensor.name} is no tensor: {run.problems[tensor.name]}")
            continue
        stored = run.outputs[tensor.name]
        coords, values = stored.to_coo()
        shape = "x".join(map(str, tensor.shape)) or "scalar"
        print(f"{tensor.name}: {shape}, {counted(len(values), 'value')}")
        for point, value in list(zip(coords.tolist(), values, strict=True))[:SHOWN]:
            print(f"  [{','.join(map(str, point))}] {value:g}")
        if len(values) > SHOWN:
            print("  ...")
    if check is not None:
        print(f"{check}; simulated in {run.seconds:.2f} s")
