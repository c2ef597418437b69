"""What the command line does with graphs of other tools: simulate them, and write ours for them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine.cli.explain import as_json, explanation, observation, write_trace
from engine.cli.inputs import only_file
from engine.cli.limits import limits_of
from engine.cli.machine import machine_of
from engine.dataflow.compiler import Compilation
from engine.dataflow.samml.exchange import (
    Imported,
    TensorFolder,
    export_sam,
    export_tortilla,
    graph_from_json,
    graph_to_json,
    import_sam_text,
    import_tortilla,
)
from engine.dataflow.samml.exchange.tensor_folder import write_bytes
from engine.dataflow.samml.exchange.tortilla_export import GRAPH_FILE
from engine.dataflow.sim.explain.perfetto import TracedRegion
from engine.dataflow.sim.imported_runs import DenseCheck, ImportedRun, run_imported
from engine.errors import DataError, GraphError, SimulationError
from engine.program.arrays import operand_shapes, read_npz, store_operand
from engine.program.storage import StoredTensor

MAX_FILE = 64 << 20
MAX_TOKENS = 1_000_000_000
"""Most tokens of a run: a file may ask for more than anybody can wait for."""
SHOWN = 12
"""Elements of a result that are printed."""


# Simulating -----------------------------------------------------------------------------------


def simulate_file(options: Any) -> int:
    """Run the graph of ``--sam``, ``--tortilla`` or ``--graph``; 1 if its check fails."""
    _check_options(options)
    machine = machine_of(options.machine)
    if options.capacity == "sized":
        raise SimulationError(
            "capacities can be computed only where the sizes of all indices are known",
            hint="give --capacity a number; 'sized' goes with a program",
        )
    if options.capacity is not None:
        machine = replace(machine, channel_capacity=options.capacity)
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
    check = None if expected is None else run.check(expected)
    traced = [TracedRegion(run.imported.graph.name, run.result, run.path)]
    write_trace(options, traced)
    if options.json:
        explain = {"explain": as_json(traced, machine)} if options.explain else {}
        print(json.dumps({**_as_json(run, check), **explain}))
    else:
        _print(run, check)
        if options.trace:
            print(f"\n{run.trace}")
        if options.explain:
            print(f"\n{explanation(traced, machine)}")
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
    for name in ("file", "model", "data", "data_dir", "preset", "schedule"):
        if getattr(options, name) is not None:
            option = "program file" if name == "file" else "--" + name.replace("_", "-")
            raise GraphError(
                f"a graph from a file takes no {option}",
                hint="fuseloom simulate --sam G.gv --tensors D.npz",
            )


def _read(options: Any) -> tuple[Imported, Mapping[str, StoredTensor], Any]:
    """The imported graph, its data, and the dense result to expect, if the data hold one."""
    tensors_file = only_file(options)
    if options.tortilla:
        path = options.tortilla / GRAPH_FILE if options.tortilla.is_dir() else options.tortilla
        content = _bytes(path)
        folder = TensorFolder(tensors_file or path.parent)
        if not folder.path.is_dir():
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
        imported = import_sam_text(text, shapes, source=str(path))
    else:
        imported = graph_from_json(text, shapes)
    data = {
        name: store_operand(tensor, arrays, zeros=name not in imported.zeroless)
        for name, tensor in imported.tensors.items()
    }
    return imported, data, arrays.get("expected")


def _bytes(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_FILE:
            raise GraphError(f"{path} is larger than {MAX_FILE >> 20} MiB")
        return path.read_bytes()
    except OSError as problem:
        raise GraphError(f"cannot read {path}: {problem.strerror}") from None


def _text(path: Path) -> str:
    try:
        return _bytes(path).decode("utf-8")
    except UnicodeDecodeError:
        raise GraphError(f"{path} is not UTF-8 text") from None


def _as_json(run: ImportedRun, check: DenseCheck | None) -> dict[str, Any]:
    return {
        "graph": run.imported.graph.name,
        "machine": run.machine.name,
        "cycles": run.cycles,
        "tokens": run.tokens,
        "flops": run.work.flops,
        "bytes": run.work.bytes,
        "repairs": [
            {"rule": r.rule.name, "node": r.node, "change": r.change, "why": r.why}
            for r in run.imported.repairs
        ],
        "outputs": {t.name: _output(run, t.name) for t in run.imported.outputs},
        "check": None
        if check is None
        else {
            "ok": check.ok,
            "max_rel_error": check.max_rel_error if check.ok else None,
            "message": str(check),
        },
        "ok": check is None or check.ok,
        "seconds": run.seconds,
    }


def _output(run: ImportedRun, name: str) -> dict[str, Any]:
    """A result by coordinates, and level by level as the writers hold it."""
    levels, values = run.written(name)
    made: dict[str, Any] = {"levels": levels, "level_values": _numbers(values)}
    if name in run.problems:
        return {**made, "problem": run.problems[name]}
    stored = run.outputs[name]
    coords, vals = stored.to_coo()
    return {
        "shape": stored.tensor.shape,
        "coordinates": coords.tolist(),
        "values": _numbers(vals),
        **made,
    }


def _numbers(values: Iterable[float]) -> list[float | None]:
    """Values as JSON has them, which knows no infinity."""
    return [float(v) if math.isfinite(v) else None for v in values]


def _print(run: ImportedRun, check: DenseCheck | None) -> None:
    for repair in run.imported.repairs:
        print(f"repaired: {repair}")
    print(f"{run.imported.graph.name}: {run.cycles:,} cycles, {run.tokens:,} tokens, "
          f"{run.work.flops:,.0f} FLOPs, {run.work.bytes:,.0f} bytes")  # fmt: skip
    for tensor in run.imported.outputs:
        if tensor.name in run.problems:
            print(f"{tensor.name} is no tensor: {run.problems[tensor.name]}")
            continue
        stored = run.outputs[tensor.name]
        coords, values = stored.to_coo()
        shape = "x".join(map(str, tensor.shape)) or "scalar"
        print(f"{tensor.name}: {shape}, {len(values):,} values")
        for point, value in list(zip(coords.tolist(), values, strict=True))[:SHOWN]:
            print(f"  [{','.join(map(str, point))}] {value:g}")
        if len(values) > SHOWN:
            print("  ...")
    if check is not None:
        print(f"{check}; simulated in {run.seconds:.2f} s")


# Exporting ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Written:
    """One region's files, ready to be written."""

    region: str
    path: Path
    notes: tuple[str, ...]
    write: Callable[[], None]


def export(options: Any, compilation: Compilation, data: Mapping[str, StoredTensor]) -> int:
    """Write the graphs of a compiled program as ``--export`` and ``--output`` say.

    Nothing is written if one of them cannot be.
    """
    if options.export is None or options.output is None:
        raise GraphError("--export and --output go together",
                         hint="--export sam --output graph.gv")  # fmt: skip
    if data and options.export == "tortilla" and len(compilation.regions) > 1:
        from engine.dataflow.sim.program_runs import simulate

        data = {**data, **simulate(compilation, data).outputs}  # later regions read earlier ones'
    files = [
        _exported(options, compilation, number, data) for number in range(len(compilation.regions))
    ]
    for file in files:
        file.write()
        if not options.json:
            print(f"{file.region}: {file.path}")
            for note in file.notes:
                print(f"  {note}")
    if options.json:
        written = [{"region": f.region, "path": str(f.path), "notes": f.notes} for f in files]
        print(json.dumps({"written": written}))
    return 0


def _exported(
    options: Any, compilation: Compilation, number: int, data: Mapping[str, StoredTensor]
) -> _Written:
    region, tensors = compilation.regions[number], compilation.program.by_name
    path: Path = options.output
    if len(compilation.regions) > 1:
        path = path.with_name(f"{path.stem}-{number + 1}{path.suffix}")
    match options.export:
        case "sam":
            sam = export_sam(region.graph, tensors, strict=options.strict)
            content, notes = sam.text.encode(), sam.notes
        case "tortilla":
            made = export_tortilla(region.graph, tensors)
            if options.strict and made.warnings:
                raise GraphError(str(made.warnings[0]), hint="leave out --strict")
            texts = tuple(map(str, made.notes))
            return _Written(region.name, path, texts, lambda: made.save(path, data))
        case _:
            content, notes = graph_to_json(region.graph, tensors).encode(), ()
    return _Written(region.name, path, tuple(map(str, notes)), lambda: write_bytes(path, content))
