"""The published packages: the source distribution is whole, the wheel works alone."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import urllib.error
import urllib.request
import venv
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

import fuseloom
from tests.waiting import until

ROOT = Path(__file__).parent.parent
LIBRARIES = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
HOSTILE = ("engine.py", "fuseloom.py", "fuseloom_workbench.py", "numpy.py", "workbench/__init__.py")
"""Files of a current folder that nothing must import."""
MADE = shutil.ignore_patterns(
    ".*_cache", ".git", ".venv", ".hypothesis", "__pycache__", "*.egg-info", "build", "dist",
    "_site", ".ipynb_checkpoints", ".nox", "*.nbi", "*.nbc",
)  # fmt: skip
BUILD = """
from setuptools import build_meta
print(build_meta.build_sdist("dist"))
print(build_meta.build_wheel("dist"))
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> tuple[Path, Path, Path]:
    """A copy of the sources, and what was built from it: source distribution and wheel."""
    sources = tmp_path_factory.mktemp("published") / "fuseloom"
    shutil.copytree(ROOT, sources, ignore=MADE)
    done = subprocess.run(
        [sys.executable, "-c", BUILD], cwd=sources, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (archive,), (wheel,) = ((sources / "dist").glob(f"*{end}") for end in (".tar.gz", ".whl"))
    return sources, archive, wheel


def test_the_source_distribution_has_every_file(built):
    sources, archive, _ = built
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    own = {
        path.relative_to(sources).as_posix()
        for path in sources.rglob("*")
        if path.is_file() and not {"dist", "build"} & set(path.relative_to(sources).parts)
    }
    own = {name for name in own if ".egg-info/" not in name and name != ".gitignore"}
    assert sorted(own - names) == []


def test_the_wheel_works_without_the_sources(built, tmp_path):
    with zipfile.ZipFile(built[2]) as opened:
        names = opened.namelist()
        opened.extractall(tmp_path / "there")
    (metadata,) = (tmp_path / "there").glob("*.dist-info/METADATA")
    shown = metadata.read_text(encoding="utf-8").partition("\n\n")[2]
    assert shown.startswith("# Fuseloom")
    assert [t for t in re.findall(r"\]\(([^)\s]+)\)", shown) if not t.startswith("http")] == []
    tops = {name.partition("/")[0] for name in names if ".dist-info" not in name}
    assert tops == {"fuseloom", "fuseloom_workbench"}
    course = {name for name in names if name.startswith("fuseloom/course/")}
    assert course == {
        f"fuseloom/course/{path.relative_to(ROOT).as_posix()}"
        for path in (*ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("docs/examples/*"))
    }
    program = (
        "import fuseloom as fl; print(fl.__file__)\n"
        "from fuseloom_workbench.explorer import explorer; explorer()\n"
        "model, data = fl.load('gcn', 'karate')\n"
        "compiled = fl.compile(model.program, model.presets['full'])\n"
        "run = fl.simulate(compiled, data, engine='interpreter')\n"
        "print(run.cycles, run.check().ok)\n"
        "from fuseloom.results import DocumentKind, schema; schema(DocumentKind.RUN)\n"
    )
    there = {**os.environ, "PYTHONPATH": str(tmp_path / "there")}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=there, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    where, answer = done.stdout.splitlines()
    assert Path(where).is_relative_to(tmp_path)
    assert answer == "49474 True"


class Installation(NamedTuple):
    """The wheel in an environment of its own, and a folder in which it is used."""

    scripts: Path
    folder: Path

    def run(self, *command, check=True, **more):
        """Run a program of the environment in the hostile folder."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        return subprocess.run(
            [self.scripts / command[0], *command[1:]], cwd=self.folder, capture_output=True,
            text=True, check=check, env={**environment, **more},
        )  # fmt: skip

    def unharmed(self):
        """Return whether none of the hostile files was run."""
        return not (self.folder / "harmed").exists()


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """The libraries are those of this environment, without its own Fuseloom."""
    place = tmp_path_factory.mktemp("installed")
    venv.create(place / "venv", with_pip=False)
    python = place / "venv" / "bin" / "python"
    (site,) = place.glob("venv/lib/python*/site-packages")
    # a path in such a file is added as it is: files *.pth that lie there are not read
    (site / "libraries.pth").write_text("\n".join(dict.fromkeys(map(str, map(Path, LIBRARIES)))))
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps"]
    done = subprocess.run(
        [*pip, "--no-index", "--ignore-installed", str(built[2])],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    folder = place / "hostile"
    for name in HOSTILE:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(
            f"open({str(folder / 'harmed')!r}, 'w').close()\nraise SystemExit('hostile')\n"
        )
    return Installation(python.parent, folder)


def test_commands_of_the_wheel_work_in_a_hostile_folder(installed):
    assert installed.run("fuseloom", "--version").stdout == f"fuseloom {fuseloom.__version__}\n"
    where = installed.run("python", "-P", "-c", "import fuseloom; print(fuseloom.__file__)").stdout
    assert Path(where.strip()).is_relative_to(installed.scripts.parent)
    simulate = ("simulate", "--model", "spmv", "--engine", "interpreter")
    assert "matches the dense reference" in installed.run("fuseloom", *simulate).stdout
    compiled = installed.run("fuseloom", "compile", "--model", "gcn", "--show", "dot").stdout
    assert compiled.startswith("digraph")
    assert installed.unharmed()


def test_the_wheel_writes_its_notebooks_and_examples(installed):
    installed.run("fuseloom", "notebooks", "course")
    sources = [*ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("docs/examples/*")]
    course = installed.folder / "course"
    written = {path.name: path.read_bytes() for path in course.rglob("*") if path.is_file()}
    assert written == {path.name: path.read_bytes() for path in sources}
    assert installed.unharmed()


def test_kernels_are_compiled_by_processes_of_the_wheel(installed, tmp_path):
    """By two processes: the smallest kernels, in a cache of their own."""
    program = (
        "from fuseloom.dataflow.sim.compiled import warmup as w\n"
        "names = sorted(w.KERNELS, key=w._work_in)[:2]\n"
        "w.warmup(workers=2, names=names)\n"
        "print(w.ready(names))"
    )
    done = installed.run("python", "-P", "-c", program, FUSELOOM_CACHE_DIR=str(tmp_path))
    assert done.stdout == "True\n", done.stderr
    assert any(tmp_path.rglob("*.*"))
    assert installed.unharmed()


def test_the_wheel_serves_every_page_in_a_hostile_folder(installed):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    log = installed.folder.parent / "serve.log"
    with log.open("w") as file:
        process = subprocess.Popen(
            [installed.scripts / "fuseloom", "serve", "--no-browser", "--port", str(port)],
            cwd=installed.folder, env=environment, stdout=file, stderr=file,
        )  # fmt: skip
    try:
        url = f"http://127.0.0.1:{port}"
        assert "Fuseloom" in fetched(f"{url}/", process, log)
        until(
            lambda: '"status": "ready"' in fetched(f"{url}/health", process, log),
            "the server is ready",
            120,
        )
        for name in ("explorer", "figures", "networks"):
            assert "Fuseloom" in fetched(f"{url}/{name}", process, log), name
    finally:
        process.terminate()
        assert process.wait(30) == 0
    assert installed.unharmed()


def fetched(url, process, log, patience=120):
    """Return the text at an address, as soon as the server answers."""
    answers = []

    def answered():
        try:
            with urllib.request.urlopen(url, timeout=60) as answer:
                answers.append(answer.read().decode())
        except urllib.error.HTTPError as refused:  # it is loading
            if refused.code != 503:
                raise
            answers.append(refused.read().decode())
        except OSError:
            assert process.poll() is None, log.read_text()
        return answers

    until(answered, f"{url} answers", patience)
    return answers[0]


EXTRAS = (
    "data",
    "torch",
    "parquet",
    "networks",
    "access",
    "calls",
    "stitch",
    "cuda",
    "triton",
    "rtl",
    "zstd",
    "optuna",
    "energy",
    "dask",
    "figures",
    "notebooks",
)


def test_what_an_extra_has_is_named_where_it_is_missing():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["optional-dependencies"].keys() == {*EXTRAS, "test", "deep", "docs", "oracle"}
    text = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("engine/**/*.py"))
    for extra in EXTRAS:
        assert f"pip install 'fuseloom[{extra}]'" in text, extra


def test_descriptions_and_licences_agree():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    meta = json.loads((ROOT / "codemeta.json").read_text(encoding="utf-8"))
    assert meta["description"] == project["description"]
    assert f"license: {project['license']}" in cited
    assert meta["license"].endswith(project["license"])
