"""The published packages: the source distribution is whole, the wheel works alone."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import fuseloom

ROOT = Path(__file__).parent.parent
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
    tops = {name.partition("/")[0] for name in names if ".dist-info" not in name}
    assert tops == {"engine", "workbench", "fuseloom.py"}
    program = (
        "import fuseloom as fl; print(fl.__file__)\n"
        "from fuseloom_workbench.explorer import explorer; explorer()\n"
        "model, data = fl.load('gcn', 'karate')\n"
        "compiled = fl.compile(model.program, model.presets['full'])\n"
        "run = fl.simulate(compiled, data, engine='interpreter')\n"
        "print(run.cycles, run.check().ok)\n"
        "from fuseloom.results.document import DocumentKind, schema; schema(DocumentKind.RUN)\n"
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


def test_versions_agree():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    meta = json.loads((ROOT / "codemeta.json").read_text(encoding="utf-8"))
    told = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert {
        project["version"], fuseloom.__version__, meta["version"],
        re.search(r"^version: (.+)$", cited, re.MULTILINE)[1],
        re.search(r"^## (\S+)", told, re.MULTILINE)[1],
    } == {fuseloom.__version__}  # fmt: skip
    assert meta["description"] == project["description"]
    assert f"license: {project['license']}" in cited
    assert meta["license"].endswith(project["license"])
