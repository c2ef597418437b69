"""The backend of the page of deep fusion: answers, selection, refusals that lose nothing, times."""

from __future__ import annotations

import pytest

from fuseloom.stitch.kernel_code import KernelLanguage
from fuseloom_workbench.kernels.asked import LONGEST, KernelsQuestion
from fuseloom_workbench.kernels.backend import KernelsBackend

SOFTMAX = """HloModule softmax
largest { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT m = f32[] maximum(a, b) }
ENTRY main {
  x = f32[8,4] parameter(0)
  low = f32[] constant(-inf)
  m = f32[8] reduce(x, low), dimensions={1}, to_apply=largest
  w = f32[8,4] broadcast(m), dimensions={0}
  d = f32[8,4] subtract(x, w)
  ROOT y = f32[8,4] exponential(d)
}
"""


@pytest.fixture(scope="module")
def backend(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FUSELOOM_TIMES", str(tmp_path_factory.mktemp("times") / "times.sqlite"))
        made = KernelsBackend(KernelsQuestion())
        made.wait()
        yield made
        made.close()


@pytest.fixture(autouse=True)
def _as_it_was(request):
    yield
    if "backend" in request.fixturenames:
        backend = request.getfixturevalue("backend")
        while backend.part("fusing")["undo"]:
            backend.ask("undo")
        backend.wait()


def asked(backend, name, *arguments):
    backend.ask(name, *arguments)
    backend.wait()
    return backend.part("status")


def test_a_module_is_fused_and_its_largest_kernel_shown(backend):
    assert [one["schedule"] for one in backend.part("layers")["kernels"]] == ["row 1/64"]
    assert backend.part("selected")["kernel"] == backend.part("schedules")["kernel"]
    assert backend.part("shared_memory")["size"] == 16_640
    codes = backend.part("codes")["codes"]
    assert [one["language"] for one in codes] == [one.value for one in KernelLanguage]
    assert backend.part("kernel_counts")["whole"]["baseline"]["kernels"] == 4


def test_a_limit_and_sharing_change_the_plan(backend):
    asked(backend, "change", {"shared_memory": 1_024})
    memory = backend.part("shared_memory")
    assert memory["limit"] == 1_024
    assert [one["name"] for one in memory["given_up"]] == ["exp.1", "div.7"]
    asked(backend, "change", {"shared_memory": 65_536, "sharing": "none"})
    assert not any(one["shares"] for one in backend.part("shared_memory")["buffers"])
    told = asked(backend, "change", {"shared_memory": 0})
    assert not told["ok"]
    assert backend.part("shared_memory")["limit"] == 65_536
    asked(backend, "undo")
    asked(backend, "undo")
    assert backend.part("shared_memory")["limit"] == 20_480


def test_products_make_other_kernels_and_a_selection_that_is_gone_ends(backend):
    backend.ask("operation", "div.7")
    asked(backend, "change", {"products": "never"})
    names = {one["name"]: one for one in backend.part("layers")["kernels"]}
    assert names["dot_general.1"]["call"]
    asked(backend, "kernel", "dot_general.1")
    assert backend.part("schedules")["reason"] == "a call of a library: dot"
    assert not asked(backend, "time")["ok"]
    asked(backend, "operation", "sub.7")
    assert backend.part("selected")["operation"] == "sub.7"
    assert backend.part("schedules")["kernel"] == "div.7"
    asked(backend, "change", {"example": "logistic_regression"})
    assert backend.part("selected")["operation"] == ""
    shown = backend.part("selected")["kernel"]
    assert shown in {one["name"] for one in backend.part("layers")["kernels"]}


def test_a_schedule_is_picked_and_left_out_where_it_does_not_fit(backend):
    asked(backend, "pick", "dot_general.1", "row 1/32")
    (kernel,) = backend.part("layers")["kernels"]
    assert (kernel["schedule"], kernel["blocks"], kernel["chosen"]) == ("row 1/32", 256, True)
    assert backend.part("schedules")["chosen"]
    assert "b0 = block" in "".join(backend.part("codes")["codes"][0]["lines"])
    asked(backend, "pick", "dot_general.1", None)
    assert backend.part("layers")["kernels"][0]["schedule"] == "row 1/64"
    told = asked(backend, "pick", "dot_general.1", "column 1/2")
    assert told["ok"]
    assert "column 1/2 of dot_general.1 is left out" in told["message"]
    told = asked(backend, "pick", "nothing", "row 0/1")
    assert "no kernel grows from nothing" in told["message"]
    told = asked(backend, "pick", "dot_general.1", "rows")
    assert not told["ok"]


def test_operations_are_timed_and_then_known(backend):
    asked(backend, "change", {"text": SOFTMAX})
    assert backend.part("schedules")["times"] is None
    told = asked(backend, "time")
    assert "takes the least time of y" in told["message"]
    times = backend.part("schedules")["times"]
    assert times["best"] in times["rows"]
    fitting = {row["schedule"] for row in backend.part("schedules")["rows"] if row["fits"]}
    assert set(times["rows"]) == fitting
    assert all(row["predicted"] >= 0 for row in times["rows"].values())
    assert times["rows"][times["best"]]["measured"] > 0
    asked(backend, "change", {"shared_memory": 4_096})
    again = backend.part("schedules")["times"]
    assert set(again["rows"]) == fitting  # without the button, since all is known


def test_the_whole_is_measured(backend):
    asked(backend, "change", {"text": SOFTMAX})
    told = asked(backend, "measure")
    assert "as fast as with the kernels of XLA's rules" in told["message"]
    measured = backend.part("end_to_end")["measured"]
    assert measured["fusable_ratio"] == 1.0
    assert min(measured["fused"], measured["baseline"], measured["fusion_speedup"]) > 0
    asked(backend, "change", {"sharing": "none"})
    assert backend.part("end_to_end")["measured"] is None


def test_text_of_ones_own_is_read_fused_and_refused_with_its_place(backend):
    wrong = SOFTMAX.replace("subtract(x, w)", "subtract(x, q)")
    asked(backend, "write", 3, wrong)
    written = backend.part("module_text")["written"]
    assert (written["number"], written["error"]["line"]) == (3, 10)
    asked(backend, "write", 4, SOFTMAX)
    assert backend.part("module_text")["written"] == {"number": 4, "error": None}
    asked(backend, "change", {"text": SOFTMAX})
    assert [one["name"] for one in backend.part("layers")["kernels"]] == ["y"]
    assert backend.part("fusing")["module"] == "softmax"
    assert backend.part("module_text")["own"]
    told = asked(backend, "change", {"text": wrong})
    assert not told["ok"]
    assert told["message"].startswith("line 10, column ")
    assert backend.part("module_text")["fault"]["line"] == 10
    assert [one["name"] for one in backend.part("layers")["kernels"]] == ["y"]  # as it was
    told = asked(backend, "measure")
    assert "there is no module yet" in told["message"]
    told = asked(backend, "change", {"text": "x" * (LONGEST + 1)})
    assert "a page takes 1,000,000" in told["message"]
    told = asked(backend, "write", 5, "x" * (LONGEST + 1))
    assert "a page takes 1,000,000" in told["message"]
    asked(backend, "undo")
    assert backend.part("module_text")["fault"] is None


def test_frames_and_refusals_are_looked_at(backend):
    asked(backend, "change", {"example": "speech"})
    names = [one["name"] for one in backend.part("fusing")["frames"]]
    assert names[:2] == ["main.17", "region_1.7"]
    asked(backend, "refusal", 1)
    assert backend.part("selected")["refusal"] == 1
    asked(backend, "refusal", 99)
    assert backend.part("selected")["refusal"] == -1
    asked(backend, "frame", "region_1.7")
    assert backend.part("layers")["name"] == "region_1.7"
    kernel = backend.part("schedules")["kernel"]
    assert kernel in {one["name"] for one in backend.part("layers")["kernels"]}
    asked(backend, "frame", "region_2.8")
    assert backend.part("schedules")["kernel"] != kernel


def test_a_module_without_kernels_is_shown(backend):
    asked(backend, "change", {"text": "HloModule m\nENTRY e { ROOT x = f32[2] parameter(0) }"})
    assert backend.part("layers")["kernels"] == []
    assert backend.part("schedules")["kernel"] == ""
    assert not asked(backend, "time")["ok"]


def test_a_module_that_is_too_large_is_refused(backend):
    lines = [f"  y{n} = f32[2] negate(y{n - 1})" for n in range(1, 8_001)]
    text = "HloModule m\nENTRY e {\n  y0 = f32[2] parameter(0)\n" + "\n".join(lines)
    told = asked(backend, "change", {"text": f"{text}\n  ROOT z = f32[2] abs(y8000)\n}}"})
    assert not told["ok"]
    assert "8,002 operations, and a page shows at most 8,000" in told["message"]
