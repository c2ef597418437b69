#!/usr/bin/env -S python3
# /// script
# dependencies = ["nox>=2025.2"]
# ///
"""The repeated tasks: ``nox -l`` lists them, ``nox`` runs the checks and the tests."""

from __future__ import annotations

import nox

nox.needs_version = ">=2025.2"
nox.options.default_venv_backend = "uv|virtualenv"


@nox.session
def lint(session: nox.Session) -> None:
    """Style, types and layers."""
    session.install("-e", ".[test]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")
    session.run("lint-imports")


@nox.session(python=["3.11", "3.12", "3.13"])
def tests(session: nox.Session) -> None:
    """The first tier of the tests, in parallel; further arguments go to pytest."""
    session.install("--no-compile", "-e", ".[test]")
    session.run("pytest", "-n", "auto", "--dist", "loadfile", *session.posargs)


@nox.session(python=["3.11", "3.12", "3.13"], default=False)
def deep(session: nox.Session) -> None:
    """The deep tier: all other tests but ``fuzz``; further arguments go to pytest."""
    session.install("--no-compile", "-e", ".[deep]")
    expression = "(deep or browser) and not fuzz"
    session.run("pytest", "-n", "auto", "--dist", "loadfile", "-m", expression, *session.posargs)


@nox.session(default=False)
def fuzz(session: nox.Session) -> None:
    """Random search for hours; further arguments go to pytest."""
    session.install("--no-compile", "-e", ".[deep]")
    session.run("pytest", "-n", "auto", "--dist", "loadfile", "-m", "fuzz", *session.posargs)


@nox.session(default=False)
def review(session: nox.Session) -> None:
    """Check the repository itself, as a reviewer does."""
    session.install("sp-repo-review[cli]", "pyroma>=5", "cffconvert>=2")
    session.run("repo-review", ".")
    session.run("pyroma", "--min", "10", ".")
    session.run("cffconvert", "--validate")


@nox.session(default=False)
def build(session: nox.Session) -> None:
    """Source distribution and wheel, in ``dist``."""
    session.install("build>=1.2")
    session.run("python", "-m", "build")


@nox.session(default=False)
def tag(session: nox.Session) -> None:
    """Tag the version of the newest section of the changelog, which is the tag's message."""
    session.run("python", "docs/release.py", "tag")


if __name__ == "__main__":
    nox.main()
