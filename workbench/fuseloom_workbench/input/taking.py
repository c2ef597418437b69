"""The handling of an uploaded file: data of a tensor, a program, a session, or a run."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from fuseloom.errors import DataError, FuseloomError, ProgramError
from fuseloom.frontends.files import CoordinateTensor
from fuseloom.program.printer import print_program
from fuseloom_workbench.base.quantities import count
from fuseloom_workbench.input.graphs import read_text, simulated
from fuseloom_workbench.input.kinds import KNOWN, FileKind
from fuseloom_workbench.input.tensors import tensors_of
from fuseloom_workbench.state import edits, files, saving
from fuseloom_workbench.state.design import Design
from fuseloom_workbench.state.edits import with_program
from fuseloom_workbench.state.files import Upload
from fuseloom_workbench.state.session import Session


def take(session: Session, path: Path, kind: FileKind, name: str) -> dict[str, Any]:
    """Take over a file; what there is to say of it.

    Raises
    ------
    FuseloomError
        If it is refused; the design is as before.
    """
    match kind:
        case FileKind.PROGRAM:
            return _program(session, read_text(path), name)
        case FileKind.MODEL:
            return _model(session, path, name)
        case FileKind.MLIR:
            return _mlir(session, read_text(path), name)
        case FileKind.JSON:
            return _json(session, read_text(path), name)
        case FileKind.SAM:
            return _graph(session, read_text(path), False, name)
        case FileKind.COMAL:
            raise DataError(
                "a Comal graph keeps its tensors in a folder beside it, which a page cannot read",
                hint="fuseloom simulate --tortilla FOLDER simulates both",
            )
    if kind is FileKind.NPZ and session.graph_text:
        text, is_json = session.graph_text
        told = simulated(text, is_json, path, session.machine)
        session.graph_text = ()
        return {"message": f"The graph was simulated on the operands of {name}.", **told}
    return _tensors(session, tensors_of(path, kind, name.split(".")[0] or "tensor"), name)


# Tensors -------------------------------------------------------------------------------------


def _tensors(session: Session, found: dict[str, CoordinateTensor], name: str) -> dict[str, Any]:
    """Bind tensors to those of the program that they fit, or ask which one."""
    program = session.built.program
    shapes = {tensor: program.tensor(tensor).shape for tensor in program.given}
    known = [
        Upload(tensor, "", name) for tensor, held in found.items()
        if shapes.get(tensor) == held.shape
    ]  # fmt: skip
    if len(known) < len(found) and len(found) > 1:
        odd = next(t for t in found if t not in {u.tensor for u in known})
        have = "no input" if odd not in shapes else f"{_sizes(shapes[odd])} in the program"
        raise ProgramError(
            f"array {odd}, {_sizes(found[odd].shape)}, is {have}",
            hint=f"name the arrays as the inputs are: {_inputs(shapes)}",
        )
    if len(found) > 1:
        uploads = [replace(u, key=files.put(found[u.tensor])) for u in known]
        told = {note: None for held in found.values() for note in held.notes}
        return _noted(_bound(session, uploads), told)
    ((_, held),) = found.items()
    fits = [tensor for tensor, shape in shapes.items() if shape == held.shape]
    if not fits:
        raise ProgramError(
            f"{_sizes(held.shape)} is the shape of no input ({_inputs(shapes)})",
            hint="change the sizes in the program's text, or transpose the data",
        )
    key = files.put(held)
    if len(fits) == 1:
        return _noted(_bound(session, [Upload(fits[0], key, name)]), held.notes)
    about = f"{_sizes(held.shape)}, {count(held.nnz, 'stored elements')}"
    asked = {"message": f"{about}: which tensor is it?"}
    return {"state": "choose", "key": key, "fits": fits, **_noted(asked, held.notes)}


def _noted(told: dict[str, Any], notes: Iterable[str]) -> dict[str, Any]:
    """With what became of the file, where there is something to say."""
    said = "; ".join(notes)
    return {**told, "message": f"{told['message']} The file: {said}."} if said else told


def bind(session: Session, tensor: str, key: str, label: str) -> None:
    """Let an input of the program have the values of a file that has come."""
    try:
        if tensor not in session.built.program.given:
            raise ProgramError(f"the program has no input {tensor!r}")
        shape = session.built.program.tensor(tensor).shape
        if files.shape_of(key, label) != shape:
            raise ProgramError(
                f"{label} is {_sizes(files.shape_of(key, label))}, {tensor} is {_sizes(shape)}"
            )
        told = _bound(session, [Upload(tensor, key, label)])
    except FuseloomError as reason:
        session.refuse(reason, "input")
        return
    session.received = {**session.received, "state": "done", **told}


def unbind(session: Session, tensor: str) -> None:
    """Let an input have its own data again."""
    uploads = tuple(u for u in session.design.uploads if u.tensor != tensor)
    session.edit(lambda: replace(session.design, uploads=uploads), "input")


def _bound(session: Session, new: list[Upload]) -> dict[str, Any]:
    held = {u.tensor: files.get(u.key, u.label) for u in new}
    told = "; ".join(
        f"{tensor} has {count(tensor_held.nnz, 'stored elements')} of {_sizes(tensor_held.shape)}"
        for tensor, tensor_held in held.items()
    )
    uploads = files.bound(session.design.uploads, new)
    _granted(session, replace(session.design, uploads=uploads), f"{told}, from {new[0].label}.")
    return {"message": f"{told}. Undo goes back."}


def _sizes(shape: tuple[int, ...]) -> str:
    return "×".join(f"{size:,}" for size in shape)


def _inputs(shapes: dict[str, tuple[int, ...]]) -> str:
    some = [f"{name} {_sizes(shape)}" for name, shape in shapes.items()]
    return ", ".join(some[:6]) + (f" and {len(some) - 6} more" if len(some) > 6 else "")


# Texts ---------------------------------------------------------------------------------------


def _granted(session: Session, design: Design, told: str) -> None:
    """Show a design, or pass on why it cannot be."""
    refused: list[FuseloomError] = []
    if not session.edit(lambda: design, "input", told, refused=refused):
        raise refused[0]


def _program(session: Session, text: str, name: str) -> dict[str, Any]:
    if "\0" in text:
        raise DataError("a file of an unknown kind", hint=f"known: {KNOWN}")
    session.bounded(text)
    design = with_program(session.built, text)
    session.check_size(design)
    _granted(session, design, f"The program of {name} is shown; Undo goes back.")
    return {
        "message": f"A program of {count(len(session.built.program.statements), 'statements')}."
    }


def _model(session: Session, path: Path, name: str) -> dict[str, Any]:
    """Show the model of an archive, with its data and presets."""
    design = edits.started(files.keep_model(path), None, 0, None, session.machine)
    program = design.source.model.program
    session.bounded(print_program(program))
    session.check_size(design)
    _granted(session, design, f"The model of {name} is shown; Undo goes back.")
    return {"message": f"A model of {count(len(program.statements), 'statements')}."}


def _mlir(session: Session, text: str, name: str) -> dict[str, Any]:
    from fuseloom.frontends.mlir import from_mlir

    imported = from_mlir(text)
    random = list(imported.wanted)
    if imported.lookups:
        imported = imported.bind(imported.drawn())
    program = str(imported.program)
    session.bounded(program)
    design = with_program(session.built, program)
    session.check_size(design)
    design = edits.with_schedule(replace(design, uploads=()), imported.schedule)
    held = []
    for tensor, stored in imported.data.items():
        coords, values = stored.to_coo()
        values_of = CoordinateTensor.of(
            coords.astype("int64"), values.astype("float64"), stored.tensor.shape, tensor
        )
        held.append(Upload(tensor, files.put(values_of), name))
    _granted(
        session, replace(design, uploads=tuple(held)),
        f"The functions of {name} are shown, a region each; Undo goes back.",
    )  # fmt: skip
    told = f"; random data for {', '.join(random)}" if random else ""
    return {
        "message": f"A program of {count(len(imported.program.statements), 'statements')}{told}."
    }


def _json(session: Session, text: str, name: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except RecursionError:
        raise DataError("it is nested too deeply to be a saved session") from None
    except ValueError as problem:
        raise DataError(f"it is no JSON: {str(problem)[:200]}") from None
    if isinstance(content, dict) and "nodes" in content and "design" not in content:
        return _graph(session, text, True, name)
    if not isinstance(content, dict) or "design" not in content:
        raise DataError("JSON that is neither a saved session nor a graph",
                        hint="fuseloom compile --export json writes graphs")  # fmt: skip
    try:
        saving.restore(session, content)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError):
        raise DataError("a saved session that is damaged", hint="save it once more") from None
    session.answers += 1
    return {"message": "The saved session is shown."}


def _graph(session: Session, text: str, is_json: bool, name: str) -> dict[str, Any]:
    """Keep a graph until its operands come; what it is can be told now."""
    if not is_json:
        from fuseloom.dataflow.samml.exchange.dotfile import parse_dot

        parse_dot(text, name)
    session.graph_text = (text, is_json)
    return {
        "message": "A graph of another compiler: it cannot be shown as a design, and is simulated "
        "as it is. Now upload its operands as .npz: B_coords, B_vals and B_shape for each, or "
        "dense arrays, and expected if there is a result to compare with."
    }
