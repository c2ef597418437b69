"""The work of the page's process: modules read, fused, planned, written as code, and timed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fuseloom.errors import FuseloomError, LimitError, ParseError, ProgramError
from fuseloom.exploration.limiting import limit_memory
from fuseloom.stitch.examples.models import example_text
from fuseloom.stitch.frames import FusedFrame, FusedModule, frames_of, fuse_module
from fuseloom.stitch.fusion import FusionSettings
from fuseloom.stitch.graph import DenseModule
from fuseloom.stitch.hlo import read_hlo
from fuseloom.stitch.inlining import inline_calls
from fuseloom.stitch.kernel_memory import memory_of
from fuseloom.stitch.kernel_schedules import with_schedule
from fuseloom.stitch.opcodes import ProductFusion
from fuseloom.stitch.performance_library import PerformanceLibrary
from fuseloom.stitch.shared_memory import SpaceSharing
from fuseloom.stitch.stitched import StitchedKernel
from fuseloom.stitch.tuning import KernelTuner
from fuseloom_workbench.base.child import Send
from fuseloom_workbench.kernels import kernel_view, view
from fuseloom_workbench.kernels.asked import KernelsQuestion, read_schedule

MOST_MEMORY = 3 * 2**30
"""Bytes that the process may take besides what it has loaded."""
MOST_OPERATIONS = 8_000
"""Operations of all frames of a module that is shown."""
FINALISTS = 4
"""Schedules that are timed as whole kernels, of those with the best predictions."""
TOGETHER = 32
"""Operations that are timed between two messages."""


@dataclass
class _PlannedModule:
    """The module that is shown, fused as was asked."""

    asked: KernelsQuestion
    made: FusedModule

    @property
    def sharing(self) -> SpaceSharing:
        return SpaceSharing(self.asked.sharing)

    def frame(self, name: str) -> FusedFrame:
        """The frame of a name, or the first."""
        found = (one for one in self.made.frames if one.computation.name == name)
        return next(found, self.made.frames[0])

    def kernel(self, frame: FusedFrame, name: str) -> StitchedKernel | None:
        """The kernel that was grown from an operation, or the largest."""
        kernels = frame.fusion.kernels
        return next((one for one in kernels if one.name == name), view.default_kernel(kernels))


_planned: list[_PlannedModule] = []
_library: list[PerformanceLibrary] = []


def prepare() -> None:
    """Limit what answers may take."""
    limit_memory(MOST_MEMORY)


def answer(request: tuple[Any, ...], send: Send) -> None:
    """Carry out a request; runs inside the process.

    Sends ``("part", name, data)`` as something is found, ``("progress", share, text)``, and at the
    end ``("done", text)`` or ``("refused", text, hint)``.
    """
    try:
        match request:
            case ("show", KernelsQuestion() as asked):
                told = _show(asked, send)
            case ("inspect", str(frame), str(kernel)):
                told = _inspect(frame, kernel, send)
            case ("time", str(frame), str(kernel)):
                told = _time(frame, kernel, send)
            case ("measure",):
                told = _measure(send)
            case ("read", int(number), str(text)):
                told = _read(number, text, send)
            case _:
                told = ""
    except FuseloomError as reason:
        place = f"line {reason.line}, column {reason.column}: " if reason.line else ""
        send(("refused", f"{place}{reason.message}", reason.hint or ""))
    except MemoryError:
        send(("refused", "this takes more memory than a page may", "take a smaller module"))
    except RecursionError:
        send(("refused", "too many operations of a kernel lie behind one another without a buffer",
              "take a smaller module"))  # fmt: skip
    else:
        send(("done", told))


# Modules ------------------------------------------------------------------------------------------


def _show(asked: KernelsQuestion, send: Send) -> str:
    _planned.clear()
    text = asked.text or example_text(asked.example)
    send(("part", "text", {"text": text}))
    try:
        module = read_hlo(text)
    except ParseError as reason:
        send(("part", "fault", _fault(reason)))
        raise
    _verify_size(module)
    send(("progress", 0.2, "fusing"))
    made = fuse_module(
        module, ProductFusion(asked.products), shared_memory=asked.shared_memory,
        sharing=SpaceSharing(asked.sharing), settings=FusionSettings(call_layers=asked.call_layers),
    )  # fmt: skip
    made, left_out = _with_chosen(made, asked)
    now = _PlannedModule(asked, made)
    _planned.append(now)
    chosen = {(frame, kernel) for frame, kernel, _ in asked.schedules}
    frames = []
    for frame in made.frames:
        name = frame.computation.name
        own = frozenset(kernel for of, kernel in chosen if of == name)
        frames.append(view.frame_view(frame, asked.shared_memory, now.sharing, own))
    send(("part", "plan", {"name": made.module.name, "frames": frames}))
    send(("part", "counts", view.counts_view(made)))
    return "; ".join(left_out)


def _verify_size(module: DenseModule) -> None:
    inlined = inline_calls(module)
    count = sum(len(frame.operations) for frame in frames_of(inlined))
    if count > MOST_OPERATIONS:
        raise LimitError(
            f"the module has {count:,} operations, and a page shows at most {MOST_OPERATIONS:,}",
            hint="fuseloom stitch FILE takes more",
        )


def _with_chosen(made: FusedModule, asked: KernelsQuestion) -> tuple[FusedModule, list[str]]:
    """The module with schedules that were chosen by hand, and what of them does not fit."""
    left_out: list[str] = []
    frames = []
    for frame in made.frames:
        name, computation = frame.computation.name, frame.fusion.computation
        chosen = {kernel: text for of, kernel, text in asked.schedules if of == name}
        kernels = []
        for kernel in frame.fusion.kernels:
            text = chosen.pop(kernel.name, None)
            if text is not None:
                try:
                    other = with_schedule(computation, kernel, read_schedule(text))
                    memory_of(computation, other, asked.shared_memory, SpaceSharing(asked.sharing))
                    kernel = other
                except FuseloomError as reason:
                    left_out.append(f"{text} of {kernel.name} is left out: {reason.message}")
            kernels.append(kernel)
        for one, text in chosen.items():
            left_out.append(f"{text} is left out: no kernel grows from {one}")
        frames.append(replace(frame, fusion=replace(frame.fusion, kernels=tuple(kernels))))
    return replace(made, frames=tuple(frames)), left_out


def _read(number: int, text: str, send: Send) -> str:
    """Read a text that is being written, without fusing it."""
    error = None
    try:
        _verify_size(read_hlo(text))
    except FuseloomError as reason:
        error = _fault(reason)
    send(("part", "written", {"number": number, "error": error}))
    return ""


def _fault(reason: FuseloomError) -> dict[str, Any]:
    return {
        "message": reason.message, "hint": reason.hint or "", "line": reason.line or 0,
        "column": reason.column or 0,
    }  # fmt: skip


# Kernels ------------------------------------------------------------------------------------------


def _inspect(frame_name: str, kernel_name: str, send: Send) -> str:
    if not _planned:
        return ""  # the module was refused, and that was told
    now = _planned[0]
    frame = now.frame(frame_name)
    kernel = now.kernel(frame, kernel_name)
    if kernel is None:
        send(("part", "kernel", {"frame": frame.computation.name, "name": ""}))
        return ""
    common = (frame, kernel, now.asked.shared_memory, now.sharing)
    send(("part", "kernel", {
        "frame": frame.computation.name,
        "name": kernel.name,
        "schedules": kernel_view.schedules_view(*common),
        "memory": kernel_view.memory_view(*common),
        "codes": kernel_view.codes_view(now.made.module, *common),
    }))  # fmt: skip
    if _is_known(now, frame, kernel):
        _send_times(now, frame, kernel, 0, send)
    return ""


def _tuner(now: _PlannedModule, frame: FusedFrame, finalists: int) -> KernelTuner:
    if not _library:
        _library.append(PerformanceLibrary())
    return KernelTuner(
        now.made.module, frame.fusion, _library[0], limit=now.asked.shared_memory,
        sharing=now.sharing, finalists=finalists,
    )  # fmt: skip


def _is_known(now: _PlannedModule, frame: FusedFrame, kernel: StitchedKernel) -> bool:
    """Tell if the time of every operation of a kernel is known, under every schedule."""
    if kernel.schedule is None or kernel.is_call:
        return False
    lookups = _tuner(now, frame, 0).lookups(kernel)
    return bool(lookups) and all(one.key in _library[0] for one in lookups)


def _send_times(
    now: _PlannedModule, frame: FusedFrame, kernel: StitchedKernel, finalists: int, send: Send
) -> str:
    tuned = _tuner(now, frame, finalists).tune(kernel)[0]
    send(("part", "times", {
        "frame": frame.computation.name, "name": kernel.name, **kernel_view.times_view(tuned)
    }))  # fmt: skip
    return str(tuned.schedule)


def _time(frame_name: str, kernel_name: str, send: Send) -> str:
    """Time the operations of a kernel under all its schedules, and the best schedules whole."""
    if not _planned:
        raise ProgramError("there is no kernel yet", hint="mend what is refused")
    now = _planned[0]
    frame = now.frame(frame_name)
    kernel = now.kernel(frame, kernel_name)
    if kernel is None or kernel.schedule is None:
        raise ProgramError(
            "this kernel has no schedules to choose from", hint="choose one that is no call"
        )
    tuner = _tuner(now, frame, FINALISTS)
    library = _library[0]
    missing = {one.key: one for one in tuner.lookups(kernel) if one.key not in library}
    done = 0
    for some in _together(list(missing.values())):
        send(("progress", done / len(missing), f"timing {len(missing):,} operations"))
        library.times(some)
        done += len(some)
    send(("progress", 1.0, "timing whole kernels"))
    best = _send_times(now, frame, kernel, FINALISTS, send)
    said = "; ".join(library.said)
    return f"{best} takes the least time of {kernel.name}" + (f"; {said}" if said else "")


def _together(lookups: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(lookups), TOGETHER):
        yield lookups[start : start + TOGETHER]


# The whole ----------------------------------------------------------------------------------------


def _measure(send: Send) -> str:
    """Time the module with its kernels and with those of the baseline, in turns."""
    from fuseloom.stitch.end_to_end import ROUNDS, time_module

    if not _planned:
        raise ProgramError("there is no module yet", hint="mend what is refused")
    now = _planned[0]
    send(("progress", 0.0, "compiling the kernels of both"))
    found = time_module(
        now.made, shared_memory=now.asked.shared_memory, sharing=now.sharing,
        progress=lambda number: send(("progress", number / ROUNDS, "running in turns")),
    )  # fmt: skip
    if not found.ok:
        raise ProgramError("a kernel that was timed is wrong", hint="please report it")
    send(("part", "measured", view.measured_view(found)))
    return f"{found.measured:.2f} × as fast as with the kernels of XLA's rules"
