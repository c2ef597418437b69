"""Times that jobs measured: read with care, kept, and used."""

from __future__ import annotations

import json
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fuseloom.errors import DataError, StoreError
from fuseloom.stitch.gpu.job import pack_job
from fuseloom.stitch.gpu.times import (
    card_fingerprint,
    fastest_on_card,
    import_times,
    read_times,
)
from fuseloom.stitch.performance_library import PerformanceLibrary

from .test_job import content, softmax

CARD = "A card of 2026"


def result_of(times: dict[str, float] | None = None, **changed: Any) -> dict[str, Any]:
    """A result as a job writes it, with a time for each schedule, shorter ones later."""
    kernels = deepcopy(_described())
    rows = []
    for number, one in enumerate(kernels):
        time = (times or {}).get(one["schedule"], 1000.0 * (len(kernels) - number))
        rows.append({
            "function": one["function"], "ok": True, "error": 1e-7, "nanoseconds": time,
            "runs": 7, "key": one["key"],
        })  # fmt: skip
    model = {"eager": {"error": 0.0, "launches": 6, "nanoseconds": 9e3}}
    return {
        "kind": "fuseloom gpu times", "version": 1, "job": "made", "card": CARD,
        "capability": 90, "compiler": "nvcc", "on_cpu": False, "kernels": rows, "model": model,
    } | changed  # fmt: skip


@cache
def _described() -> list[dict[str, Any]]:
    """The kernels of a job of the softmax."""
    kernels: list[dict[str, Any]] = content(pack_job(softmax()))["kernels"]
    return kernels


def written(folder: Path, found: Any) -> Path:
    """A file of a result."""
    path = folder / "result.json"
    path.write_text(found if isinstance(found, str) else json.dumps(found), encoding="utf-8")
    return path


def test_the_fastest_schedule_of_a_card_is_chosen(tmp_path: Path) -> None:
    made = softmax()
    (kernel,) = made.frames[0].fusion.kernels
    described = content(pack_job(made))["kernels"]
    fast = next(one["schedule"] for one in described if not one["chosen"])
    result = read_times(written(tmp_path, result_of({fast: 10.0})))
    (run,) = result.models
    assert (run.way, run.launches, run.nanoseconds) == ("eager", 6, 9e3)
    assert result.machine == card_fingerprint(CARD)
    path = tmp_path / "times.sqlite"
    assert import_times(result, PerformanceLibrary(path)) == len(described)
    library = PerformanceLibrary(path, machine=result.machine)
    assert len(library) == len(described)
    chosen = fastest_on_card(made, library)
    (best,) = chosen.made.frames[0].fusion.kernels
    assert str(best.schedule) == fast != str(kernel.schedule)
    assert chosen.nanoseconds == {kernel.name: 10.0}
    elsewhere = PerformanceLibrary(path, machine=card_fingerprint("another"))
    assert not len(elsewhere)
    same = fastest_on_card(made, elsewhere)
    assert same.made.frames[0].fusion.kernels == (kernel,)
    assert not same.nanoseconds


def test_times_of_the_processor_are_not_kept(tmp_path: Path) -> None:
    result = read_times(written(tmp_path, result_of(on_cpu=True)))
    with pytest.raises(StoreError, match="ran on the processor"):
        import_times(result, PerformanceLibrary(tmp_path / "times.sqlite"))


def test_a_library_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    result = read_times(written(tmp_path, result_of()))
    with pytest.raises(StoreError, match="not kept"):
        import_times(result, PerformanceLibrary(tmp_path))


def _of_kernel(name: str, value: Any) -> dict[str, Any]:
    made = result_of()
    made["kernels"][0][name] = value
    return made


def _of_key(name: str, value: Any) -> dict[str, Any]:
    made = result_of()
    made["kernels"][0]["key"][name] = value
    return made


def _without(name: str) -> dict[str, Any]:
    made = result_of()
    del made[name]
    return made


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ("{", "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        ("[]", "is no result of a job"),
        ({"kind": "else"}, "is no result of a job"),
        (result_of(version=2), "is of version 2"),
        (_without("card"), "card is missing"),
        (_without("kernels"), "kernels is missing"),
        (result_of(kernels={}), "kernels are no list"),
        (result_of(kernels=[3]), "not as a job writes it"),
        (result_of(model=[]), "model is no object"),
        (result_of(card=3), "card is no text"),
        (result_of(card="x" * 1000), "card is no text"),
        (result_of(capability=-1), "capability is no number"),
        (_of_kernel("nanoseconds", -1), "nanoseconds is no amount"),
        (_of_kernel("nanoseconds", 0), "nanoseconds are no time"),
        (_of_kernel("nanoseconds", "1"), "nanoseconds is no amount"),
        (_of_kernel("nanoseconds", True), "nanoseconds is no amount"),
        (json.dumps(_of_kernel("nanoseconds", float("nan"))), "nanoseconds is no amount"),
        (json.dumps(_of_kernel("nanoseconds", float("inf"))), "nanoseconds are no time"),
        (_of_kernel("runs", 0), "runs is no number"),
        (_of_kernel("key", None), "not as a job writes it"),
        (_of_key("backend", "c"), "a key is of c"),
        (_of_key("machine", "mine"), "a key is of cuda and mine"),
        (_of_key("threads", 33), "33 threads"),
        (_of_key("sword", 2**40), "sword is no number"),
        (_of_key("opcode", ["x"]), "opcode is no text"),
    ],
)  # fmt: skip
def test_what_no_job_writes_is_refused(found: Any, told: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=told) as refused:
        read_times(written(tmp_path, found))
    assert refused.value.hint


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        read_times(tmp_path / "missing.json")
    with pytest.raises(DataError):
        read_times(tmp_path)
    path = tmp_path / "binary"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match="not UTF-8"):
        read_times(path)


def test_a_model_that_did_not_run_is_left_out(tmp_path: Path) -> None:
    result = read_times(written(tmp_path, result_of(model={"reason": "PyTorch finds no GPU"})))
    assert result.models == ()
    wrong = read_times(written(tmp_path, _of_kernel("ok", False)))
    assert len(wrong.wrong) == 1
