"""A release: its notes, its tag, and the README that a package index shows."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

import fuseloom
from tests.script_modules import module_of

ROOT = Path(__file__).parent.parent


release = module_of(ROOT / "docs/release.py")
setup = module_of(ROOT / "setup.py")

CHANGELOG = """# Changelog

Changes.

## 1.2.0 (2026-12-01)

**Added**

* A thing.

## 1.1.0 (2026-11-01)

* Another.
"""


def git(folder: Path, *words: str) -> str:
    known = ("-c", "user.name=A", "-c", "user.email=a@b.example", "-c", "tag.gpgSign=false")
    done = subprocess.run(
        ["git", *known, *words], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A committed project of version 1.2.0."""
    for name in "AUTHOR", "COMMITTER":
        monkeypatch.setenv(f"GIT_{name}_NAME", "A")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@b.example")
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.2.0"\n')
    (tmp_path / "CITATION.cff").write_text("title: A\nversion: 1.2.0\n")
    (tmp_path / "codemeta.json").write_text(json.dumps({"version": "1.2.0"}))
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    package = tmp_path / "engine/fuseloom"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('"""A."""\n__version__ = "1.2.0"\n')
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "First")
    return tmp_path


def commit_text(project: Path, name: str, text: str) -> None:
    (project / name).write_text(text)
    git(project, "commit", "-q", "-a", "-m", "Change")


def test_the_notes_are_the_newest_section(project, capsys):
    assert release.main(["notes"], project) == 0
    assert capsys.readouterr().out == "**Added**\n\n* A thing.\n"


def test_a_tag_has_the_notes_as_its_message(project, capsys):
    assert release.main(["tag"], project) == 0
    assert capsys.readouterr().out.startswith("tagged v1.2.0; ")
    assert git(project, "cat-file", "-t", "v1.2.0") == "tag\n"
    message = git(project, "for-each-ref", "--format=%(contents)", "refs/tags/v1.2.0")
    assert message.strip() == "Fuseloom 1.2.0\n\n**Added**\n\n* A thing."


def test_a_tag_that_is_there_is_kept(project, capsys):
    assert release.main(["tag"], project) == 0
    assert release.main(["tag"], project) == 1
    assert "the tag v1.2.0 is there" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("CITATION.cff", "version: 1.1.9\n", "CITATION.cff: 1.1.9"),
        ("CITATION.cff", "title: A\n", "CITATION.cff states no version"),
        ("codemeta.json", '{"version": "2"}', "codemeta.json: 2"),
        ("pyproject.toml", '[project]\nversion = "1.3.0"\n', "pyproject.toml: 1.3.0"),
        ("engine/fuseloom/__init__.py", '__version__ = "0"\n', "__init__.py: 0"),
        ("CHANGELOG.md", CHANGELOG.replace("2026-12-01", "unreleased"), "give it its date"),
        ("CHANGELOG.md", CHANGELOG.replace("2026-12-01", "2026-13-01"), "give it its date"),
        ("CHANGELOG.md", "# Changelog\n", "no section"),
        ("CHANGELOG.md", "# Changelog\n\n## 1.2.0 (2026-12-01)\n\n", "no section"),
    ],
)
def test_what_is_not_ready_is_not_tagged(project, capsys, name, text, told):
    commit_text(project, name, text)
    assert release.main(["tag"], project) == 1
    assert told in capsys.readouterr().err
    assert git(project, "tag") == ""


def test_changed_files_are_not_tagged(project, capsys):
    (project / "new.txt").write_text("a")
    assert release.main(["tag"], project) == 1
    assert "new.txt" in capsys.readouterr().err
    assert git(project, "tag") == ""


def test_every_file_states_this_version():
    assert set(release.versions(ROOT).values()) == {fuseloom.__version__}


def test_the_readme_of_an_index_links_into_the_repository():
    text = "![a](docs/a.png) [b](docs/b.md) [c](https://c.example) [d](#d)"
    shown = setup.readme_for_index(text, "https://e.example/f/", "1.2.0")
    assert shown == (
        "![a](https://e.example/f/raw/v1.2.0/docs/a.png) "
        "[b](https://e.example/f/blob/v1.2.0/docs/b.md) [c](https://c.example) [d](#d)"
    )
    assert setup.readme_for_index(text, None, "1.2.0") == " b [c](https://c.example) [d](#d)"


def test_no_link_of_our_readme_leads_nowhere_on_an_index():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for source in None, "https://e.example/f":
        shown = setup.readme_for_index(text, source, fuseloom.__version__)
        targets = re.findall(r"\]\(([^)\s]+)\)", shown)
        assert targets
        assert [t for t in targets if not re.match(r"https://|#", t)] == []
