"""The steps so far, what the rail offers, the last answer and the selection, as plain data."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any
from urllib.parse import urlencode

from fuseloom.dataflow.machine import PRESETS, Machine
from fuseloom.dataflow.machine.text import print_machine
from fuseloom_workbench.base.parts import page_part
from fuseloom_workbench.base.quantities import count, ratio
from fuseloom_workbench.shell.finding import finds
from fuseloom_workbench.shell.to_compare import to_compare
from fuseloom_workbench.state.machines import machine_label, machine_text
from fuseloom_workbench.state.records import KeptRun, standin_text
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.state.sources import ARCHIVED, fitting_data, model_names
from fuseloom_workbench.state.steps import DesignStep

OWN = "edited"
"""The name of an edited program in the choice of models."""
LONGEST_ADDRESS = 6_000
"""Characters of an address that every browser and server takes."""
NEAR = 20
"""Steps that are told on either side of the one shown; the others are counted."""


@page_part("trail")
def trail(session: Session) -> dict[str, Any]:
    """Steps with their factors against those before, this design's address, what is found."""
    every, here = session.trail
    first = max(0, here - NEAR)
    steps, at = every[first : here + NEAR + 1], here - first
    factors = ["", *(_factor(a, b) for a, b in pairwise(steps))]
    return {
        "trail": [
            {
                "name": step.name or "…",
                "factor": factor,
                "better": factor != "" and (step.cycles or 0) <= (before.cycles or 0),
                "hint": _hint(step, before, factor),
            }
            for step, before, factor in zip(steps, [steps[0], *steps], factors, strict=False)
        ],
        "at": at,
        "earlier": first,
        "later": len(every) - first - len(steps),
        "undo": session.travels[0],
        "redo": session.travels[1],
        "address": address(session),
        "stays": stays(session),
        "compare": to_compare(session),
        "finds": finds(session),
    }


def _factor(before: DesignStep, step: DesignStep) -> str:
    """Return the speed-up over the step before; empty if the two cannot be compared."""
    if not before.cycles or not step.cycles or before.problem != step.problem:
        return ""
    return ratio(before.cycles / step.cycles)


def _hint(step: DesignStep, before: DesignStep, factor: str) -> str:
    if step.cycles is None:
        return "a step of a saved session"
    text = f"{step.name}: estimated {count(step.cycles, 'cycles')}"
    return f"{text}, {factor} the speed of {before.name or 'the step before'}" if factor else text


def address(session: Session) -> str:
    """The query of an address that opens this design on its machine, without its runs.

    Empty where the program is too long for an address.  Files do not travel: see :func:`stays`.
    """
    design = session.design
    words = {"model": design.model, "data": design.data, **dict(design.options)}
    if design.text is not None:
        words["program"] = design.text
    machine = design.machine
    if machine != Machine.default():
        known = machine_label(machine) in PRESETS
        words["machine"] = machine.name if known else print_machine(machine)
    if design.as_written:
        words["run"] = str(session.built.schedule)
    elif session.built.preset_name:
        words["preset"] = session.built.preset_name
    else:
        words["schedule"] = str(session.built.schedule)
    query = "?" + urlencode({name: str(value) for name, value in words.items()})
    return query if len(query) <= LONGEST_ADDRESS else ""


def stays(session: Session) -> str:
    """Name the parts of a design that an address leaves out; empty if it carries everything."""
    if not address(session):
        return "The program is too long for an address: Save writes the session to a file instead"
    here = ARCHIVED.fullmatch(session.design.model) is not None
    kept = "for this server only, as long as it keeps the model's file" if here else ""
    names = [upload.tensor for upload in session.design.uploads]
    if not names:
        return kept
    files = f"the {'file' if len(names) == 1 else 'files'} of {', '.join(names)}"
    whose = "its" if len(names) == 1 else "their"
    told = f"without {files}: who opens it gives {whose} values again, under Input"
    return f"{kept}; {told}" if kept else told


@page_part("rail")
def rail(session: Session) -> dict[str, Any]:
    """Models, data, machines, presets and runs, and which of them are shown."""
    design, loaded = session.design, session.built.loaded
    fitting = fitting_data(design.model)
    machines = list(PRESETS)
    label = machine_label(design.machine)
    known = label in machines
    edited = design.text is not None
    runs = list(enumerate(session.records.values()))
    names = model_names()
    models = [*names] if design.model in names else [design.model, *names]
    return {
        "model": OWN if edited else design.model,
        "models": [OWN, *models] if edited else models,
        "data": design.data,
        "datas": list(fitting) if design.data in fitting else [*fitting, design.data],
        "about": _about(session),
        "standin": standin_text(loaded.label) if loaded.standin else "",
        "machine": label,
        "machines": machines if known else [*machines, label],
        "memory": machine_text(design.machine),
        "presets": [_preset(session, name) for name in session.presets],
        "lacking": "" if session.presets else _no_presets(session),
        "runs": [_run(session, number, run) for number, run in reversed(runs)],
    }


def _about(session: Session) -> str:
    built = session.built
    kernels = sum(not unit.memory for unit in built.units)
    text = f"{built.loaded.label}. {count(kernels, 'kernels')}."
    design = session.design
    if design.text is not None:
        shipped = replace(design, text=None).source.model.program
        common = set(built.program.statements) & set(shipped.statements)
        text = f"{f'Edited from {design.model}.' if common else 'Your own program.'} {text}"
    return text


def _no_presets(session: Session) -> str:
    design, count_ = session.design, len(session.built.program.live)
    whose = "A program of your own" if design.text is not None else f"The model {design.model}"
    if count_ == 1:
        return f"{whose} has no presets: it is one statement. Choose its order, or search."
    return f"{whose} has no presets: cut it in Fusion, or search."


def _preset(session: Session, name: str) -> dict[str, Any]:
    problem = session.built.problem
    run = next(
        (r for r in session.records.values() if r.problem == problem and r.name == name), None
    )
    steps, _ = session.trail
    guess = next(
        (s.cycles for s in reversed(steps) if s.name == name and s.problem == problem), None
    )
    cycles: float | None = run.run.cycles if run is not None else guess
    shown = "—" if cycles is None else f"{round(cycles):,}"
    source = "simulated" if run is not None else "estimated" if cycles else "not looked at yet"
    return {
        "name": name,
        "chosen": session.built.preset_name == name,
        "cycles": shown if run is not None or cycles is None else f"est. {shown}",
        "number": cycles,
        "estimated": run is None,
        "hint": f"{session.presets[name] or 'every statement alone'}\n{source}",
    }


def _run(session: Session, number: int, kept: KeptRun) -> dict[str, Any]:
    here = kept.problem == session.built.problem
    elsewhere = f" · {kept.design.model}, {kept.design.data}"
    if kept.design.subject == session.design.subject:
        elsewhere = f" · {kept.machine}"
    where = "" if here else elsewhere
    return {
        "number": number,
        "name": f"{kept.name}{where}",
        "cycles": f"{kept.run.cycles:,}",
        "ok": kept.run.ok if kept.run.check is not None else None,
        "pinned": kept.configuration == session.pinned,
        "shown": kept.configuration == session.configuration,
        "hint": f"{count(kept.run.cycles, 'cycles')} on {kept.machine}; {kept.verdict}. "
        "Click loads it, P pins it, Delete forgets it.",
    }


@page_part("status")
def status(session: Session) -> dict[str, Any]:
    """Return the result of the last request: its success, topic and messages."""
    return {
        "ok": session.ok,
        "topic": session.topic,
        "message": session.message,
        "summary": session.summary,
        "place": list(session.place),
        "ways": [way.text for way in session.ways],
        "answers": session.answers,
    }


@page_part("selection")
def selection(session: Session) -> dict[str, Any]:
    """The region shown, what is selected in it, and the statements that this belongs to."""
    return {
        "region": session.region,
        "cell": list(session.cell),
        "node": session.node,
        "statements": list(session.statements),
    }
