"""The examples of the documentation really work."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse

import fuseloom as fl
from fuseloom.cli import main
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.samml.passes.buffers import size_buffers
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.experiments.hardware_runs import kept
from fuseloom.experiments.recipes.hardware import ComparedKernels
from fuseloom.models import Model, gcn, karate, random_data, spmm
from fuseloom.models.datasets import GRAPHS, Facts
from fuseloom.results.document import VERSIONS, DocumentKind
from fuseloom.results.schemas import schema
from tests.dataflow.samml.passes import in_lanes
from tests.frontends.files import REAL

ROOT = Path(__file__).parent.parent
KARATE = Facts("Karate club", 34, 156, 1_212, 34, 4, None)


def blocks(name: str, language: str = "") -> list[str]:
    text = (ROOT / name).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.+?)^```$", text, re.DOTALL | re.MULTILINE)


def test_the_language_reference() -> None:
    texts = blocks("docs/language.md")
    program_text, _, _, _, blocked_text, dense_text, schedule_text, directives = texts
    program = fl.parse(program_text)
    assert program.name == "gcn_layer"
    schedule = fl.Schedule.parse(schedule_text)
    (region,) = fl.compile(program, schedule).regions
    assert region.order == ("i", "k", "p")
    for line in directives.strip().splitlines():
        (read,) = fl.Schedule.parse(line).settings
        assert str(read) == line.partition("#")[0].strip()
    assert fl.parse(blocked_text).tensor("T").format.tile == (16, 16)
    assert [x.value for x in fl.parse(dense_text).tensor("T").format.levels][1] == "dense"
    with pytest.raises(fl.FuseloomError, match="A is stored sparse"):
        fl.parse(dense_text.replace("[compressed, dense]", "dense"))


def test_computed_places_of_the_language_reference() -> None:
    """The two texts mean the same convolution, and the others what their comments say."""
    short, written_out = map(fl.parse, blocks("docs/language.md")[2:4])
    rng = np.random.default_rng(3)
    data = {name: rng.normal(size=short.tensor(name).shape) for name in short.given}
    run = fl.simulate(fl.compile(short), data)
    assert run.check().ok
    x, w, s = (data[name].astype(np.float32) for name in "xwS")
    wanted = {
        "c": np.convolve(x, w[::-1], "valid"),
        "m": x.reshape(5, 2).max(1) if short.tensor("m").shape == (5,) else None,
        "d": np.diag(s),
        "r": s[0],
        "g": s[[4, 0, 4]],
    }
    for name, array in wanted.items():
        np.testing.assert_allclose(run.results[name].to_dense(), array, rtol=1e-5, atol=1e-6)
    same = fl.simulate(fl.compile(written_out), {"x": x, "w": w})
    np.testing.assert_array_equal(same.results["c"].to_dense(), run.results["c"].to_dense())


def test_the_sparse_broadcast_of_the_language_reference() -> None:
    """The elements that it tells are those that there are, in the meaning and in a run."""
    program = fl.parse(blocks("docs/language.md")[1])
    text = (ROOT / "docs/language.md").read_text(encoding="utf-8")
    told = {"Z": {}, "M": {}, "Y": {}, "W": {}}
    for name, at, value in re.findall(r"([ZMYW])\[(\d(?:,\d)*)\] = (\d)", text):
        told[name][tuple(map(int, at.split(",")))] = float(value)
    assert [len(told[name]) for name in "ZMYW"] == [1, 2, 2, 1]
    data = {name: np.zeros(program.tensor(name).shape) for name in "ZM"}
    for name, array in data.items():
        for at, value in told[name].items():
            array[at] = value
    run = fl.simulate(fl.compile(program), data, engine="interpreter")
    assert run.check().ok
    for name in "YW":
        for made in (run.reference[name].present, run.outputs[name].pattern()):
            assert set(map(tuple, np.argwhere(made).tolist())) == set(told[name])
        values = run.outputs[name].to_dense()
        assert {at: float(values[at]) for at in told[name]} == told[name]


def test_zeros_as_the_language_reference_has_them() -> None:
    program = fl.parse("A: 2x2 csr\nD: 2x2 dense\nY[i,j] = exp(A[i,j])\nX[i,j] = exp(D[i,j])")
    zeros = np.array([[-0.0, 0.0], [0.0, 2.0]])
    named = scipy.sparse.coo_array(([-0.0, 0.0], ([0, 1], [0, 0])), shape=(2, 2))
    for given, there in ((zeros, [[0, 0], [0, 1]]), (named, [[1, 0], [1, 0]])):
        run = fl.simulate(fl.compile(program), {"A": given, "D": zeros}, engine="interpreter")
        assert run.check().ok
        assert run.outputs["Y"].pattern().tolist() == there
        assert run.outputs["X"].pattern().all()


def test_a_figure_from_python(tmp_path, capsys) -> None:
    (code,) = blocks("docs/figures.md", "python figures")
    exec(code, {"store": tmp_path / "runs.sqlite"})
    assert "cycles of the worst order by those of the best 29.1" in capsys.readouterr().out


def shown(language: str, *pages: str) -> list[tuple[str, str]]:
    """Return the commands in blocks of a kind, and the output that the pages show."""
    text = "\n".join(block for page in pages for block in blocks(page, language))
    commands = re.split(r"^\$ fuseloom ", text, flags=re.MULTILINE)[1:]
    return [(command, out.strip()) for command, _, out in (t.partition("\n") for t in commands)]


def without_times(text: str) -> str:
    return re.sub(r"\d\.\de-\d\d|\d+\.\d\d s", "#", text.strip())


def test_the_pages_print_what_the_commands_print(capsys, monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    commands = shown("console", "README.md", "docs/cli.md")
    assert len(commands) == 11
    for command, expected in commands:
        assert main(command.split()) == 0
        assert without_times(capsys.readouterr().out) == without_times(expected)


def test_a_command_on_real_data(capsys, monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    ((command, expected),) = shown("console real data", "docs/cli.md")
    if REAL is None or not (REAL / "planetoid").is_dir():
        pytest.skip(f"the real Cora is not in {REAL}")
    words = command.replace("--data-dir data ", f"--data-dir {REAL} ").split()
    assert main([*words, "--engine", "compiled"]) == 0
    assert without_times(capsys.readouterr().out) == without_times(expected)


def test_the_example_of_pytorch(capsys) -> None:
    page = "docs/pytorch.md"
    (code,), (printed,) = blocks(page, "python torch"), blocks(page, "text torch")
    exec(compile(code, page, "exec"), {"__name__": "page"})
    assert without_times(capsys.readouterr().out) == without_times(printed)


def test_the_readme_in_python() -> None:
    (code,) = blocks("README.md", "python")
    program = fl.parse(re.search(r'"""\n(.+?)"""', code, re.DOTALL)[1])
    compiled = fl.compile(program, re.search(r'program, "([^"]+)"', code)[1])
    adjacency = nx.to_scipy_sparse_array(nx.karate_club_graph(), weight=None)
    data = {"A": adjacency, "X": np.random.default_rng(0).normal(size=(34, 16))}
    run = fl.simulate(compiled, data)
    assert run.check().ok
    assert fl.estimate(compiled, data).cycles > 0
    assert fl.to_dot(compiled.regions[0].graph).source
    assert str(run.trace[0])


def test_the_simulators_page() -> None:
    stepping, code = blocks("docs/simulator.md", "python")
    model = spmm()
    names = {
        "fl": fl,
        "compiled": fl.compile(model.program),
        "data": random_data(model),
        "print": lambda text: told.append(text),
    }
    told: list[str] = []
    exec(compile(code, "docs/simulator.md", "exec"), names)
    assert names["run"].check().ok
    assert names["run"].regions[0].result.observed is not None
    assert told[-1] == "100% done"
    told.clear()
    exec(compile(stepping, "docs/simulator.md", "exec"), names)
    assert names["recording"].cycles == fl.simulate(names["compiled"], names["data"]).cycles
    assert told[0] == "cycle 0: waits: no token on its input, from copy root"
    assert any("put i = 0 and reference 0" in line for line in told)


def test_the_page_about_json(capsys) -> None:
    text = (ROOT / "docs/json.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| [^|]+ \| `([\w-]+)` \| (\d+) \|", text, re.MULTILINE)
    assert {kind: int(version) for kind, version in rows} == {
        kind.value: version for kind, version in VERSIONS.items()
    }
    told = text.partition("## The record of a run")[2].partition("```")[0]
    cells = re.findall(r"^\| (`.+?) \|", told, re.MULTILINE)
    keys = {key for cell in cells for key in re.findall(r"`(.+?)`", cell)}
    run = schema(DocumentKind.RUN)
    region = run["$defs"]["RegionRecord"]["properties"]
    assert {key for key in keys if "[" not in key} == run["properties"].keys() - {
        "fuseloom", "version", "regions"
    }  # fmt: skip
    assert {key.partition(".")[2] for key in keys if "[" in key} <= region.keys()
    (code,) = blocks("docs/json.md", "python")
    assert main(["simulate", "--model", "spmm", "--json"]) == 0
    printed = capsys.readouterr().out.rstrip("\n")
    exec(compile(code, "docs/json.md", "exec"), {"text": printed})
    assert "matches the dense reference" in capsys.readouterr().out


def test_the_page_about_models() -> None:
    text = (ROOT / "docs/models.md").read_text(encoding="utf-8")
    rows = [[c.strip() for c in line.split("|")[1:-1]] for line in text.splitlines()
            if line.startswith("| `") and "," not in line.split("|")[1]]  # fmt: skip
    for name, *figures in rows:
        graph = GRAPHS.get(name.strip("`"), KARATE)
        made = (graph.nodes, graph.edges, graph.features, graph.classes)
        assert [f"{figure:,}" for figure in made] == figures
    assert len(rows) == 1 + len(GRAPHS)
    assert f"{GRAPHS['mag_all'].others:,} authors" in text


def test_the_cycles_in_lanes() -> None:
    """The table of docs/passes.md, up to two lanes."""
    text = (ROOT / "docs/passes.md").read_text(encoding="utf-8")
    rows = [
        line.strip("| ").split(" | ") for line in text.splitlines() if line[:3] in ("| 1", "| 2")
    ]
    assert len(rows) == 2
    model, network = spmm(64, 64, 16), gcn()
    data, club = random_data(model, 3), karate()
    for lanes, *shown in rows:
        made = [
            cycles(model, None, data, "i", int(lanes)),
            cycles(model, None, data, "k", int(lanes)),
            cycles(network, "partial", club, "i", int(lanes)),
            cycles(network, "full", club, "i", int(lanes)),
            cycles(network, "full", club, "k", int(lanes)),
        ]
        assert made == shown


def cycles(model: Model, preset: str | None, data: Any, index: str, lanes: int) -> str:
    compiled = compile_program(model.program, model.presets[preset] if preset else None)
    free = in_lanes(compiled, index, lanes)
    regions = (replace(r, graph=size_buffers(r.graph, r.region.extents)) for r in free.regions)
    sized = replace(free, regions=tuple(regions))
    runs = [simulate(c, data, engine="compiled").cycles for c in (free, sized)]
    return f"{runs[0]:,} ({runs[1]:,})"


def test_the_picture_of_the_architecture_is_that_of_the_code() -> None:
    """If this fails, run ``python docs/build.py``."""
    spec = importlib.util.spec_from_file_location("build", ROOT / "docs" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    arrows = build.imports()
    assert build.drawing(arrows) == (ROOT / "docs" / "architecture.gv").read_text(encoding="utf-8")
    picture = (ROOT / "docs" / "architecture.svg").read_text(encoding="utf-8")
    assert all(f"<title>{room}</title>" in picture for room in arrows)


def test_the_paper_says_what_the_pages_say() -> None:
    docs = ROOT / "docs"
    paper, bib = ((docs / name).read_text(encoding="utf-8") for name in ("paper.md", "paper.bib"))
    cited = set(re.findall(r"@(\w+)\]", paper))
    assert cited == set(re.findall(r"^@\w+\{(\w+),", bib, re.MULTILINE))
    flat = " ".join(paper.split())
    said = re.search(r"Of (\d+) numbers .*?, (\d+) hold .*? of (\d+) to which .*?, (\d+) do;", flat)
    reproduction = (docs / "reproduction.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?:Predicted|Calibrated): [^|]*\| (\d+) \| (\d+) ", reproduction, re.M)
    assert said is not None
    assert said.groups() == tuple(number for row in rows for number in row)
    hardware = (docs / "rtl.md").read_text(encoding="utf-8")
    kernels = tuple(("", one) for one in kept().values())
    later = [one.cycles - one.simulated for _, one in kernels]
    equal, few = later.count(0), later.count(1) + later.count(2)
    rest = f"{1.0 - ComparedKernels(kernels, ()).determination:.1e}".replace("e-07", "·10⁻⁷")
    assert f"Of {len(later)} kernels emitted as Verilog, {equal} take" in flat
    assert f"| kernels | {len(later)}: " in hardware
    assert f"| with the simulator's cycles | {equal} |" in hardware
    assert f"| one or two cycles later | {few} |" in hardware
    assert rest in flat
    assert f"of the simulator's cycles as they are | {rest} |" in hardware
    for page in re.findall(r"\]\((\w[\w-]*\.md)\)", paper):
        assert (docs / page).is_file(), page
